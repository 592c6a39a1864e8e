//! Is everything there that was acknowledged, is everything whole, and does nobody see another's?

mod journaled;
mod rows;
mod walls;
mod whole;

use std::sync::Arc;

use sqlx::Connection;

use self::rows::Rows;
use crate::database::{self, patiently};
use crate::work::World;

/// While nobody works. The violations go to the journal.
pub async fn everything(world: &Arc<World>, database_url: &str, address: &str) -> anyhow::Result<()> {
    let (mut violations, rows) = patiently(async || read(database_url).await).await?;
    violations.extend(journaled::check(&world.journal(), &rows, &world.tenants));
    violations.extend(walls::check(world, &rows, address).await);
    let mut journal = world.journal();
    violations.into_iter().for_each(|violation| journal.violation(violation));
    Ok(())
}

async fn read(database_url: &str) -> anyhow::Result<(Vec<String>, Rows)> {
    let mut db = database::connect(database_url).await?;
    // one moment of the database: the workers go on meanwhile
    sqlx::raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").execute(&mut db).await?;
    let violations = whole::check(&mut db).await?;
    let rows = rows::load(&mut db).await?;
    db.close().await?;
    Ok((violations, rows))
}
