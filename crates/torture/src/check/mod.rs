//! Checks after a round: everything acknowledged is there, the database is consistent, no tenant sees another's memory.

mod against_journal;
mod integrity;
mod isolation;
mod rows;

use std::sync::Arc;

use sqlx::Connection;

use self::rows::Rows;
use crate::database::{self, retry};
use crate::work::World;

/// Runs all checks while no client works, and adds the violations to the journal.
pub async fn all(world: &Arc<World>, database_url: &str, address: &str) -> anyhow::Result<()> {
    let (mut violations, rows) = retry(async || read(database_url).await).await?;
    violations.extend(against_journal::check(&world.journal(), &rows, &world.tenants));
    violations.extend(isolation::check(world, &rows, address).await);
    let mut journal = world.journal();
    violations.into_iter().for_each(|violation| journal.violation(violation));
    Ok(())
}

async fn read(database_url: &str) -> anyhow::Result<(Vec<String>, Rows)> {
    let mut db = database::connect(database_url).await?;
    // one snapshot, because the background jobs go on
    sqlx::raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").execute(&mut db).await?;
    let violations = integrity::check(&mut db).await?;
    let rows = rows::load(&mut db).await?;
    db.close().await?;
    Ok((violations, rows))
}
