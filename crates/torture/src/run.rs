//! The driver. Each round: load, faults, recovery, checks.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context;
use butler_torture::disk::Disk;
use rustix::process::Signal;
use sqlx::Connection;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::check;
use crate::database::{self, retry};
use crate::dice::Dice;
use crate::plan::{self, Fault, Step};
use crate::proxy::{ClientProxy, ConnectionBreaker, DatabaseProxy};
use crate::report::Report;
use crate::server::{Server, Setup, command, ready_again, send};
use crate::work::{Worker, World};

/// Recovery time after a fault; taking longer is a violation. PostgreSQL recovers in seconds and the server waits five
/// seconds after a failed start; the rest is for busy machines.
const RECOVERY: Duration = Duration::from_secs(180);
/// Load without faults at the end of a round.
const CALM: Duration = Duration::from_secs(2);

pub struct Runner {
    setup: Setup,
    server: Server,
    address: watch::Sender<String>,
    proxy: ClientProxy,
    breaker: ConnectionBreaker,
    database_url: String,
    disk: Option<Disk>,
    world: Arc<World>,
    dice: Dice,
    pub report: Report,
}

impl Runner {
    pub async fn new(
        setup: Setup,
        server: Server,
        disk: Option<Disk>,
        world: World,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let address = watch::Sender::new(server.address.clone());
        let breaker = ConnectionBreaker::new(Dice::new(seed, 2_000_000));
        let proxy = ClientProxy::start(address.subscribe(), breaker.clone()).await?;
        let database_url = command(&setup, &["db", "url"]).await?;
        let (world, dice) = (Arc::new(world), Dice::new(seed, 3_000_000));
        let report = Report { seed, tenants: world.tenants.len(), ..Report::default() };
        Ok(Self { setup, server, address, proxy, breaker, database_url, disk, world, dice, report })
    }

    pub fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// Runs rounds until the time is over. An error ends the run early.
    pub async fn run(&mut self, clients: usize, time: Duration, rounds: Option<u64>) -> anyhow::Result<()> {
        let begun = Instant::now();
        let mut workers: Vec<Worker> =
            (0..clients).map(|index| Worker::new(&self.world, index, self.report.seed, &self.proxy.address)).collect();
        self.report.clients = clients;
        while begun.elapsed() < time && rounds.is_none_or(|rounds| self.report.rounds < rounds) {
            workers = self.round(workers).await?;
            self.report.took = begun.elapsed();
            self.report.disk_used = self.disk.as_ref().and_then(|disk| disk.used().ok()).unwrap_or(0);
        }
        Ok(())
    }

    async fn round(&mut self, workers: Vec<Worker>) -> anyhow::Result<Vec<Worker>> {
        let steps = plan::round(self.report.seed, self.report.rounds, self.disk.is_some());
        self.report.rounds += 1;
        self.world.stop.store(false, Ordering::Relaxed);
        let mut working: JoinSet<Worker> = workers.into_iter().map(Worker::run).collect();
        for step in &steps {
            tokio::time::sleep(step.after).await;
            self.inject(step).await.with_context(|| step.fault.name())?;
            self.recovered(step.fault).await?;
        }
        tokio::time::sleep(CALM).await;
        self.world.stop.store(true, Ordering::Relaxed);
        let mut workers = Vec::new();
        while let Some(worker) = working.join_next().await {
            workers.push(worker?);
        }
        let checked = Instant::now();
        check::all(&self.world, &self.database_url, &self.server.address).await?;
        self.say(&steps, checked.elapsed());
        Ok(workers)
    }

    fn say(&self, steps: &[Step], check: Duration) {
        let faults: Vec<&str> = steps.iter().map(|step| step.fault.name()).collect();
        let journal = self.world.journal();
        let ([done, refused, unknown], violations) = (journal.totals(), journal.violation_count());
        eprintln!(
            "round {}: {}\n    {done} acknowledged, {refused} refused, {unknown} unknown; {violations} violations; checked in {:.1} s",
            self.report.rounds,
            faults.join(", "),
            check.as_secs_f64()
        );
    }

    async fn inject(&mut self, step: &Step) -> anyhow::Result<()> {
        let postgres = self.server.postgres();
        match step.fault {
            Fault::KillServer => self.server.kill().await?,
            Fault::KillPostmaster => postgres.kill(),
            Fault::KillBackend => {
                if let Some(pid) = self.dice.of(&postgres.backends()) {
                    send(*pid, Signal::KILL);
                }
            }
            Fault::KillBoth => {
                postgres.kill();
                self.server.kill().await?;
            }
            Fault::PauseServer => {
                self.server.pause();
                tokio::time::sleep(step.lasts).await;
                self.server.resume();
            }
            Fault::PausePostgres => {
                postgres.pause();
                tokio::time::sleep(step.lasts).await;
                postgres.resume();
            }
            Fault::CutClients => self.breaker.break_for(step.lasts).await,
            Fault::CutDatabase => self.break_database_connections(step.lasts).await?,
            Fault::EndSessions => self.end_sessions().await?,
            Fault::FillDisk => self.fill(step.lasts, false).await?,
            Fault::FillDiskAndKillPostmaster => self.fill(step.lasts, true).await?,
            Fault::JumpClock => self.jump_clock(step.lasts).await?,
            Fault::ImportPoison => self.import_poison().await?,
        }
        Ok(())
    }

    /// Ends the server's sessions three times, because its pools open new ones at once.
    async fn end_sessions(&mut self) -> anyhow::Result<()> {
        for _ in 0..3 {
            retry(async || end_sessions(&self.database_url).await).await?;
            tokio::time::sleep(Duration::from_millis(self.dice.between(50, 400))).await;
        }
        Ok(())
    }

    async fn break_database_connections(&mut self, lasts: Duration) -> anyhow::Result<()> {
        let breaker = ConnectionBreaker::new(Dice::new(self.dice.next(), 0));
        let direct = self.database_url.clone();
        let mut db = retry(async || database::connect(&direct).await).await?;
        let proxy = DatabaseProxy::start(&self.server.postgres().socket(), breaker.clone())?;
        // the server opens new sessions, which go through the proxy
        sqlx::query(END_SESSIONS).execute(&mut db).await?;
        breaker.break_for(lasts).await;
        drop(proxy);
        Ok(())
    }

    async fn fill(&self, lasts: Duration, kill: bool) -> anyhow::Result<()> {
        let Some(disk) = &self.disk else { return Ok(()) };
        disk.fill()?;
        tokio::time::sleep(lasts / 2).await;
        if kill {
            self.server.postgres().kill();
        }
        tokio::time::sleep(lasts / 2).await;
        disk.free()
    }

    /// The jobs that delete run every minute. With the clock years ahead they would expire everything.
    async fn jump_clock(&mut self, lasts: Duration) -> anyhow::Result<()> {
        let days = *self.dice.of(&[400, 3_650, -400]).context("no days")?;
        self.setup.shift_clock(days * 86_400)?;
        tokio::time::sleep(CLOCK_WRONG_FOR + lasts).await;
        self.setup.shift_clock(0)?;
        let lost = retry(async || {
            let mut db = database::connect(&self.database_url).await?;
            Ok(sqlx::query_scalar::<_, i64>(LOST_BY_CLOCK).fetch_one(&mut db).await?)
        });
        let lost = lost.await?;
        if lost > 0 {
            let message = format!("{lost} memories expired because the clock was {days} days wrong");
            self.world.journal().violation(message);
        }
        Ok(())
    }

    async fn import_poison(&self) -> anyhow::Result<()> {
        let file = self.setup.config.with_file_name("poison.jsonl");
        std::fs::write(&file, POISON)?;
        let path = file.display().to_string();
        if command(&self.setup, &["import", "--partial", &path]).await.is_ok() {
            self.world.journal().violation("a file with unreadable times was imported".to_owned());
        }
        Ok(())
    }

    /// Waits until the server is ready after a fault, and starts it again if the fault killed it.
    async fn recovered(&mut self, fault: Fault) -> anyhow::Result<()> {
        let begun = Instant::now();
        if matches!(fault, Fault::KillServer | Fault::KillBoth) {
            tokio::time::sleep(Duration::from_millis(self.dice.between(0, 1_000))).await;
            self.restart().await?;
        }
        if let Some(status) = self.server.died() {
            self.world.journal().violation(format!("the server exited on its own ({status}) after: {fault}"));
            self.restart().await?;
        }
        if ready_again(&self.server.address, RECOVERY).await.is_none() {
            let within = RECOVERY.as_secs();
            self.world.journal().violation(format!("the server was not ready within {within} s after: {fault}"));
            self.server.kill().await?;
            self.restart().await?;
        }
        self.report.injected(fault, begun.elapsed());
        Ok(())
    }

    async fn restart(&mut self) -> anyhow::Result<()> {
        self.server = match Server::start(&self.setup).await {
            Ok(server) => server,
            // again, as a supervisor would: on a busy machine the first attempt may time out
            Err(error) => {
                eprintln!("a start failed, trying again: {error:#}");
                self.report.repeated_starts += 1;
                Server::start(&self.setup).await?
            }
        };
        self.address.send_replace(self.server.address.clone());
        Ok(())
    }

    /// Stops the server gracefully. Returns the disk, because the caller still needs what is on it.
    pub async fn stop(self) -> (Report, Option<Disk>) {
        if let Err(error) = self.server.stop().await {
            self.world.journal().violation(format!("the server did not stop cleanly: {error:#}"));
        }
        (self.report, self.disk)
    }
}

/// Longer than the server takes to look at its clock.
const CLOCK_WRONG_FOR: Duration = Duration::from_secs(20);

/// A run takes minutes, in which nothing expires.
const LOST_BY_CLOCK: &str = "SELECT (SELECT count(*) FROM facts WHERE validity = 'expired')
    + (SELECT count(*) FROM memory_events e
       WHERE e.event_type = 'episode_expired' AND e.payload ->> 'never_consolidated' = 'true'
         AND NOT EXISTS (SELECT FROM memory_events f WHERE f.memory_id = e.memory_id AND f.event_type = 'episode_forgotten'))";

const POISON: &str = r#"{"format":"butler-memory","version":1,"created_at":"2026-01-01T00:00:00Z","program":"torture","butler":"general","tenant":"default","embedding":{"model":"none","version":"0","dimensions":384},"counts":{}}
{"type":"fact","id":"00000000-0000-4000-8000-000000000001","subject":"a","predicate":"is","content":"poison","created_at":"infinity"}
{"type":"fact","id":"00000000-0000-4000-8000-000000000002","subject":"b","predicate":"is","content":"poison","created_at":"2026-01-01T00:00:00Z","last_confirmed_at":"-infinity"}
{"type":"episode","id":"00000000-0000-4000-8000-000000000003","butler":"general","content":"poison","created_at":"294276-12-31T00:00:00Z"}
{"type":"rule","id":"00000000-0000-4000-8000-000000000004","content":"poison","created_at":"2026-01-01T00:00:00Z","confidence":"NaN"}
"#;

const END_SESSIONS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'butler' AND pid <> pg_backend_pid()";

async fn end_sessions(database_url: &str) -> anyhow::Result<()> {
    let mut db = database::connect(database_url).await?;
    sqlx::query(END_SESSIONS).execute(&mut db).await?;
    Ok(db.close().await?)
}
