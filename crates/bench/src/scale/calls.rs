//! What a tenant's calls cost in a database of this size.

use std::time::{Duration, Instant};

use anyhow::Context;
use butler_domain::TenantId;
use butler_embed::Embedder;
use serde_json::{Value, json};

use crate::api;
use crate::client::Client;
use crate::context::context_of;
use crate::facts::{Dice, sentence};
use crate::figures::{Report, Samples};
use crate::recall::question;
use crate::store::{fact, timed};
use crate::world::World;

/// Calls of a kind in a row.
const TURN: usize = 20;

const LISTS: [(&str, &str); 10] = [
    ("facts, newest", "/api/memory/facts"),
    ("facts, page 50", "/api/memory/facts?offset=1000"),
    ("facts by words", "/api/memory/facts?q=harbour"),
    ("facts by a rare word", "/api/memory/facts?q=note+4321"),
    ("facts, least confident", "/api/memory/facts?sort=least_confident"),
    ("rules", "/api/memory/rules"),
    ("episodes", "/api/memory/episodes"),
    ("activity", "/api/memory/activity"),
    ("palette", "/api/memory/search?q=harb"),
    ("overview", "/api/memory/stats"),
];

pub async fn measure(
    report: &mut Report,
    world: &World,
    who: &str,
    tenant: &str,
    size: usize,
    rounds: usize,
) -> anyhow::Result<()> {
    let address = world.server.as_ref().context("this bench starts its own server")?.address.clone();
    tools(report, world, &address, who, tenant, size, rounds).await?;
    for (what, path) in LISTS {
        let samples = api::measure(&address, tenant, path, rounds / 3)?;
        report.point(format!("{who} tenant: GET {what}, p50"), size, samples.p50(), "ms");
    }
    Ok(())
}

/// In turns, so that a busy moment of the machine hits all alike. The first turn warms up.
async fn tools(
    report: &mut Report,
    world: &World,
    address: &str,
    who: &str,
    tenant: &str,
    size: usize,
    rounds: usize,
) -> anyhow::Result<()> {
    let name = TenantId::new(tenant)?;
    let of_tenant = |mut arguments: Value| {
        arguments["request_context"] = json!({ "tenant_id": tenant });
        arguments
    };
    let mut client = Client::connect(address).await?;
    let mut dice = Dice::new(size as u64 + tenant.len() as u64 * 1_000_003);
    let mut samples: [Samples; 6] = Default::default();
    for turn in 0..=rounds.div_ceil(TURN) {
        let mut keep = |which: usize, took: Duration| {
            if turn > 0 {
                samples[which].add(took);
            }
        };
        for _ in 0..TURN {
            let query = question(&mut dice);
            let began = Instant::now();
            world.engine.embed(Some(&query)).await?;
            world.ping(&name).await?;
            keep(0, began.elapsed());
        }
        let queries: Vec<Value> = (0..TURN).map(|_| of_tenant(json!({"topic": question(&mut dice)}))).collect();
        for which in [1, 2] {
            for query in &queries {
                keep(which, timed(client.call("memory_recall", query.clone())).await?);
            }
        }
        for _ in 0..TURN {
            keep(3, timed(client.call("memory_context", context_of(tenant, &question(&mut dice)))).await?);
        }
        for n in 0..TURN {
            let number = 9_000_000 + turn * TURN + n;
            let stored = fact(tenant, &format!("{size} grew {number}"), &sentence(&mut dice, number));
            keep(4, timed(client.call("memory_store_fact", stored)).await?);
        }
        for _ in 0..TURN / 4 {
            keep(5, timed(client.call("memory_stats", of_tenant(json!({})))).await?);
        }
    }
    let [floor, recall, cached, context, store, stats] = &samples;
    report.point(format!("{who} tenant: floor (embedding, SELECT 1), p50"), size, floor.p50(), "ms");
    report.point(format!("{who} tenant: memory_recall, p50"), size, recall.p50(), "ms");
    report.point(format!("{who} tenant: memory_recall, p50 in floors"), size, recall.p50() / floor.p50(), "×");
    report.point(format!("{who} tenant: memory_recall, p95"), size, recall.ms(0.95), "ms");
    report.point(format!("{who} tenant: memory_recall, embedding cached, p50"), size, cached.p50(), "ms");
    report.point(format!("{who} tenant: memory_context, p50"), size, context.p50(), "ms");
    report.point(format!("{who} tenant: memory_context, p50 in floors"), size, context.p50() / floor.p50(), "×");
    report.point(format!("{who} tenant: memory_store_fact, p50"), size, store.p50(), "ms");
    report.point(format!("{who} tenant: memory_stats, p50"), size, stats.p50(), "ms");
    Ok(())
}
