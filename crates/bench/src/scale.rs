//! How costs grow from a hundredth of the facts to all of them: 1M facts of 1000 tenants, one of which has a fifth, with
//! 100k episodes, 10k rules and an event for each memory.
//!
//! The number of tenants grows with the table, so the small tenant keeps its size: if it becomes slower, the other tenants
//! are the cause. The large tenant grows with the table.

mod calls;
mod workers;

use std::path::Path;
use std::time::Duration;

use sqlx::{Connection, PgConnection};

use crate::facts::Vectors;
use crate::figures::Report;
use crate::population::{EPISODE, Growth, Loaded, RULE, grow};
use crate::world::World;

#[derive(clap::Args)]
pub struct Args {
    /// Facts at the end. Costs are also measured at a hundredth and a tenth of them.
    #[arg(long, default_value_t = 1_000_000)]
    facts: usize,
    /// Calls per kind.
    #[arg(long, default_value_t = 60)]
    rounds: usize,
}

/// Average facts per tenant.
const TENANT: usize = 1000;
/// Every fifth memory belongs to the large tenant, which has the number 0.
const LARGE: usize = 5;
/// A tenant of average size from the first step, which does not change afterwards.
const SMALL: usize = 1;

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let mut report = Report::new("scale");
    let data = tempfile::tempdir()?;
    let mut vectors = None;
    let mut loaded = Vec::new();
    let (mut facts, mut tenants) = (0, 1);
    for size in [args.facts / 100, args.facts / 10, args.facts] {
        let world = World::on(data.path()).await?;
        if vectors.is_none() {
            vectors = Some(Vectors::new(&world.engine).await?);
        }
        let Some(vectors) = &vectors else { continue };
        let old = tenants;
        tenants = (size / TENANT).max(old + 1);
        let owner = |number: usize| match number % LARGE {
            0 => 0,
            _ => old + (number - number / LARGE - 1) % (tenants - old),
        };
        let growth = Growth { prefix: "scale", facts: facts..size, tenants, owner: &owner };
        let mut pg = PgConnection::connect(&world.url).await?;
        loaded.push((size - facts, grow(&world, &mut pg, vectors, &growth).await?));
        facts = size;
        drop(pg);
        world.stop()?;
        one_size(&mut report, data.path(), size, args.rounds).await?;
    }
    loading(&mut report, &args, tenants, &loaded);
    Ok(report)
}

/// Measures on a newly started server, which has cached nothing about a smaller table.
async fn one_size(report: &mut Report, data: &Path, size: usize, rounds: usize) -> anyhow::Result<()> {
    let world = World::on(data).await?;
    let mut pg = PgConnection::connect(&world.url).await?;
    for (who, tenant) in [("large", 0), ("small", SMALL)] {
        calls::measure(report, &world, who, &format!("scale-{tenant}"), size, rounds).await?;
    }
    disk_size(report, &mut pg, size).await?;
    workers::measure(report, &world, &mut pg, size).await?;
    drop(pg);
    world.stop()
}

/// Measures the size on disk.
async fn disk_size(report: &mut Report, pg: &mut PgConnection, size: usize) -> anyhow::Result<()> {
    let (all, vectors, events): (i64, i64, i64) = sqlx::query_as(
        "SELECT pg_database_size(current_database()),
                pg_relation_size('facts_embedding') + pg_relation_size('episodes_embedding') + pg_relation_size('rules_embedding'),
                pg_total_relation_size('memory_events')",
    )
    .fetch_one(pg)
    .await?;
    let memories = (size + size / EPISODE + size / RULE) as f64;
    report.point("database", size, all as f64 / 1e6, "MB");
    report.point("… a memory, its event and indexes included", size, all as f64 / memories / 1000.0, "kB");
    report.point("… of it the vectors' indexes", size, vectors as f64 / memories / 1000.0, "kB");
    report.point("… of it the events", size, events as f64 / memories / 1000.0, "kB");
    Ok(())
}

fn loading(report: &mut Report, args: &Args, tenants: usize, loaded: &[(usize, Loaded)]) {
    report.note("facts", args.facts as f64, "");
    report.note("tenants", tenants as f64, "");
    report.note("facts of the large tenant", (args.facts / LARGE) as f64, "");
    let seconds = |part: fn(&Loaded) -> Duration| loaded.iter().map(|(_, one)| part(one).as_secs_f64()).sum::<f64>();
    let memories = (args.facts + args.facts / EPISODE + args.facts / RULE) as f64;
    report.note("loading by COPY into bare tables", seconds(|one| one.rows), "s");
    report.note("… memories a second, each with its event", memories / seconds(|one| one.rows), "/s");
    report.note("building the indexes, vacuum and analyze", seconds(|one| one.indexes), "s");
    report.note("training the vectors' indexes", seconds(|one| one.training), "s");
}
