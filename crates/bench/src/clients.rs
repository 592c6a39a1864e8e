//! Throughput and latency of stores and recalls over HTTP, by the number of clients.

use std::time::{Duration, Instant};

use anyhow::Context;
use butler_embed::Embedder;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use crate::client::Client;
use crate::facts::{Dice, Vectors, Words, load, sentence};
use crate::figures::{Report, Samples};
use crate::recall::question;
use crate::store::{engine_alone, fact, timed};
use crate::world::World;

#[derive(clap::Args)]
pub struct Args {
    /// Facts in the tenant that all clients use.
    #[arg(long, default_value_t = 10_000)]
    rows: usize,
    /// Numbers of concurrent clients.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8, 16, 32])]
    clients: Vec<usize>,
    /// Seconds for each number of clients.
    #[arg(long, default_value_t = 4)]
    seconds: u64,
}

const TENANT: &str = "clients-0";

#[derive(Clone, Copy)]
struct Work {
    tool: &'static str,
    arguments: fn(&mut Dice, usize) -> Value,
}

const STORE: Work = Work {
    tool: "memory_store_fact",
    arguments: |dice, number| fact(TENANT, &format!("client fact {number}"), &sentence(dice, 3_000_000 + number)),
};
const RECALL: Work = Work {
    tool: "memory_recall",
    arguments: |dice, _| json!({"topic": question(dice), "request_context": {"tenant_id": TENANT}}),
};

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let mut report = Report::new("clients");
    let world = World::start(None).await?;
    let address = world.server.as_ref().context("this bench starts its own server")?.address.clone();
    let mut pg = PgConnection::connect(&world.url).await?;
    let vectors = Vectors::new(&world.engine).await?;
    load(&mut pg, &vectors, "clients", 1, args.rows, Words::Ordinary).await?;
    world.memory.retrain_indexes().await?;
    let span = Duration::from_secs(args.seconds);
    // every text is new, because the engine caches embeddings
    let mut seed = 50_000;
    // recalls first, because stores change the number of facts
    for (work, engine) in [(RECALL, questions_alone(&world).await?), (STORE, engine_alone(&world, 3).await?)] {
        report.note(format!("{}: the engine alone, batches of 256", work.tool), engine, "texts/s");
        let mut best = 0_f64;
        for clients in &args.clients {
            seed += 1000;
            let (rate, samples) = together(&address, work, *clients, seed, span).await?;
            report.point(format!("{}, a second", work.tool), *clients, rate, "/s");
            report.point(format!("{}, p50", work.tool), *clients, samples.p50(), "ms");
            report.point(format!("{}, p95", work.tool), *clients, samples.ms(0.95), "ms");
            best = best.max(rate);
        }
        report.note(format!("{}: most a second", work.tool), best, "/s");
        report.note(format!("{}: of the engine's throughput", work.tool), best / engine, "×");
    }
    world.stop()?;
    Ok(report)
}

async fn together(
    address: &str,
    work: Work,
    clients: usize,
    seed: usize,
    span: Duration,
) -> anyhow::Result<(f64, Samples)> {
    let mut connected = Vec::new();
    for _ in 0..clients {
        connected.push(Client::connect(address).await?);
    }
    let began = Instant::now();
    let tasks: Vec<_> = connected
        .into_iter()
        .enumerate()
        .map(|(number, mut client)| {
            tokio::spawn(async move {
                let mut dice = Dice::new((seed + number) as u64);
                let mut took = Vec::new();
                while began.elapsed() < span {
                    let arguments = (work.arguments)(&mut dice, (seed + number) * 100_000 + took.len());
                    took.push(timed(client.call(work.tool, arguments)).await?);
                }
                anyhow::Ok(took)
            })
        })
        .collect();
    let (mut samples, mut calls) = (Samples::default(), 0);
    for task in tasks {
        for took in task.await?? {
            samples.add(took);
            calls += 1;
        }
    }
    Ok((f64::from(calls) / began.elapsed().as_secs_f64(), samples))
}

/// Questions that the engine alone embeds per second.
async fn questions_alone(world: &World) -> anyhow::Result<f64> {
    let mut dice = Dice::new(4_711);
    let began = Instant::now();
    let mut embedded = 0;
    while began.elapsed() < Duration::from_secs(3) {
        let texts = (0..256).map(|_| question(&mut dice)).collect();
        embedded += world.engine.embed_batch(texts).await?.len();
    }
    Ok(embedded as f64 / began.elapsed().as_secs_f64())
}
