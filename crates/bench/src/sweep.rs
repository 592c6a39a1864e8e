//! The decay sweep over many facts, a tenth of which change their state.

use std::time::Instant;

use sqlx::{Connection, Executor, PgConnection};

use crate::facts::{Vectors, Words, load};
use crate::figures::{Report, Samples};
use crate::world::World;

#[derive(clap::Args)]
pub struct Args {
    /// Facts in the table.
    #[arg(long, default_value_t = 100_000)]
    rows: usize,
    /// Use this database instead of a new one.
    #[arg(long)]
    database_url: Option<String>,
}

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let mut report = Report::new("sweep");
    let world = World::start(args.database_url.as_deref()).await?;
    let mut pg = PgConnection::connect(&world.url).await?;
    let vectors = Vectors::new(&world.engine).await?;
    load(&mut pg, &vectors, "bench", 1, args.rows, Words::Ordinary).await?;
    let mut sweeps = Samples::default();
    let mut transitions = 0;
    for _ in 0..3 {
        // five in a hundred fade, five expire
        pg.execute(
            "UPDATE facts SET validity = 'active', metadata = '{}', decay_rate = 0.008,
                    last_confirmed_at = now() - CASE hashtext(id::text) & 127
                        WHEN 0 THEN interval '500 days' WHEN 1 THEN interval '500 days' WHEN 2 THEN interval '500 days'
                        WHEN 3 THEN interval '500 days' WHEN 4 THEN interval '500 days' WHEN 5 THEN interval '500 days'
                        WHEN 6 THEN interval '500 days' WHEN 7 THEN interval '250 days' WHEN 8 THEN interval '250 days'
                        WHEN 9 THEN interval '250 days' WHEN 10 THEN interval '250 days' WHEN 11 THEN interval '250 days'
                        WHEN 12 THEN interval '250 days' ELSE interval '1 day' END",
        )
        .await?;
        pg.execute("VACUUM ANALYZE facts").await?;
        pg.execute("CHECKPOINT").await?;
        let began = Instant::now();
        let swept = world.memory.sweep(None).await?;
        sweeps.add(began.elapsed());
        transitions = swept.facts_fading + swept.facts_expired;
        anyhow::ensure!(
            world.memory.sweep(None).await? == butler_memory::SweepReport::default(),
            "a second sweep changed something"
        );
    }
    report.note("facts", args.rows as f64, "");
    report.note("transitions", transitions as f64, "");
    report.at_most("sweep (median of 3)", sweeps.p50() / 1000.0, "s", 3.0);
    let began = Instant::now();
    world.memory.sweep(None).await?;
    report.note("sweep with nothing to do", began.elapsed().as_secs_f64(), "s");
    world.stop()?;
    Ok(report)
}
