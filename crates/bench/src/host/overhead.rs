//! The overhead of the server: HTTP, MCP and the token of a call, the process of a hook, and the memory use of many
//! connections.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::Context;
use butler_domain::{EntityId, EntityType, TenantId};
use butler_memory::Call;
use butler_memory::entities::EntityInput;
use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::figures::{Report, Samples};
use crate::server::{Server, butler};
use crate::world::World;

const CONNECTIONS: usize = 64;

/// Runs all measurements against one server with a token.
pub async fn measure(
    report: &mut Report,
    server: &Server,
    data_dir: &Path,
    url: &str,
    rounds: usize,
) -> anyhow::Result<()> {
    let token = token(data_dir)?;
    overhead(report, server, &token, url, rounds).await?;
    hook(report, data_dir)?;
    load(report, server, &token, rounds * 25).await
}

fn token(data_dir: &Path) -> anyhow::Result<String> {
    let made = butler()?.args(["token", "create", "--json", "--data-dir"]).arg(data_dir).output()?;
    anyhow::ensure!(made.status.success(), "butler token create: {}", String::from_utf8_lossy(&made.stderr));
    let made: Value = serde_json::from_slice(&made.stdout)?;
    Ok(made["token"].as_str().context("no token")?.to_owned())
}

/// Calls the cheapest tool over HTTP with a token and in this process, in turns.
async fn overhead(report: &mut Report, server: &Server, token: &str, url: &str, rounds: usize) -> anyhow::Result<()> {
    let world = World::start(Some(url)).await?;
    let call = Call::internal(&world.memory, TenantId::default(), "bench");
    let input = EntityInput {
        canonical_name: "Ada".to_owned(),
        entity_type: EntityType::Person,
        aliases: Vec::new(),
        metadata: Map::new(),
    };
    let id: EntityId = world.memory.create_entity(&call, input).await?.entity_id;
    let mut client = Client::connect(&server.address).await?.with_token(token);
    let (mut over_http, mut in_process) = (Samples::default(), Samples::default());
    for round in 0..rounds * 5 {
        let began = Instant::now();
        client.call("entity_get", json!({ "entity_id": id })).await?;
        let took = began.elapsed();
        let began = Instant::now();
        world.memory.get_entity(&call, id).await?.context("the entity is gone")?;
        let alone = began.elapsed();
        // the first calls prepare statements
        if round >= 50 {
            over_http.add(took);
            in_process.add(alone);
        }
    }
    world.stop()?;
    report.note("entity_get over HTTP with a token, p50", over_http.p50(), "ms");
    report.note("entity_get in process, p50", in_process.p50(), "ms");
    report.at_most("HTTP, MCP and the token, p50", over_http.p50() - in_process.p50(), "ms", 0.5);
    Ok(())
}

/// Measures a hook from the start of its process to its end, when the agent has the answer.
fn hook(report: &mut Report, data_dir: &Path) -> anyhow::Result<()> {
    let event = json!({"session_id": "0b8a2f3e-6a55-4c39-9a0e-3f1d2c4b5a69", "cwd": "/home/ann/shop", "source": "startup",
                       "hook_event_name": "SessionStart"});
    let mut took = Samples::default();
    for _ in 0..40 {
        let began = Instant::now();
        let mut child = butler()?
            .args(["hook", "session-start", "--data-dir"])
            .arg(data_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        child.stdin.take().context("no stdin")?.write_all(event.to_string().as_bytes())?;
        let output = child.wait_with_output()?;
        took.add(began.elapsed());
        let said = String::from_utf8_lossy(&output.stdout);
        anyhow::ensure!(said.contains("additionalContext"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    }
    report.at_most("butler hook session-start, process start to answer, p50", took.p50(), "ms", 60.0);
    report.note("butler hook session-start, p95", took.ms(0.95), "ms");
    Ok(())
}

/// Measures the server's memory use while many connections search and sometimes store.
async fn load(report: &mut Report, server: &Server, token: &str, requests: usize) -> anyhow::Result<()> {
    let began = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for at in 0..CONNECTIONS {
        let (address, token) = (server.address.clone(), token.to_owned());
        clients.spawn(async move {
            let mut client = Client::connect(&address).await?.with_token(&token);
            for round in 0..requests / CONNECTIONS {
                let question = format!("what happened to meeting number {} of the project", (at * 31 + round) % 400);
                let call = if round % 10 == 9 {
                    ("memory_store_episode", json!({ "content": question, "butler": "bench" }))
                } else {
                    ("memory_search", json!({ "query": question, "limit": 5 }))
                };
                client.call(call.0, call.1).await?;
            }
            anyhow::Ok(())
        });
    }
    let mut most = server.rss_mb();
    let mut sample = tokio::time::interval(std::time::Duration::from_millis(100));
    loop {
        tokio::select! {
            _ = sample.tick() => most = most.max(server.rss_mb()),
            ended = clients.join_next() => match ended {
                Some(ended) => ended??,
                None => break,
            },
        }
    }
    let done = (requests / CONNECTIONS * CONNECTIONS) as f64;
    report.note(format!("calls of {CONNECTIONS} connections"), done / began.elapsed().as_secs_f64(), "calls/s");
    report.at_most(format!("resident memory, most under {CONNECTIONS} connections"), most, "MB", 350.0);
    report.note("resident memory, after them", server.rss_mb(), "MB");
    Ok(())
}
