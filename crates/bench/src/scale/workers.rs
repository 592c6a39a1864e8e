//! The cost of the background jobs, each of which covers all tenants.

use std::time::Instant;

use butler_domain::event::Origin;
use sqlx::{Executor, PgConnection};

use crate::figures::Report;
use crate::population::EPISODE;
use crate::world::World;

pub async fn measure(report: &mut Report, world: &World, pg: &mut PgConnection, size: usize) -> anyhow::Result<()> {
    let seconds = |began: Instant| began.elapsed().as_secs_f64();
    let hundredth = |rows: usize| (rows / 100).max(1) as i64;
    // one in a hundred was confirmed long ago
    sqlx::query(
        "UPDATE facts SET last_confirmed_at = last_confirmed_at - interval '220 days'
         WHERE id IN (SELECT id FROM facts WHERE validity = 'active' AND NOT memory_is_fading(metadata)
                      ORDER BY hashtext(id::text) LIMIT $1)",
    )
    .bind(hundredth(size))
    .execute(&mut *pg)
    .await?;
    pg.execute("VACUUM ANALYZE facts").await?;
    pg.execute("CHECKPOINT").await?;
    let began = Instant::now();
    let swept = world.memory.sweep(None).await?;
    report.point("sweep of all tenants, 1 % fades", size, seconds(began), "s");
    anyhow::ensure!(swept.facts_fading > 0, "the sweep found nothing to do: {swept:?}");
    let began = Instant::now();
    world.memory.sweep(None).await?;
    report.point("sweep of all tenants, nothing to do", size, seconds(began), "s");

    sqlx::query(
        "UPDATE episodes SET expires_at = now() - interval '1 hour'
         WHERE id IN (SELECT id FROM episodes ORDER BY hashtext(id::text) LIMIT $1)",
    )
    .bind(hundredth(size / EPISODE))
    .execute(&mut *pg)
    .await?;
    pg.execute("VACUUM ANALYZE episodes").await?;
    pg.execute("CHECKPOINT").await?;
    // no limit on the rest, so that only expired episodes are removed
    let most = size as u64;
    let began = Instant::now();
    let cleaned = world.memory.run_episode_cleanup(None, most, &Origin::default()).await?;
    report.point("cleanup of all tenants, 1 % expired", size, seconds(began) * 1000.0, "ms");
    anyhow::ensure!(cleaned.expired_deleted > 0, "the cleanup found nothing to do: {cleaned:?}");
    let began = Instant::now();
    world.memory.run_episode_cleanup(None, most, &Origin::default()).await?;
    report.point("cleanup of all tenants, nothing to do", size, seconds(began) * 1000.0, "ms");
    Ok(())
}
