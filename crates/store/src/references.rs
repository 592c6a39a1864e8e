//! References: the last characters of an id, which identify a memory in a line of a context block.

use std::collections::HashMap;

use butler_domain::{MemoryType, TenantId};
use uuid::Uuid;

use crate::{Session, StoreError};

/// The shortest ending of each id that no other memory of the tenant has.
pub async fn of(session: &mut Session, tenant: &TenantId, ids: &[Uuid]) -> Result<HashMap<Uuid, String>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT id AS "id!", reference AS "reference!" FROM memory_references($1, $2)"#,
                tenant.as_str(),
                ids
            )
            .fetch_all(pg)
        })
        .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.reference)).collect())
}

/// The memories of this type whose id has this ending, at most a few. `end` has at least four hexadecimal digits and no
/// hyphens.
pub async fn referred(
    session: &mut Session,
    tenant: &TenantId,
    memory_type: MemoryType,
    end: &str,
) -> Result<Vec<Uuid>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT memories_referred($1, $2, $3) AS "ids!""#,
                tenant.as_str(),
                memory_type.as_str(),
                end
            )
            .fetch_one(pg)
        })
        .await
}
