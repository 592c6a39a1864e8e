//! Lists and details of the REST API with 100k facts.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use sqlx::{Connection, Executor, PgConnection};

use crate::facts::{Vectors, Words, load};
use crate::figures::{Report, Samples};
use crate::world::World;

#[derive(clap::Args)]
pub struct Args {
    /// Facts in one tenant.
    #[arg(long, default_value_t = 100_000)]
    facts: usize,
    /// Requests per path.
    #[arg(long, default_value_t = 60)]
    rounds: usize,
}

const TENANT: &str = "api-0";
/// Together with the page's own time, a person still perceives this as immediate.
const GOAL_MS: f64 = 50.0;
/// The first requests of a path plan the statement and fill the caches.
const WARM_UP: usize = 5;

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let mut report = Report::new("api");
    let world = World::start(None).await?;
    let address = world.server.as_ref().context("the bench starts its own server")?.address.clone();
    let mut pg = PgConnection::connect(&world.url).await?;
    let vectors = Vectors::new(&world.engine).await?;
    load(&mut pg, &vectors, "api", 1, args.facts, Words::Ordinary).await?;
    add_other_memories(&mut pg).await?;
    let (fact, rule, episode, entity) = ids(&mut pg).await?;
    let deep = args.facts - 20;
    let paths = [
        ("facts, newest", "/api/memory/facts".to_owned()),
        ("facts, the last page", format!("/api/memory/facts?offset={deep}")),
        ("facts by words", "/api/memory/facts?q=harbour".to_owned()),
        ("facts by the beginning of a rare word", "/api/memory/facts?q=note+9999".to_owned()),
        ("facts, least confident", "/api/memory/facts?sort=least_confident".to_owned()),
        ("facts above a confidence", "/api/memory/facts?min_confidence=0.5".to_owned()),
        ("facts, most important", "/api/memory/facts?sort=importance".to_owned()),
        ("facts by subject", "/api/memory/facts?sort=subject".to_owned()),
        ("facts of a scope and permanence", "/api/memory/facts?scope=global&permanence=standard".to_owned()),
        ("facts, fading", "/api/memory/facts?validity=fading".to_owned()),
        ("facts, all states", "/api/memory/facts?validity=all".to_owned()),
        ("facts of a butler", "/api/butlers/general/memory/facts".to_owned()),
        ("facts of an entity", format!("/api/memory/facts?entity_id={entity}")),
        ("fact", format!("/api/memory/facts/{fact}")),
        ("rules", "/api/memory/rules?sort=maturity".to_owned()),
        ("rule", format!("/api/memory/rules/{rule}")),
        ("episodes", "/api/memory/episodes".to_owned()),
        ("episodes by words", "/api/memory/episodes?q=harbour".to_owned()),
        ("episode", format!("/api/memory/episodes/{episode}")),
        ("entities", "/api/memory/entities".to_owned()),
        ("entity", format!("/api/memory/entities/{entity}")),
        ("activity", "/api/memory/activity".to_owned()),
        ("timeline", "/api/timeline".to_owned()),
        ("timeline of a type", "/api/timeline?type=fact_created".to_owned()),
        ("palette", "/api/memory/search?q=harb".to_owned()),
    ];
    for (what, path) in &paths {
        let samples = measure(&address, TENANT, path, args.rounds)?;
        report.at_most(format!("{what}, p95"), samples.ms(0.95), "ms", GOAL_MS);
    }
    // counts everything, so it has no goal
    report.note("overview, p95", measure(&address, TENANT, "/api/memory/stats", args.rounds)?.ms(0.95), "ms");
    world.stop()?;
    Ok(report)
}

pub fn measure(address: &str, tenant: &str, path: &str, rounds: usize) -> anyhow::Result<Samples> {
    let mut samples = Samples::default();
    for round in 0..rounds + WARM_UP {
        let took = get(address, tenant, path)?;
        if round >= WARM_UP {
            samples.add(took);
        }
    }
    Ok(samples)
}

/// Opens a new connection, as a browser does for the first request of a page.
fn get(address: &str, tenant: &str, path: &str) -> anyhow::Result<Duration> {
    let began = Instant::now();
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\nX-Butler-Tenant: {tenant}\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let took = began.elapsed();
    if !answer.starts_with(b"HTTP/1.0 200") {
        bail!("{path}: {}", String::from_utf8_lossy(&answer[..answer.len().min(400)]));
    }
    Ok(took)
}

/// Adds ten thousand episodes, a thousand rules with marks, entities, and an event for every fact.
async fn add_other_memories(pg: &mut PgConnection) -> anyhow::Result<()> {
    for statement in [
        "INSERT INTO episodes (tenant_id, butler, content, search_vector, created_at, expires_at)
         SELECT 'api-0', 'general', t, to_tsvector('english', t), now() - n * interval '1 minute', now() + interval '7 days'
         FROM (SELECT n, 'episode ' || n || ' at the harbour with note ' || n % 97 AS t FROM generate_series(1, 10000) n) s",
        "INSERT INTO rules (tenant_id, content, search_vector, created_at, last_confirmed_at, maturity, effectiveness_score,
                            applied_count, success_count)
         SELECT 'api-0', 'rule ' || n, to_tsvector('english', 'rule ' || n), now() - n * interval '1 minute', now(),
                (ARRAY['candidate', 'established', 'proven'])[1 + n % 3], 0.5, 4, 2
         FROM generate_series(1, 1000) n",
        "INSERT INTO rule_applications (tenant_id, rule_id, outcome, effectiveness_score, maturity)
         SELECT 'api-0', id, 'helpful', 0.5, 'candidate' FROM rules, generate_series(1, 4) WHERE tenant_id = 'api-0'",
        "INSERT INTO entities (tenant_id, canonical_name, entity_type)
         SELECT 'api-0', 'Entity ' || n, 'person' FROM generate_series(1, 5000) n",
        "UPDATE facts SET entity_id = (SELECT id FROM entities WHERE tenant_id = 'api-0' AND canonical_name = 'Entity 7')
         WHERE id IN (SELECT DISTINCT ON (predicate) id FROM facts WHERE tenant_id = 'api-0' ORDER BY predicate, id)",
        "UPDATE facts SET metadata = '{\"status\": \"fading\"}', last_confirmed_at = now() - interval '220 days'
         WHERE id IN (SELECT id FROM facts WHERE tenant_id = 'api-0' ORDER BY id DESC LIMIT 2000)",
        "INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
         SELECT 'api-0', 'fact', f.id, 'episode', e.id, 'derived_from'
         FROM (SELECT id, row_number() OVER () AS n FROM facts WHERE tenant_id = 'api-0') f
         JOIN (SELECT id, row_number() OVER () AS n FROM episodes WHERE tenant_id = 'api-0') e ON e.n = f.n",
        "INSERT INTO memory_events (tenant_id, event_type, memory_type, memory_id, actor, created_at)
         SELECT tenant_id, 'fact_created', 'fact', id, 'bench', created_at FROM facts WHERE tenant_id = 'api-0'",
    ] {
        pg.execute(statement).await?;
    }
    for table in ["facts", "episodes", "rules", "entities", "memory_links", "memory_events", "rule_applications"] {
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("VACUUM ANALYZE {table}"))).execute(&mut *pg).await?;
    }
    Ok(())
}

async fn ids(pg: &mut PgConnection) -> anyhow::Result<(uuid::Uuid, uuid::Uuid, uuid::Uuid, uuid::Uuid)> {
    Ok(sqlx::query_as(
        "SELECT (SELECT source_id FROM memory_links WHERE tenant_id = 'api-0' LIMIT 1),
                (SELECT id FROM rules WHERE tenant_id = 'api-0' LIMIT 1),
                (SELECT target_id FROM memory_links WHERE tenant_id = 'api-0' LIMIT 1),
                (SELECT id FROM entities WHERE tenant_id = 'api-0' AND canonical_name = 'Entity 7')",
    )
    .fetch_one(pg)
    .await?)
}
