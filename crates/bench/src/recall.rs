//! The cost of a recall compared with its floor: embedding the query and one `SELECT 1` on the same pool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use butler_domain::{MemoryType, SystemClock, TenantId};
use butler_embed::Embedder;
use butler_memory::search::{Mode, SearchInput};
use butler_memory::{Call, Memory, MemoryConfig, MemoryParts, RecallInput};
use serde_json::json;
use sqlx::{Connection, Executor, PgConnection};

use crate::client::Client;
use crate::facts::{Dice, Vectors, Words, load, sentence};
use crate::figures::{Report, Samples};
use crate::world::World;

#[derive(clap::Args)]
pub struct Args {
    /// Facts in one tenant.
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 10_000, 100_000])]
    sizes: Vec<usize>,
    /// Recalls per size.
    #[arg(long, default_value_t = 200)]
    rounds: usize,
    /// Use this database instead of a new one, without HTTP.
    #[arg(long)]
    database_url: Option<String>,
}

/// Calls of one kind in a row.
const TURN: usize = 20;

/// The number of facts at which the cost of recording what was served is measured.
const RECORDED: usize = 10_000;

/// Concurrent clients for the p95 figure.
const CLIENTS: usize = 8;

/// Calls of each client before the measurement.
const WARM_UP: usize = 10;

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let mut report = Report::new("recall");
    let world = World::start(args.database_url.as_deref()).await?;
    let mut pg = PgConnection::connect(&world.url).await?;
    let vectors = Vectors::new(&world.engine).await?;
    for size in &args.sizes {
        let prefix = format!("recall{size}");
        prepare(&world, &mut pg, &vectors, &prefix, *size, Words::Ordinary).await?;
        let tenant = TenantId::new(format!("{prefix}-0"))?;
        one_size(&mut report, &world, &tenant, *size, args.rounds).await?;
        if *size == RECORDED {
            recording(&mut report, &world, &tenant, args.rounds).await?;
        }
    }
    if let Some(largest) = args.sizes.iter().max() {
        prepare(&world, &mut pg, &vectors, "few", *largest, Words::Few).await?;
        bounded(&mut report, &world, *largest, args.rounds).await?;
    }
    world.stop()?;
    Ok(report)
}

/// Loads `rows` facts into an empty table and trains its index. The tenant gets a new name, because the server caches
/// what it knows about a tenant.
pub async fn prepare(
    world: &World,
    pg: &mut PgConnection,
    vectors: &Vectors,
    prefix: &str,
    rows: usize,
    words: Words,
) -> anyhow::Result<()> {
    pg.execute("TRUNCATE facts CASCADE").await?;
    pg.execute("DELETE FROM vector_indexes WHERE relation = 'facts'").await?;
    load(pg, vectors, prefix, 1, rows, words).await?;
    world.memory.retrain_indexes().await?;
    world.memory.forget_pools();
    Ok(())
}

async fn one_size(
    report: &mut Report,
    world: &World,
    tenant: &TenantId,
    size: usize,
    rounds: usize,
) -> anyhow::Result<()> {
    let mut dice = Dice::new(99 + size as u64);
    let (mut floor, mut recall, mut cached) = (Samples::default(), Samples::default(), Samples::default());
    let (mut ping, mut http, mut embedding) = (Samples::default(), Samples::default(), Samples::default());
    let mut client = match &world.server {
        Some(server) => Some(Client::connect(&server.address).await?),
        None => None,
    };
    // In turns, so that noise affects all kinds alike; several calls of a kind per turn, so that each finds the caches as
    // its own kind leaves them. The first turn is a warm-up.
    for turn in 0..=rounds.div_ceil(TURN) {
        let keep = |samples: &mut Samples, took: Duration| {
            if turn > 0 {
                samples.add(took);
            }
        };
        let queries: Vec<String> = (0..TURN).map(|_| question(&mut dice)).collect();
        for query in &queries {
            let began = Instant::now();
            world.engine.embed(Some(query)).await?;
            let embedded = began.elapsed();
            world.ping(tenant).await?;
            keep(&mut floor, began.elapsed());
            keep(&mut ping, began.elapsed() - embedded);
        }
        for _ in 0..TURN {
            let topic = question(&mut dice);
            let began = Instant::now();
            recall_once(&world.memory, tenant, &topic).await?;
            keep(&mut recall, began.elapsed());
        }
        for query in &queries {
            let began = Instant::now();
            recall_once(&world.memory, tenant, query).await?;
            keep(&mut cached, began.elapsed());
        }
        if let Some(client) = &mut client {
            // Every other call asks how long its embedding took, which is the floor of the rest. Another process cannot
            // measure it, because it has its own model in the caches.
            for number in 0..2 * TURN {
                let (topic, tenant) = (question(&mut dice), json!({"tenant_id": tenant.as_str()}));
                let explain = number % 2 == 1;
                let arguments = json!({"topic": topic, "explain": explain, "request_context": tenant});
                let answer = client.call("memory_recall", arguments).await?;
                match answer["trace"]["embed_ms"].as_f64() {
                    Some(took) if explain => keep(&mut embedding, Duration::from_secs_f64(took / 1000.0)),
                    _ => keep(&mut http, client.took),
                }
            }
        }
    }
    let medians = Medians {
        floor: floor.p50(),
        recall: recall.p50(),
        cached: cached.p50(),
        server: world.server.is_some().then(|| (embedding.p50() + ping.p50(), http.p50())),
    };
    medians.report(report, size);
    concurrent(report, world, tenant, size, rounds).await
}

/// The medians of one size, in milliseconds.
struct Medians {
    floor: f64,
    recall: f64,
    cached: f64,
    /// Floor and recall over HTTP, if there is a server.
    server: Option<(f64, f64)>,
}

impl Medians {
    fn report(&self, report: &mut Report, size: usize) {
        let goal = match size {
            0..=1000 => 1.5,
            1001..=10_000 => 2.0,
            _ => 3.0,
        };
        report.note(format!("floor at {size} facts, p50"), self.floor, "ms");
        report.at_most(format!("memory_recall in process at {size}, p50"), self.recall / self.floor, "× floor", goal);
        if let Some((floor, http)) = self.server {
            report.note(format!("floor inside the server at {size} facts, p50"), floor, "ms");
            report.at_most(format!("memory_recall over HTTP at {size}, p50"), http / floor, "× floor", goal);
        }
        if size == 10_000 {
            report.at_most("memory_recall with the embedding cached at 10000, p50", self.cached, "ms", 3.0);
        } else {
            report.note(format!("memory_recall with the embedding cached at {size}, p50"), self.cached, "ms");
        }
    }
}

/// Eight concurrent clients: p95 compared with p50.
async fn concurrent(
    report: &mut Report,
    world: &World,
    tenant: &TenantId,
    size: usize,
    rounds: usize,
) -> anyhow::Result<()> {
    let Some(server) = &world.server else { return Ok(()) };
    let each = (rounds / 2).max(20);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let (address, tenant) = (server.address.clone(), tenant.clone());
            tokio::spawn(async move {
                // other queries than at the previous sizes, because the engine caches embeddings
                let mut dice = Dice::new((size * 100 + number) as u64);
                let mut client = Client::connect(&address).await?;
                let mut took = Vec::new();
                // the first calls open the server's connections, each of which plans its statements
                for call in 0..WARM_UP + each {
                    let arguments =
                        json!({"topic": question(&mut dice), "request_context": {"tenant_id": tenant.as_str()}});
                    let began = Instant::now();
                    client.call("memory_recall", arguments).await?;
                    if call >= WARM_UP {
                        took.push(began.elapsed());
                    }
                }
                anyhow::Ok(took)
            })
        })
        .collect();
    let mut samples = Samples::default();
    for client in clients {
        client.await??.into_iter().for_each(|took| samples.add(took));
    }
    report.note(format!("memory_recall, {CLIENTS} clients at {size}, p50"), samples.p50(), "ms");
    report.at_most(
        format!("memory_recall, {CLIENTS} clients at {size}, p95"),
        samples.ms(0.95) / samples.p50(),
        "× p50",
        2.0,
    );
    Ok(())
}

/// In process, in turns: the cost of a recall that records what was served, compared with one that does not.
async fn recording(report: &mut Report, world: &World, tenant: &TenantId, rounds: usize) -> anyhow::Result<()> {
    let unrecorded = Memory::new(MemoryParts {
        butler: world.memory.butler().clone(),
        db: world.memory.db().clone(),
        embedder: world.engine.clone(),
        clock: Arc::new(SystemClock),
        config: MemoryConfig { injections_retention_days: 0, ..MemoryConfig::default() },
    });
    // other questions than before, because the engine caches embeddings
    let mut dice = Dice::new(22);
    let (mut without, mut with) = (Samples::default(), Samples::default());
    // the first turn is a warm-up
    for turn in 0..=rounds.div_ceil(TURN) {
        for (memory, samples) in [(&unrecorded, &mut without), (&world.memory, &mut with)] {
            for _ in 0..TURN {
                let topic = question(&mut dice);
                let began = Instant::now();
                recall_once(memory, tenant, &topic).await?;
                if turn > 0 {
                    samples.add(began.elapsed());
                }
            }
            // Counts and records are written after the answer. Those of one kind must not slow down the other.
            memory.db().settled().await;
        }
    }
    let recall = format!("memory_recall at {RECORDED}");
    report.note(format!("{recall} without the record of what was served, p50"), without.p50(), "ms");
    let ratio = with.p50() / without.p50();
    report.at_most(format!("{recall} with the record of what was served, p50"), ratio, "× without", 1.05);
    Ok(())
}

/// With ten words, each in half of all rows: the cost of hybrid search compared with vector search alone.
async fn bounded(report: &mut Report, world: &World, size: usize, rounds: usize) -> anyhow::Result<()> {
    let tenant = TenantId::new("few-0")?;
    let (mut vector, mut hybrid) = (Samples::default(), Samples::default());
    for round in 0..rounds / 2 + 3 {
        for (mode, samples) in [(Mode::Semantic, &mut vector), (Mode::Hybrid, &mut hybrid)] {
            let began = Instant::now();
            search_once(world, &tenant, mode, "the red boat on the river", 10).await?;
            if round >= 3 {
                samples.add(began.elapsed());
            }
        }
    }
    report.note(format!("vector leg, embedding cached, small vocabulary at {size}, p50"), vector.p50(), "ms");
    report.at_most(
        format!("hybrid search, small vocabulary at {size}, p50"),
        hybrid.p50() / vector.p50(),
        "× vector leg",
        2.0,
    );
    Ok(())
}

pub fn question(dice: &mut Dice) -> String {
    let number = dice.below(1_000_000);
    let text = sentence(dice, number);
    format!("What did {}", text.replace(" talked", " say").replace("note", "in"))
}

async fn recall_once(memory: &Memory, tenant: &TenantId, topic: &str) -> anyhow::Result<()> {
    let input = RecallInput {
        topic: topic.to_owned(),
        scope: None,
        mode: Mode::Hybrid,
        limit: 10,
        min_confidence: 0.2,
        min_relevance: None,
        hops: butler_memory::HOPS,
        explain: false,
        time_filter: Default::default(),
    };
    memory.recall(&Call::internal(memory, tenant.clone(), "bench"), &input).await?;
    Ok(())
}

pub async fn search_once(
    world: &World,
    tenant: &TenantId,
    mode: Mode,
    query: &str,
    limit: usize,
) -> anyhow::Result<Vec<butler_memory::search::Hit>> {
    let input = SearchInput {
        query: query.to_owned(),
        types: vec![MemoryType::Fact],
        scope: None,
        mode,
        limit,
        min_confidence: 0.2,
        min_relevance: None,
        hops: 0,
        explain: true,
        time_filter: Default::default(),
        holding: false,
    };
    Ok(world.memory.search(&Call::internal(&world.memory, tenant.clone(), "bench"), &input).await?.results)
}
