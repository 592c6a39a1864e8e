//! What `valid_at` and `as_of` add to a call, in a tenant whose facts have been replaced again and again.

use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};

use crate::client::Client;
use crate::facts::{Dice, Vectors, Words};
use crate::figures::{Report, Samples};
use crate::recall::{prepare, question};
use crate::world::World;

#[derive(clap::Args)]
pub struct Args {
    /// Keys in one tenant.
    #[arg(long, default_value_t = 10_000)]
    keys: usize,
    /// Versions of each key.
    #[arg(long, default_value_t = 10)]
    versions: u32,
    /// Calls of each kind.
    #[arg(long, default_value_t = 100)]
    rounds: usize,
    /// Start the server on this data directory and keep it, to look at a plan. It must be new.
    #[arg(long)]
    data_dir: Option<std::path::PathBuf>,
}

/// Calls of one kind in a row, so that each finds the caches as its own kind leaves them.
const TURN: usize = 10;
const GOAL: f64 = 1.3;
const TOOLS: [(&str, &str); 3] =
    [("memory_recall", "topic"), ("memory_search", "query"), ("memory_context", "trigger_prompt")];

/// Adds older versions of every fact: each began 100 days before the next one, and its text and vector are another fact's.
const OLDER: &str = "
    CREATE TEMP TABLE numbered AS SELECT f.*, row_number() OVER (ORDER BY f.id) - 1 AS number, count(*) OVER () AS all_facts FROM facts f;
    CREATE INDEX ON numbered (number);
    CREATE TEMP TABLE older AS
        SELECT gen_random_uuid() AS id, f.id AS latest, f.tenant_id, f.subject, f.predicate, o.content, o.embedding, o.search_vector,
               f.embedding_version_id, f.slot, age, f.created_at - age * interval '100 days' AS began
        FROM numbered f, generate_series(1, current_setting('bench.versions')::int - 1) AS age,
             LATERAL (SELECT * FROM numbered x WHERE x.number = (f.number * 7919 + age * 104729) % f.all_facts) o;
    INSERT INTO facts (id, tenant_id, subject, predicate, content, embedding, search_vector, embedding_version_id, slot, validity,
                       created_at, last_confirmed_at, holds_from, holds_to, placed_at)
        SELECT id, tenant_id, subject, predicate, content, embedding, search_vector, embedding_version_id, slot, 'superseded',
               began, began, CASE WHEN age = current_setting('bench.versions')::int - 1 THEN '-infinity' ELSE began END,
               began + interval '100 days', began + interval '100 days'
        FROM older;
    INSERT INTO fact_beliefs (tenant_id, fact_id, believed_from, believed_to, holds_from, holds_to)
        SELECT tenant_id, id, began, began + interval '100 days',
               CASE WHEN age = current_setting('bench.versions')::int - 1 THEN '-infinity' ELSE began END, 'infinity'
        FROM older;
    UPDATE facts f SET holds_from = f.created_at WHERE f.validity = 'active' AND current_setting('bench.versions')::int > 1;";

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let mut report = Report::new("time");
    let world = match &args.data_dir {
        Some(data_dir) => World::on(data_dir).await?,
        None => World::start(None).await?,
    };
    let mut pg = PgConnection::connect(&world.url).await?;
    let vectors = Vectors::new(&world.engine).await?;
    prepare(&world, &mut pg, &vectors, "time", args.keys, Words::Ordinary).await?;
    sqlx::query("SELECT set_config('bench.versions', $1, false)")
        .bind(args.versions.to_string())
        .execute(&mut pg)
        .await?;
    pg.execute(OLDER).await?;
    pg.execute("VACUUM ANALYZE facts, fact_beliefs").await?;
    world.memory.retrain_indexes().await?;
    world.memory.forget_pools();

    let address = world.server.as_ref().map(|server| server.address.clone()).unwrap_or_default();
    let mut client = Client::connect(&address).await?;
    let (then, later): (String, String) = sqlx::query_as(
        "SELECT to_char(min(created_at) + interval '250 days', 'YYYY-MM-DD'), to_char(min(created_at) + interval '450 days', 'YYYY-MM-DD')
         FROM facts",
    )
    .fetch_one(&mut pg)
    .await?;
    let time_filters = [
        ("without a time", json!({})),
        ("valid_at", json!({ "valid_at": then })),
        ("as_of", json!({ "as_of": then })),
        ("valid_at and as_of", json!({ "valid_at": then, "as_of": later })),
    ];
    let mut dice = Dice::new(21);
    for (tool, text) in TOOLS {
        let mut samples: [Samples; 4] = Default::default();
        // the first turn is a warm-up
        for turn in 0..=args.rounds.div_ceil(TURN) {
            for ((_, time), samples) in time_filters.iter().zip(&mut samples) {
                for _ in 0..TURN {
                    client.call(tool, arguments(text, &question(&mut dice), time)).await?;
                    if turn > 0 {
                        samples.add(client.took);
                    }
                }
            }
        }
        let plain = samples[0].p50();
        report.note(format!("{tool} without a time, p50"), plain, "ms");
        for ((what, _), samples) in time_filters.iter().zip(&samples).skip(1) {
            report.note(format!("{tool} with {what}, p50"), samples.p50(), "ms");
            report.at_most(format!("{tool} with {what}, p50"), samples.p50() / plain, "× without", GOAL);
        }
    }
    world.stop()?;
    Ok(report)
}

fn arguments(text: &str, question: &str, time: &Value) -> Value {
    let mut arguments = json!({text: question, "request_context": {"tenant_id": "time-0"}});
    if text == "trigger_prompt" {
        arguments["butler"] = json!("general");
    }
    for (name, value) in time.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    arguments
}
