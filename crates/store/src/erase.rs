//! Erasing all memory of a tenant.

use butler_domain::ids::new_id;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;

use crate::{StoreError, WriteContext};

/// How many rows of each kind an erasure of a tenant deletes, and how many events it leaves without text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantCounts {
    pub facts: u64,
    pub rules: u64,
    pub episodes: u64,
    pub entities: u64,
    pub predicates: u64,
    /// All events of the tenant. They stay.
    pub events: u64,
    pub events_redacted: u64,
}

impl TenantCounts {
    /// Whether the tenant was never seen here.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// Deletes all memory of a tenant, in one transaction, or only counts it.
pub async fn tenant(write: WriteContext<'_>, dry_run: bool) -> Result<TenantCounts, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let mut tx = session.begin().await?;
    // It reads every row of the tenant.
    tx.run(|pg| sqlx::raw_sql("SET LOCAL statement_timeout = 0").execute(pg)).await?;
    let counts = tx
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT erase_tenant($1, $2, $3, $4, $5, $6) AS "counts!: Json<TenantCounts>""#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                dry_run,
            )
            .fetch_one(pg)
        })
        .await?;
    tx.commit().await?;
    Ok(counts.0)
}
