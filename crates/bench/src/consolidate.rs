//! What consolidation costs without the model: building the prompt and applying the answer. And the cleanup of expired
//! episodes, beside a writer that must not be delayed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use butler_domain::event::Origin;
use butler_domain::{Butler, SystemClock, TenantId};
use butler_embed::Embedder;
use butler_memory::consolidate::ConsolidationRequest;
use butler_memory::runtime::{Completion, Runtime, RuntimeError, Session};
use butler_memory::{Call, EpisodeInput, Memory, MemoryConfig, MemoryParts};
use butler_store::{Database, DatabaseOptions};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, json};
use sqlx::{Connection, Executor, PgConnection};

use crate::facts::{Dice, Vectors, Words, load, sentence};
use crate::figures::{Report, Samples};
use crate::world::World;

#[derive(clap::Args)]
pub struct Args {
    /// Facts in the tenant whose episodes are consolidated.
    #[arg(long, default_value_t = 100_000)]
    rows: usize,
    /// Expired episodes to clean up.
    #[arg(long, default_value_t = 100_000)]
    expired: i32,
    /// Batches to consolidate.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

const TENANT: &str = "bench-0";
const BUTLER: &str = "bench";
const EPISODES: usize = 50;
const ACTIONS: usize = 50;

/// A model that answers at once and records when it was called.
#[derive(Default)]
struct InstantModel {
    answer: Mutex<String>,
    called_at: Mutex<Option<Instant>>,
}

impl Runtime for InstantModel {
    fn describe(&self) -> String {
        "a ready answer".to_owned()
    }

    fn complete(&self, _: Session) -> BoxFuture<'_, Result<Completion, RuntimeError>> {
        *self.called_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let text = self.answer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        async move { Ok(Completion { text, tokens_in: None, tokens_out: None }) }.boxed()
    }
}

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let mut report = Report::new("consolidate");
    let world = World::start(None).await?;
    let mut pg = PgConnection::connect(&world.url).await?;
    let vectors = Vectors::new(&world.engine).await?;
    load(&mut pg, &vectors, "bench", 1, args.rows, Words::Ordinary).await?;
    world.memory.retrain_indexes().await?;
    batches(&mut report, &world, args.rounds).await?;
    cleanup(&mut report, &world, &mut pg, args.expired).await?;
    world.stop()?;
    Ok(report)
}

async fn batches(report: &mut Report, world: &World, rounds: usize) -> anyhow::Result<()> {
    let runtime = Arc::new(InstantModel::default());
    let memory = Memory::new(MemoryParts {
        butler: Butler::new(BUTLER)?,
        db: Database::connect(DatabaseOptions::new(world.url.clone())).await?,
        embedder: world.engine.clone(),
        clock: Arc::new(SystemClock),
        config: MemoryConfig::default(),
    })
    .with_runtime(runtime.clone());
    let (mut prompts, mut executions, mut embeddings) = (Samples::default(), Samples::default(), Samples::default());
    let mut dice = Dice::new(21);
    for round in 0..=rounds {
        episodes(&memory, &mut dice, round).await?;
        let facts: Vec<(String, String)> = (0..ACTIONS)
            .map(|n| (format!("consolidated {round} {n}"), sentence(&mut dice, 7_000_000 + round * ACTIONS + n)))
            .collect();
        let actions: Vec<_> = facts
            .iter()
            .map(|(subject, content)| json!({"subject": subject, "predicate": "note", "content": content}))
            .collect();
        *runtime.answer.lock().unwrap_or_else(PoisonError::into_inner) = json!({ "new_facts": actions }).to_string();
        let began = Instant::now();
        let outcome = memory.run_consolidation(&ConsolidationRequest::default()).await?;
        let ended = Instant::now();
        let called_at = runtime.called_at.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(began);
        anyhow::ensure!(outcome.errors.is_empty(), "consolidation failed: {:?}", outcome.errors);
        // other texts of the same length, because the engine caches embeddings
        let again = facts.iter().map(|(subject, content)| format!("{subject} note again {content}")).collect();
        let started = Instant::now();
        world.engine.embed_batch(again).await?;
        if round > 0 {
            prompts.add(called_at - began);
            executions.add(ended - called_at);
            embeddings.add(started.elapsed());
        }
    }
    report.at_most(format!("lease and prompt for {EPISODES} episodes, p50"), prompts.p50(), "ms", 100.0);
    report.note(format!("embedding {ACTIONS} facts in one batch, p50"), embeddings.p50(), "ms");
    report.note(format!("executing {ACTIONS} actions, embedding included, p50"), executions.p50(), "ms");
    let beyond = executions.p50() - embeddings.p50();
    report.at_most(format!("executing {ACTIONS} actions beyond embedding, p50"), beyond, "ms", 300.0);
    Ok(())
}

async fn episodes(memory: &Memory, dice: &mut Dice, round: usize) -> anyhow::Result<()> {
    let call = Call::internal(memory, TenantId::new(TENANT)?, "bench");
    for n in 0..EPISODES {
        let input = EpisodeInput {
            butler: Butler::new(BUTLER)?,
            session_id: None,
            content: sentence(dice, 8_000_000 + round * EPISODES + n),
            importance: 5.0,
            metadata: Map::new(),
            occurred_at: None,
        };
        memory.store_episode(&call, input).await?;
    }
    Ok(())
}

/// Measures the cleanup, and the longest write of another connection during it.
async fn cleanup(report: &mut Report, world: &World, pg: &mut PgConnection, expired: i32) -> anyhow::Result<()> {
    sqlx::query(
        "INSERT INTO episodes (id, tenant_id, butler, content, embedding, search_vector, created_at, expires_at, consolidated, consolidation_status)
         SELECT gen_random_uuid(), $1, $2, 'expired episode ' || n, f.embedding, f.search_vector, now() - interval '9 days', now() - interval '1 day',
                true, 'consolidated'
         FROM generate_series(1, $3) n, LATERAL (SELECT embedding, search_vector FROM facts WHERE tenant_id = $1 LIMIT 1) f",
    )
    .bind(TENANT)
    .bind(BUTLER)
    .bind(expired)
    .execute(&mut *pg)
    .await?;
    pg.execute("VACUUM ANALYZE episodes").await?;
    pg.execute("CHECKPOINT").await?;
    let mut writer = PgConnection::connect(&world.url).await?;
    let done = tokio_util::sync::CancellationToken::new();
    let stop = done.clone();
    let writing = tokio::spawn(async move {
        let mut longest = Duration::ZERO;
        while !stop.is_cancelled() {
            let began = Instant::now();
            sqlx::query("INSERT INTO episodes (id, tenant_id, butler, content, expires_at) VALUES (gen_random_uuid(), $1, $2, 'beside', now() + interval '7 days')")
                .bind(TENANT)
                .bind(BUTLER)
                .execute(&mut writer)
                .await?;
            longest = longest.max(began.elapsed());
        }
        anyhow::Ok(longest)
    });
    let began = Instant::now();
    let cleaned = world.memory.run_episode_cleanup(None, u64::MAX, &Origin::default()).await?;
    let took = began.elapsed();
    done.cancel();
    let longest = writing.await??;
    anyhow::ensure!(cleaned.expired_deleted == u64::from(expired.unsigned_abs()), "{cleaned:?}");
    report.at_most(format!("cleanup of {expired} expired episodes"), took.as_secs_f64(), "s", 5.0);
    report.at_most("longest write beside it", longest.as_secs_f64() * 1000.0, "ms", 100.0);
    Ok(())
}
