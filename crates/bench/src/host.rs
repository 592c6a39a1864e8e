//! Start time and memory use of the server, the cost of storing an episode over HTTP beyond embedding its text and
//! committing one insert, and the cost of HTTP, MCP and the token themselves.

mod overhead;

use std::time::{Duration, Instant};

use butler_embed::{Embedder, Engine, EngineOptions};
use serde_json::json;
use sqlx::{Connection, Executor, PgConnection};

use crate::client::Client;
use crate::figures::{Report, Samples};
use crate::server::{Server, database_url};

#[derive(clap::Args)]
pub struct Args {
    /// Episodes to store.
    #[arg(long, default_value_t = 400)]
    rounds: usize,
}

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let mut report = Report::new("host");
    let dir = tempfile::tempdir()?;
    // Downloading the runtime and the model is not part of the start time.
    let prepared = crate::server::butler()?.arg("setup").arg("--data-dir").arg(dir.path()).output()?;
    anyhow::ensure!(prepared.status.success(), "butler setup: {}", String::from_utf8_lossy(&prepared.stderr));

    let first = Server::start(dir.path())?;
    report.at_most("first start after fetch", first.start.as_secs_f64(), "s", 15.0);
    first.stop()?;
    let mut warm = Samples::default();
    for _ in 0..3 {
        let server = Server::start(dir.path())?;
        warm.add(server.start);
        server.stop()?;
    }
    report.at_most("warm start to ready (median of 3)", warm.p50() / 1000.0, "s", 1.5);

    let server = Server::start(dir.path())?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    report.at_most("resident memory, idle", server.rss_mb(), "MB", 250.0);
    store(&mut report, &server, &database_url(dir.path())?, args.rounds).await?;
    report.note("resident memory, after storing", server.rss_mb(), "MB");
    overhead::measure(&mut report, &server, dir.path(), &database_url(dir.path())?, args.rounds).await?;
    server.stop()?;
    Ok(report)
}

/// The three measurements are interleaved, so that noise affects them alike.
async fn store(report: &mut Report, server: &Server, url: &str, rounds: usize) -> anyhow::Result<()> {
    let mut client = Client::connect(&server.address).await?;
    let engine = Engine::new(EngineOptions::default());
    engine.warm_up().await?;
    let mut connection = PgConnection::connect(url).await?;
    connection.execute("CREATE TABLE bench_floor (LIKE episodes INCLUDING ALL)").await?;
    let (mut over_http, mut embedding, mut insert) = (Samples::default(), Samples::default(), Samples::default());
    for round in 0..rounds {
        let text = format!("The user moved meeting number {round} of the project to next Tuesday at ten.");
        let began = Instant::now();
        client.call("memory_store_episode", json!({ "content": text, "butler": "bench" })).await?;
        over_http.add(began.elapsed());
        // another text of the same length, because the engine caches embeddings
        let began = Instant::now();
        let vector = engine.embed(Some(&text.replace("user", "guest"))).await?;
        embedding.add(began.elapsed());
        let began = Instant::now();
        sqlx::query(
            "INSERT INTO bench_floor (butler, content, embedding, search_vector)
             VALUES ('bench', $1, $2::real[]::vector, to_tsvector('english', $1))",
        )
        .bind(&text)
        .bind(&vector[..])
        .execute(&mut connection)
        .await?;
        insert.add(began.elapsed());
    }
    connection.execute("DROP TABLE bench_floor").await?;
    report.note("memory_store_episode over HTTP, p50", over_http.p50(), "ms");
    report.note("memory_store_episode over HTTP, p95", over_http.ms(0.95), "ms");
    report.note("embedding the text, p50", embedding.p50(), "ms");
    report.note("one committed insert, p50", insert.p50(), "ms");
    report.at_most("beyond embedding and one insert, p50", over_http.p50() - embedding.p50() - insert.p50(), "ms", 1.0);
    Ok(())
}
