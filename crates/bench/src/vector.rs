//! Vector search compared with exact search: recall@20 and time, in one tenant and in small tenants of a large table.

use std::collections::HashSet;
use std::time::Instant;

use butler_domain::TenantId;
use butler_memory::search::Mode;
use sqlx::{Connection, Executor, PgConnection};
use uuid::Uuid;

use crate::facts::{Dice, Vectors, Words, load, sentence};
use crate::figures::{Report, Samples};
use crate::recall::{prepare, search_once};
use crate::world::World;

#[derive(clap::Args)]
pub struct Args {
    /// Facts in one tenant.
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000])]
    sizes: Vec<usize>,
    /// Also measure tenants with a hundredth and a fifth of a table of this many facts; 0 to skip.
    #[arg(long, default_value_t = 0)]
    spread: usize,
    /// Queries per tenant.
    #[arg(long, default_value_t = 50)]
    rounds: usize,
    /// Use this database instead of a new one.
    #[arg(long)]
    database_url: Option<String>,
}

const DEPTH: usize = 20;

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let mut report = Report::new("vector");
    let world = World::start(args.database_url.as_deref()).await?;
    let mut pg = PgConnection::connect(&world.url).await?;
    let vectors = Vectors::new(&world.engine).await?;
    for size in &args.sizes {
        let prefix = format!("vector{size}");
        prepare(&world, &mut pg, &vectors, &prefix, *size, Words::Ordinary).await?;
        let measured = measure(&world, &mut pg, &format!("{prefix}-0"), args.rounds).await?;
        let goal = if *size >= 1_000_000 { 0.95 } else { 0.98 };
        report.note(format!("way taken at {size}: {} (probes)", measured.path), measured.probes as f64, "");
        report.at_least(format!("recall@{DEPTH} against exact at {size}"), measured.recall, "", goal);
        report.note(format!("exact search of all rows at {size}, p50"), measured.exact.p50(), "ms");
        let ratio = measured.searched.p50() / measured.exact.p50();
        if *size >= 1_000_000 {
            report.at_most(format!("search at {size}, p50"), ratio, "× exact", 0.25);
        } else {
            report.note(format!("search at {size}, p50"), ratio, "× exact");
        }
    }
    if args.spread > 0 {
        pg.execute("TRUNCATE facts CASCADE").await?;
        pg.execute("DELETE FROM vector_indexes WHERE relation = 'facts'").await?;
        // one tenant has a fifth, the others share the rest evenly
        load(&mut pg, &vectors, "spread", 80, args.spread / 5 * 4, Words::Ordinary).await?;
        load(&mut pg, &vectors, "large", 1, args.spread / 5, Words::Ordinary).await?;
        world.memory.retrain_indexes().await?;
        let small = measure(&world, &mut pg, "spread-7", args.rounds).await?;
        let part = format!("1 % of {}", args.spread);
        report.note(format!("way taken by {part}: {} (probes)", small.path), small.probes as f64, "");
        report.at_least(format!("recall@{DEPTH} of a tenant with {part}"), small.recall, "", 0.99);
        report.at_most(format!("search of a tenant with {part}, p50"), small.searched.p50(), "ms", 20.0);
        let large = measure(&world, &mut pg, "large-0", args.rounds).await?;
        let part = format!("a fifth of {}", args.spread);
        report.note(format!("way taken by {part}: {} (probes)", large.path), large.probes as f64, "");
        report.at_least(format!("recall@{DEPTH} of a tenant with {part}"), large.recall, "", 0.95);
        report.note(format!("search of a tenant with {part}, p50"), large.searched.p50(), "ms");
        let ratio = large.searched.p50() / large.exact.p50();
        report.at_most(format!("search of a tenant with {part}, p50"), ratio, "× exact", 0.25);
    }
    world.stop()?;
    Ok(report)
}

struct Measured {
    recall: f64,
    searched: Samples,
    exact: Samples,
    path: String,
    probes: i64,
}

async fn measure(world: &World, pg: &mut PgConnection, tenant: &str, rounds: usize) -> anyhow::Result<Measured> {
    use butler_embed::Embedder;
    let name = TenantId::new(tenant)?;
    let mut dice = Dice::new(4242);
    let (mut found, mut wanted) = (0, 0);
    let (mut searched, mut exact) = (Samples::default(), Samples::default());
    let (mut path, mut probes) = (String::new(), 0);
    for round in 0..rounds {
        let query = sentence(&mut dice, 5_000_000 + round);
        let vector = world.engine.embed(Some(&query)).await?;
        let began = Instant::now();
        let truth: Vec<Uuid> = sqlx::query_scalar(
            "SELECT id FROM (SELECT id, embedding <=> $1::real[]::vector AS d FROM facts WHERE tenant_id = $2 AND validity = 'active' OFFSET 0) f
             ORDER BY d LIMIT 20",
        )
        .bind(&vector[..])
        .bind(tenant)
        .fetch_all(&mut *pg)
        .await?;
        exact.add(began.elapsed());
        let began = Instant::now();
        let hits = search_once(world, &name, Mode::Semantic, &query, DEPTH).await?;
        searched.add(began.elapsed());
        let truth: HashSet<Uuid> = truth.into_iter().collect();
        found += hits.iter().filter(|hit| truth.contains(&hit.id)).count();
        wanted += truth.len();
        if let Some(explain) = hits.first().and_then(|hit| hit.explain.as_ref()) {
            path = explain.vector_path.clone().unwrap_or_default();
            probes = explain.probes.unwrap_or(0);
        }
    }
    Ok(Measured { recall: found as f64 / wanted.max(1) as f64, searched, exact, path, probes })
}
