//! `entity_resolve` over HTTP among 100k entities, tier by tier.

use std::time::Instant;

use anyhow::ensure;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};

use crate::client::Client;
use crate::figures::{Report, Samples};
use crate::server::{Server, database_url};

#[derive(clap::Args)]
pub struct Args {
    /// Entities in the tenant.
    #[arg(long, default_value_t = 100_000)]
    entities: i32,
    /// Calls per kind of name.
    #[arg(long, default_value_t = 200)]
    rounds: usize,
}

/// Realistic names: few first names, which many entities share; family names made of syllables; nicknames for half.
const FILL: &str = "
    INSERT INTO entities (id, canonical_name, entity_type, aliases)
    SELECT gen_random_uuid(),
           (ARRAY['Anna','Chloe','Martin','Oliver','Sofia','Liam','Noah','Emma','Mia','Lucas','Ethan','Ava','Isabella','Charlotte',
                  'Amelia','Harper','Evelyn','Abigail','Emily','Elizabeth','Mateo','Avery','Ella','Scarlett','Grace','Victoria',
                  'Riley','Aria','Lily','Aurora','Zoe','Nora','Camila','Hannah','Lillian','Addison','Eleanor','Natalie','Luna',
                  'Savannah'])[1 + i % 40]
           || ' ' || initcap((s.syllables)[1 + i / 40 % 40] || (s.syllables)[1 + i / 1600 % 40] || (s.syllables)[1 + i * 7 / 64000 % 40])
           || CASE WHEN i >= 64000 THEN ' ' || (ARRAY['Jr.', 'Sr.', 'II', 'III'])[1 + i / 64000 % 4] ELSE '' END,
           (ARRAY['person', 'organization', 'place', 'other'])[1 + i % 4],
           CASE WHEN i % 2 = 0 THEN ARRAY['nick' || i, 'the ' || i || 'th'] ELSE '{}' END
    FROM generate_series(0, $1 - 1) i,
         (SELECT ARRAY['ba','ker','son','ton','ley','mar','tin','rod','ri','guez','her','nan','dez','wil','li','ams','con','nor',
                       'sch','mi','dt','mul','ler','ko','val','ski','pe','trov','na','gar','cia','lo','pez','an','der','berg',
                       'strom','hol','land','field'] AS syllables) s
    ON CONFLICT DO NOTHING";

/// An entity to resolve: its name, and its nickname if it has one.
struct Known {
    name: String,
    nick: Option<String>,
}

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let mut report = Report::new("resolve");
    let dir = tempfile::tempdir()?;
    let server = Server::start(dir.path())?;
    let mut connection = PgConnection::connect(&database_url(dir.path())?).await?;
    sqlx::query(FILL).bind(args.entities).execute(&mut connection).await?;
    connection.execute("VACUUM ANALYZE entities").await?;
    let entities: i64 = sqlx::query_scalar("SELECT count(*) FROM entities").fetch_one(&mut connection).await?;
    report.note("entities", entities as f64, "");

    let known = sample(&mut connection, args.rounds).await?;
    let mut client = Client::connect(&server.address).await?;
    // the first calls plan the statements and fill the caches
    measure(&mut client, &known[..known.len().min(10)], "exact", |known| Some(json!({ "name": known.name }))).await?;
    let quick = 10.0;
    let samples =
        measure(&mut client, &known, "exact", |known| Some(json!({ "name": known.name.to_uppercase() }))).await?;
    report.at_most("entity_resolve over HTTP, canonical name, p50", samples.p50(), "ms", quick);
    let samples = measure(&mut client, &known, "alias", |known| Some(json!({ "name": known.nick.clone()? }))).await?;
    report.at_most("entity_resolve over HTTP, alias, p50", samples.p50(), "ms", quick);
    let samples =
        measure(&mut client, &known, "prefix", |known| Some(json!({ "name": beginning(&known.name) }))).await?;
    report.at_most("entity_resolve over HTTP, beginning of the name, p50", samples.p50(), "ms", quick);
    let samples = measure(&mut client, &known, "prefix", |known| Some(json!({ "name": family(&known.name) }))).await?;
    report.at_most("entity_resolve over HTTP, part of the name, p50", samples.p50(), "ms", quick);
    let samples = measure(&mut client, &known, "fuzzy", |known| {
        Some(json!({ "name": misspelled(&known.name), "enable_fuzzy": true }))
    })
    .await?;
    report.at_most("entity_resolve over HTTP, misspelled, p50", samples.p50(), "ms", 30.0);
    report.note("entity_resolve over HTTP, misspelled, p95", samples.ms(0.95), "ms");
    server.stop()?;
    Ok(report)
}

async fn sample(connection: &mut PgConnection, rounds: usize) -> anyhow::Result<Vec<Known>> {
    let rows: Vec<(String, Option<String>)> = sqlx::query_as(
        "SELECT canonical_name, aliases[1] FROM entities ORDER BY md5(canonical_name || entity_type) LIMIT $1",
    )
    .bind(rounds as i64)
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|(name, nick)| Known { name, nick }).collect())
}

/// Fails if a call finds nothing in the expected tier, because its time would mean nothing.
async fn measure(
    client: &mut Client,
    known: &[Known],
    tier: &str,
    question: impl Fn(&Known) -> Option<Value>,
) -> anyhow::Result<Samples> {
    let mut samples = Samples::default();
    for arguments in known.iter().filter_map(question) {
        let began = Instant::now();
        let answer = client.call("entity_resolve", arguments.clone()).await?;
        samples.add(began.elapsed());
        let candidates = answer["candidates"].as_array().map(Vec::as_slice).unwrap_or_default();
        ensure!(candidates.iter().any(|found| found["name_match"] == tier), "{arguments} found no {tier}: {answer}");
    }
    Ok(samples)
}

fn beginning(name: &str) -> String {
    let kept = name.split(' ').next().map_or(0, |first| first.chars().count()) + 5;
    name.chars().take(kept).collect()
}

/// The family name without its first character, so that no name begins with it.
fn family(name: &str) -> String {
    name.split(' ').nth(1).unwrap_or(name).chars().skip(1).collect()
}

/// The name with one character missing and another one doubled.
fn misspelled(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let (gap, twice) = (chars.len() / 4, chars.len() * 3 / 4);
    chars
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != gap)
        .flat_map(|(i, c)| vec![*c; if i == twice { 2 } else { 1 }])
        .collect()
}
