//! What a whole database holds, for backups to be compared with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Session, StoreError};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    pub migrations: Vec<String>,
    /// By table, of all tenants.
    pub rows: BTreeMap<String, i64>,
}

/// Under this name others read exactly what this transaction sees, as long as it lasts.
pub async fn export_snapshot(session: &mut Session) -> Result<String, StoreError> {
    session.run(|pg| sqlx::query_scalar("SELECT pg_export_snapshot()").fetch_one(pg)).await
}

/// On an owner's session.
pub async fn contents(session: &mut Session) -> Result<Contents, StoreError> {
    let migrations = session
        .run(|pg| sqlx::query_scalar("SELECT version FROM butler_migrations ORDER BY version").fetch_all(pg))
        .await?;
    let rows: Vec<(String, i64)> = session
        .run(|pg| {
            sqlx::query_as(
                "SELECT 'entities', count(*) FROM entities UNION ALL SELECT 'episodes', count(*) FROM episodes
                 UNION ALL SELECT 'facts', count(*) FROM facts UNION ALL SELECT 'rules', count(*) FROM rules
                 UNION ALL SELECT 'memory_links', count(*) FROM memory_links
                 UNION ALL SELECT 'rule_applications', count(*) FROM rule_applications
                 UNION ALL SELECT 'memory_events', count(*) FROM memory_events
                 UNION ALL SELECT 'tokens', count(*) FROM tokens UNION ALL SELECT 'schedules', count(*) FROM schedules",
            )
            .fetch_all(pg)
        })
        .await?;
    Ok(Contents { migrations, rows: rows.into_iter().collect() })
}
