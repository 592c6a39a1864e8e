//! The cost of storing a fact beyond embedding it, compared with one committed insert of the same row; the cost of
//! superseding; and the share of the embedding engine's throughput that sixteen clients reach.

use std::time::{Duration, Instant};

use butler_embed::Embedder;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};

use crate::client::Client;
use crate::facts::{Dice, Vectors, Words, load, sentence};
use crate::figures::{Report, Samples};
use crate::world::World;

#[derive(clap::Args)]
pub struct Args {
    /// Facts already in the table.
    #[arg(long, default_value_t = 100_000)]
    rows: usize,
    /// Facts to store in each way.
    #[arg(long, default_value_t = 300)]
    rounds: usize,
    /// Seconds that the sixteen clients write.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

const CLIENTS: usize = 16;
/// Texts per batch when the engine is measured alone.
const BATCH: usize = 256;
const TENANT: &str = "bench-0";

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let mut report = Report::new("store");
    let world = World::start(None).await?;
    let mut pg = PgConnection::connect(&world.url).await?;
    let vectors = Vectors::new(&world.engine).await?;
    load(&mut pg, &vectors, "bench", 1, args.rows, Words::Ordinary).await?;
    pg.execute("CHECKPOINT").await?;
    one_client(&mut report, &world, &mut pg, args.rounds).await?;
    many_clients(&mut report, &world, Duration::from_secs(args.seconds)).await?;
    world.stop()?;
    Ok(report)
}

pub fn fact(tenant: &str, subject: &str, content: &str) -> Value {
    json!({ "subject": subject, "predicate": "note", "content": content, "request_context": { "tenant_id": tenant } })
}

/// All measurements are interleaved, so that noise affects them alike.
async fn one_client(report: &mut Report, world: &World, pg: &mut PgConnection, rounds: usize) -> anyhow::Result<()> {
    let mut client = client(world).await?;
    let (mut new, mut superseding, mut embedding, mut insert) =
        (Samples::default(), Samples::default(), Samples::default(), Samples::default());
    let mut dice = Dice::new(11);
    for round in 0..rounds + 5 {
        // texts of the same length, each one new, because the engine caches embeddings
        let texts: Vec<String> = (0..4).map(|n| sentence(&mut dice, 1_000_000 + round * 4 + n)).collect();
        let subject = format!("store {round}");
        let stored = timed(client.call("memory_store_fact", fact(TENANT, &subject, &texts[0]))).await?;
        let again = timed(client.call("memory_store_fact", fact(TENANT, &subject, &texts[1]))).await?;
        let began = Instant::now();
        let vector = world.engine.embed(Some(&format!("{subject} note {}", texts[2]))).await?;
        let embedded = began.elapsed();
        let began = Instant::now();
        insert_alone(pg, &format!("insert {round}"), &texts[3], &vector).await?;
        let inserted = began.elapsed();
        if round >= 5 {
            new.add(stored);
            superseding.add(again);
            embedding.add(embedded);
            insert.add(inserted);
        }
    }
    report.note("memory_store_fact over HTTP, new, p50", new.p50(), "ms");
    report.note("memory_store_fact over HTTP, new, p95", new.ms(0.95), "ms");
    report.note("memory_store_fact over HTTP, superseding, p50", superseding.p50(), "ms");
    report.note("embedding the text, p50", embedding.p50(), "ms");
    report.note("one committed insert into the same table, p50", insert.p50(), "ms");
    let beyond = (new.p50() - embedding.p50()) / insert.p50();
    report.at_most("beyond embedding, in inserts (stretch 1.5)", beyond, "×", 2.0);
    report.at_most("superseding against new", superseding.p50() / new.p50(), "×", 1.5);
    let beyond = (superseding.p50() - embedding.p50()) / (new.p50() - embedding.p50());
    report.at_most("superseding against new, both beyond embedding", beyond, "×", 1.5);
    Ok(())
}

async fn client(world: &World) -> anyhow::Result<Client> {
    let server = world.server.as_ref().ok_or_else(|| anyhow::anyhow!("this bench needs the server over HTTP"))?;
    Client::connect(&server.address).await
}

pub async fn timed(call: impl Future<Output = anyhow::Result<Value>>) -> anyhow::Result<Duration> {
    let began = Instant::now();
    call.await?;
    Ok(began.elapsed())
}

async fn insert_alone(pg: &mut PgConnection, subject: &str, content: &str, vector: &[f32]) -> anyhow::Result<()> {
    sqlx::query(
        "INSERT INTO facts (id, tenant_id, subject, predicate, content, embedding, search_vector, source_butler, created_at,
                            last_confirmed_at, embedding_version_id)
         VALUES ($6, $1, $2, 'note', $3, $4::real[]::vector, to_tsvector('english', $5), 'bench', now(), now(),
                 (SELECT id FROM embedding_versions WHERE tenant_id = $1))",
    )
    .bind(TENANT)
    .bind(subject)
    .bind(content)
    .bind(vector)
    .bind(format!("{subject} note {content}"))
    .bind(uuid::Uuid::new_v4())
    .execute(pg)
    .await?;
    Ok(())
}

async fn many_clients(report: &mut Report, world: &World, span: Duration) -> anyhow::Result<()> {
    // before and after, because the load of the machine may change
    let before = engine_alone(world, 1).await?;
    let began = Instant::now();
    let mut tasks = Vec::new();
    for number in 0..CLIENTS {
        let mut client = client(world).await?;
        tasks.push(tokio::spawn(async move {
            let (mut dice, mut stored) = (Dice::new(1000 + number as u64), 0_usize);
            while began.elapsed() < span {
                let text = sentence(&mut dice, 2_000_000 + number * 100_000 + stored);
                client
                    .call("memory_store_fact", fact(TENANT, &format!("client {number} fact {stored}"), &text))
                    .await?;
                stored += 1;
            }
            anyhow::Ok(stored)
        }));
    }
    let mut stored = 0;
    for task in tasks {
        stored += task.await??;
    }
    let rate = stored as f64 / began.elapsed().as_secs_f64();
    let alone = (before + engine_alone(world, 2).await?) / 2.0;
    report.note("the engine alone, batches of 256", alone, "texts/s");
    report.note("facts stored by 16 clients over HTTP", rate, "facts/s");
    report.at_least("of the engine's throughput (stretch 0.8)", rate / alone, "×", 0.6);
    Ok(())
}

/// Texts that the engine alone embeds per second.
pub async fn engine_alone(world: &World, seed: u64) -> anyhow::Result<f64> {
    let mut dice = Dice::new(seed);
    let began = Instant::now();
    let mut embedded = 0;
    while began.elapsed() < Duration::from_secs(3) {
        let texts = (0..BATCH).map(|n| {
            let content = sentence(&mut dice, 5_000_000 + embedded + n);
            format!("client 7 fact {n} note {content}")
        });
        embedded += world.engine.embed_batch(texts.collect()).await?.len();
    }
    Ok(embedded as f64 / began.elapsed().as_secs_f64())
}
