//! Kills a worker with SIGKILL in every phase. The worker is a separate process of this test binary. It is held
//! in a phase by database locks, not by hooks in the program.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use butler_domain::{Butler, MockClock};
use butler_memory::consolidate::ConsolidationRequest;
use butler_memory::{Memory, MemoryConfig, MemoryParts};
use butler_store::{Database, DatabaseOptions};
use butler_testkit::FakeEmbedder;
use sqlx::PgConnection;

use crate::world::{Model, World, one_fact_each};

const URL: &str = "BUTLER_TEST_WORKER_URL";
const NOW: &str = "BUTLER_TEST_WORKER_NOW";
const HANGS: &str = "BUTLER_TEST_WORKER_HANGS";
/// Sets the number of kills; 50 is a thorough run.
const ROUNDS: &str = "BUTLER_TEST_KILLS";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    AfterLease,
    AfterAnswer,
    BetweenActions,
    BeforeMarking,
    DuringCommit,
}

const PHASES: [Phase; 5] =
    [Phase::AfterLease, Phase::AfterAnswer, Phase::BetweenActions, Phase::BeforeMarking, Phase::DuringCommit];

/// A trigger that blocks statements while the test holds the advisory lock with this number.
const GATES: &str = "
    CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock_shared(TG_ARGV[0]::bigint); RETURN NEW; END $$;
    CREATE TRIGGER gate AFTER INSERT ON facts FOR EACH ROW WHEN (NEW.subject LIKE '%second%') EXECUTE FUNCTION gate(1);
    CREATE TRIGGER gate BEFORE UPDATE ON episodes FOR EACH ROW WHEN (NEW.consolidated) EXECUTE FUNCTION gate(2);
    CREATE CONSTRAINT TRIGGER gate_of_commit AFTER UPDATE ON episodes DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.consolidated) EXECUTE FUNCTION gate(3);
    GRANT EXECUTE ON FUNCTION gate() TO PUBLIC;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigkill_in_every_phase_loses_no_episode_and_applies_no_action_twice() {
    let rounds: usize = std::env::var(ROUNDS).ok().and_then(|n| n.parse().ok()).unwrap_or(PHASES.len() * 2);
    let world = World::new(Model::of_facts()).await;
    world.fixture.db.execute(GATES).await;
    for round in 0..rounds {
        let phase = PHASES[round % PHASES.len()];
        for part in ["first", "second"] {
            world.episode(&format!("{part} of round {round}")).await;
        }
        kill_at(&world, phase).await;
        world.fixture.clock.advance(Duration::from_secs(121));
        let report = world.run().await;
        assert_eq!(report.errors, Vec::<String>::new(), "{phase:?}");
        // The server completes a commit that it has begun, even if the client is dead.
        let expected = if phase == Phase::DuringCommit { 0 } else { 2 };
        assert_eq!(report.totals.consolidated, expected, "{phase:?}: {report:?}");
        let state = "SELECT concat_ws('|', count(*), count(*) FILTER (WHERE consolidated AND lease_token IS NULL)) FROM episodes";
        let all = 2 * (round + 1);
        assert_eq!(world.one(state).await, format!("{all}|{all}"), "{phase:?}");
        let facts = "SELECT concat_ws('|', count(*), count(DISTINCT subject), count(*) FILTER (WHERE validity = 'active')) FROM facts";
        assert_eq!(world.one(facts).await, format!("{all}|{all}|{all}"), "{phase:?}");
        let events = "SELECT count(*) FROM memory_events WHERE event_type = 'episode_consolidated'";
        assert_eq!(world.one(events).await, all.to_string(), "{phase:?}");
    }
}

async fn kill_at(world: &World, phase: Phase) {
    let mut gate = world.fixture.db.connect().await;
    let hold = match phase {
        Phase::AfterLease => "SELECT 1",
        // The worker's first statement after the answer waits for these row locks.
        Phase::AfterAnswer => "SELECT 1",
        Phase::BetweenActions => "SELECT pg_advisory_lock(1)",
        Phase::BeforeMarking => "SELECT pg_advisory_lock(2)",
        Phase::DuringCommit => "SELECT pg_advisory_lock(3)",
    };
    sqlx::raw_sql(hold).execute(&mut gate).await.unwrap();
    let mut child = worker(world, phase);
    match phase {
        Phase::AfterLease => until(world, "SELECT count(*) FROM episodes WHERE lease_token IS NOT NULL", "2").await,
        Phase::AfterAnswer => {
            until(world, "SELECT count(*) FROM episodes WHERE lease_token IS NOT NULL", "2").await;
            hold_rows(&mut gate).await;
            child.answer();
            until(world, WAITING_FOR_ROWS, "1").await;
        }
        _ => until(world, WAITING_AT_GATE, "1").await,
    }
    child.kill();
    drop(gate);
    // The server ends the dead worker's statements by itself.
    until(world, OTHERS_AT_WORK, "0").await;
}

const WAITING_AT_GATE: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";
const WAITING_FOR_ROWS: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event IN ('transactionid', 'tuple')";
const OTHERS_AT_WORK: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL";

async fn hold_rows(gate: &mut PgConnection) {
    sqlx::raw_sql("BEGIN; SELECT id FROM episodes WHERE NOT consolidated FOR UPDATE").execute(gate).await.unwrap();
}

async fn until(world: &World, question: &'static str, answer: &str) {
    for _ in 0..6000 {
        if world.one(question).await == answer {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{question} is not {answer} after 60 s");
}

struct Worker(Child);

impl Worker {
    /// The worker's model answers when standard input ends.
    fn answer(&mut self) {
        drop(self.0.stdin.take());
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn worker(world: &World, phase: Phase) -> Worker {
    let waits = matches!(phase, Phase::AfterLease | Phase::AfterAnswer);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "kill::worker_process", "--ignored", "--nocapture"])
        .env(URL, world.fixture.db.url())
        .env(NOW, world.memory.now().to_rfc3339())
        .env(HANGS, if waits { "yes" } else { "no" })
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    Worker(command.spawn().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the worker process of the test above"]
async fn worker_process() {
    let Ok(url) = std::env::var(URL) else { return };
    let now = std::env::var(NOW).unwrap().parse().unwrap();
    let hangs = std::env::var(HANGS).unwrap() == "yes";
    let model = Model::new(move |session| {
        if hangs {
            std::io::read_to_string(std::io::stdin()).unwrap();
        }
        Ok(one_fact_each(&session.prompt))
    });
    let memory = Memory::new(MemoryParts {
        butler: Butler::new("general").unwrap(),
        db: Database::connect(DatabaseOptions::new(url)).await.unwrap(),
        embedder: Arc::new(FakeEmbedder::default()),
        clock: Arc::new(MockClock::at(now)),
        config: MemoryConfig::default(),
    });
    let report = memory.with_runtime(model).run_consolidation(&ConsolidationRequest::default()).await.unwrap();
    panic!("nobody killed the worker: {report:?}");
}
