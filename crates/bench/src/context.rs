//! `memory_context` over HTTP, compared with its floor (embedding the prompt and one `SELECT 1`), with a recall and with a
//! list of facts, as the tenant grows.

use std::time::{Duration, Instant};

use butler_domain::{Butler, TenantId};
use butler_embed::Embedder;
use butler_memory::{Call, ContextRequest};

use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use crate::api;
use crate::client::Client;
use crate::facts::{Dice, Vectors};
use crate::figures::{Report, Samples};
use crate::population::{EPISODE, Growth, RULE, grow};
use crate::recall::question;
use crate::store::timed;
use crate::world::World;

#[derive(clap::Args)]
pub struct Args {
    /// Facts in one tenant, which also has one episode per ten facts and one rule per hundred.
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 10_000, 100_000])]
    sizes: Vec<usize>,
    /// Calls per size.
    #[arg(long, default_value_t = 100)]
    rounds: usize,
}

/// Calls of one kind in a row, so that each finds the caches as its own kind leaves them.
const TURN: usize = 20;
const BUTLER: &str = "general";
const BUDGET: usize = 3000;

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let mut report = Report::new("context");
    let mut vectors = None;
    for size in &args.sizes {
        // a new server for each size, because it caches the size of a tenant for a minute
        let world = World::start(None).await?;
        let mut pg = PgConnection::connect(&world.url).await?;
        if vectors.is_none() {
            vectors = Some(Vectors::new(&world.engine).await?);
        }
        if let Some(vectors) = &vectors {
            let growth = Growth { prefix: "context", facts: 0..*size, tenants: 1, owner: &|_| 0 };
            grow(&world, &mut pg, vectors, &growth).await?;
        }
        one_size(&mut report, &world, *size, args.rounds).await?;
        world.stop()?;
    }
    Ok(report)
}

async fn one_size(report: &mut Report, world: &World, size: usize, rounds: usize) -> anyhow::Result<()> {
    let tenant = TenantId::new("context-0")?;
    let address = world.server.as_ref().map(|server| server.address.clone()).unwrap_or_default();
    let mut client = Client::connect(&address).await?;
    let mut dice = Dice::new(7_000 + size as u64);
    let (mut floor, mut context, mut recall, mut tokens) =
        (Samples::default(), Samples::default(), Samples::default(), 0);
    // the first turn is a warm-up
    for turn in 0..=rounds.div_ceil(TURN) {
        let keep = |samples: &mut Samples, took: Duration| {
            if turn > 0 {
                samples.add(took);
            }
        };
        for _ in 0..TURN {
            let prompt = question(&mut dice);
            let began = Instant::now();
            world.engine.embed(Some(&prompt)).await?;
            world.ping(&tenant).await?;
            keep(&mut floor, began.elapsed());
        }
        for _ in 0..TURN {
            let arguments = context_of(tenant.as_str(), &question(&mut dice));
            let began = Instant::now();
            let block = client.call("memory_context", arguments).await?;
            keep(&mut context, began.elapsed());
            tokens = tokens.max(block["tokens"].as_u64().unwrap_or(0));
        }
        for _ in 0..TURN {
            let arguments = json!({"topic": question(&mut dice), "request_context": {"tenant_id": tenant.as_str()}});
            keep(&mut recall, timed(client.call("memory_recall", arguments)).await?);
        }
    }
    let list = api::measure(&address, tenant.as_str(), "/api/memory/facts", rounds)?;
    report.note(
        format!("floor at {size} facts, {} rules, {} episodes, p50", size / RULE, size / EPISODE),
        floor.p50(),
        "ms",
    );
    report.note(format!("memory_context over HTTP at {size}, p50"), context.p50(), "ms");
    report.note(format!("memory_context over HTTP at {size}, p50 in floors"), context.p50() / floor.p50(), "× floor");
    report.note(format!("memory_context over HTTP at {size}, p95"), context.ms(0.95), "ms");
    report.at_most(format!("largest block at {size}"), tokens as f64, "tokens", BUDGET as f64);
    report.at_most(format!("statements of a block at {size}"), statements(world, &tenant, &mut dice).await?, "", 4.0);
    report.at_most(
        format!("answer with ten results at {size}"),
        answer(&mut client, &tenant, &mut dice).await?,
        "kB",
        12.0,
    );
    for (series, samples) in
        [("floor", floor), ("memory_context", context), ("memory_recall", recall), ("list of facts", list)]
    {
        report.point(format!("{series}, p50"), size, samples.p50(), "ms");
    }
    Ok(())
}

pub fn context_of(tenant: &str, prompt: &str) -> Value {
    json!({"trigger_prompt": prompt, "butler": BUTLER, "token_budget": BUDGET, "request_context": {"tenant_id": tenant}})
}

/// Statements per call, counted on the connection that serves it and already has the tenant set.
async fn statements(world: &World, tenant: &TenantId, dice: &mut Dice) -> anyhow::Result<f64> {
    let memory = world.through_one_session().await?;
    let mut sent = [0; 3];
    for counted in &mut sent {
        let request = ContextRequest {
            trigger_prompt: question(dice),
            butler: Butler::new(BUTLER)?,
            token_budget: BUDGET,
            mode: butler_memory::search::Mode::Hybrid,
            min_relevance: None,
            hops: butler_memory::HOPS,
            time_filter: Default::default(),
            changes_since: None,
        };
        memory.context(&Call::internal(&memory, tenant.clone(), "bench"), &request).await?;
        *counted = memory.db().relaxed(tenant).await?.statements();
    }
    Ok((sent[2] - sent[1]) as f64)
}

/// The size of the HTTP body of a search, in kilobytes.
async fn answer(client: &mut Client, tenant: &TenantId, dice: &mut Dice) -> anyhow::Result<f64> {
    let arguments = json!({"query": question(dice), "limit": 10, "request_context": {"tenant_id": tenant.as_str()}});
    client.call("memory_search", arguments).await?;
    Ok(client.answer_bytes as f64 / 1000.0)
}
