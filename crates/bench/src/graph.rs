//! `entity_neighbors` over HTTP in a tenant with 100k relations.

use anyhow::ensure;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};
use uuid::Uuid;

use crate::client::Client;
use crate::figures::{Report, Samples};
use crate::server::{Server, database_url};

#[derive(clap::Args)]
pub struct Args {
    /// Relations in the tenant.
    #[arg(long, default_value_t = 100_000)]
    edges: i32,
    /// Calls of each kind.
    #[arg(long, default_value_t = 200)]
    rounds: usize,
}

/// Entities have ten relations on average, five of them as the subject.
const EDGES_PER_ENTITY: i32 = 5;
const GOAL_MS: f64 = 15.0;

const ENTITIES: &str = "
    INSERT INTO entities (id, canonical_name, entity_type)
    SELECT md5('entity ' || i)::uuid, 'Person ' || i, 'person' FROM generate_series(0, $1 - 1) AS i";

/// Predicates with an inverse, symmetric ones, and one that nobody registered. The objects are spread by a multiplier that
/// shares no factor with the number of entities, and a few entities have many relations.
const EDGES: &str = "
    INSERT INTO facts (subject, predicate, content, search_vector, entity_id, object_entity_id, slot)
    SELECT 'Person ' || s, p, 'Person ' || o, to_tsvector('english', concat_ws(' ', 'Person', s, p, 'Person', o)),
           md5('entity ' || s)::uuid, md5('entity ' || o)::uuid, md5('entity ' || o)::uuid::text
    FROM generate_series(0, $1 - 1) AS i,
         LATERAL (SELECT i % $2 AS s,
                         CASE WHEN i % 50 = 0 THEN i / 50 % 20 ELSE ((i::bigint + 1) * 7919 + i / $2 * 104729) % $2 END AS o,
                         (ARRAY['knows', 'has_child', 'member_of', 'works_with', 'mentors'])[1 + i / $2 % 5] AS p) e
    WHERE s <> o
    ON CONFLICT DO NOTHING";

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let mut report = Report::new("graph");
    let dir = tempfile::tempdir()?;
    let server = Server::start(dir.path())?;
    let mut pg = PgConnection::connect(&database_url(dir.path())?).await?;
    let entities = (args.edges / EDGES_PER_ENTITY).max(2);
    sqlx::query(ENTITIES).bind(entities).execute(&mut pg).await?;
    sqlx::query(EDGES).bind(args.edges).bind(entities).execute(&mut pg).await?;
    pg.execute("VACUUM ANALYZE entities, facts").await?;
    let edges: i64 = sqlx::query_scalar("SELECT count(*) FROM facts").fetch_one(&mut pg).await?;
    report.note("relations", edges as f64, "");
    report.note("entities", f64::from(entities), "");

    let starts: Vec<Uuid> =
        sqlx::query_scalar("SELECT id FROM entities ORDER BY md5(canonical_name || 'start') LIMIT $1")
            .bind(args.rounds as i64)
            .fetch_all(&mut pg)
            .await?;
    let mut client = Client::connect(&server.address).await?;
    // the first calls plan the statements and fill the caches
    measure(&mut client, &starts[..starts.len().min(20)], 2, json!({})).await?;
    for (depth, options, what) in [
        (1, json!({}), "depth 1"),
        (2, json!({}), "depth 2"),
        (2, json!({"limit": 500}), "depth 2, up to 500 relations"),
        (2, json!({"predicates": ["knows"]}), "depth 2, one predicate"),
        (3, json!({}), "depth 3"),
    ] {
        let samples = measure(&mut client, &starts, depth, options).await?;
        let name = |quantile| format!("entity_neighbors over HTTP, {what}, {quantile}");
        if what == "depth 2" {
            report.at_most(name("p50"), samples.p50(), "ms", GOAL_MS);
            report.note(name("p95"), samples.ms(0.95), "ms");
        } else {
            report.note(name("p50"), samples.p50(), "ms");
        }
    }
    server.stop()?;
    Ok(report)
}

/// Fails if an entity has no neighbours, because its time would mean nothing.
async fn measure(client: &mut Client, starts: &[Uuid], depth: u32, options: Value) -> anyhow::Result<Samples> {
    let mut samples = Samples::default();
    for start in starts {
        let mut arguments = json!({"entity_id": start, "depth": depth});
        for (name, value) in options.as_object().into_iter().flatten() {
            arguments[name] = value.clone();
        }
        let answer = client.call("entity_neighbors", arguments).await?;
        samples.add(client.took);
        ensure!(
            answer["edges"].as_array().is_some_and(|edges| !edges.is_empty()),
            "{start} has no relations: {answer}"
        );
    }
    Ok(samples)
}
