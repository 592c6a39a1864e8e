//! The contents of a butler's schema, to compare a backup with.

use std::collections::BTreeMap;

use butler_domain::event::EventType;
use butler_domain::{TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{OwnerContext, Session, StoreError};

/// The migrations of a schema and the number of rows in each table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    pub migrations: Vec<String>,
    /// Rows of all tenants, by table.
    pub rows: BTreeMap<String, i64>,
}

/// Every table of a butler's schema.
const TABLES: [&str; 30] = [
    "butler_clock",
    "butler_functions",
    "butler_migrations",
    "conflicts",
    "conflicts_due",
    "embedding_versions",
    "entities",
    "episodes",
    "fact_beliefs",
    "facts",
    "idempotency_keys",
    "injections",
    "job_runs",
    "memory_events",
    "memory_links",
    "merges",
    "oauth_clients",
    "oauth_grants",
    "oauth_logins",
    "oauth_refresh_tokens",
    "predicates",
    "proposals",
    "rule_applications",
    "rules",
    "schedules",
    "tokens",
    "tombstone_keys",
    "tombstones",
    "vector_indexes",
    "words",
];
/// How many names an error lists: enough to recognise their owner.
const NAMED: i64 = 5;

/// What psql runs before and after a schema's dump, with the variables `schema` and `kept`: the restored schema
/// replaces the old one at the commit.
pub const SWAP_BEGIN: &str = "BEGIN;\nALTER SCHEMA :\"schema\" RENAME TO :\"kept\";\n";
/// Ends the transaction of [`SWAP_BEGIN`]; until then every reader sees the old schema.
pub const SWAP_END: &str = "\nCOMMIT;\n";

/// Exports the transaction's snapshot. Other connections can read the same state while the transaction lasts.
pub async fn export_snapshot(session: &mut Session) -> Result<String, StoreError> {
    session.run(|pg| sqlx::query_scalar!(r#"SELECT pg_export_snapshot() AS "name!""#).fetch_one(pg)).await
}

/// Tables in the same database outside the butler's `schema`: the first few names.
pub async fn tables_of_others(session: &mut Session, schema: &str) -> Result<Vec<String>, StoreError> {
    let ours = TABLES.map(str::to_owned);
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT n.nspname || '.' || c.relname AS "name!" FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                   WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%'
                     AND NOT EXISTS (SELECT FROM pg_depend d
                                     WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
                     AND NOT (n.nspname = $1 AND c.relname = ANY ($2))
                   ORDER BY 1 LIMIT $3"#,
                schema,
                &ours[..],
                NAMED
            )
            .fetch_all(pg)
        })
        .await
}

/// Counts the rows of every table. Needs the owner's session.
pub async fn contents(session: &mut Session) -> Result<Contents, StoreError> {
    let migrations = session
        .run(|pg| sqlx::query_scalar!("SELECT version FROM butler_migrations ORDER BY version").fetch_all(pg))
        .await?;
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT 'entities' AS "of!", count(*) AS "rows!" FROM entities
                   UNION ALL SELECT 'episodes', count(*) FROM episodes UNION ALL SELECT 'facts', count(*) FROM facts
                   UNION ALL SELECT 'rules', count(*) FROM rules UNION ALL SELECT 'memory_links', count(*) FROM memory_links
                   UNION ALL SELECT 'rule_applications', count(*) FROM rule_applications
                   UNION ALL SELECT 'memory_events', count(*) FROM memory_events
                   UNION ALL SELECT 'tokens', count(*) FROM tokens UNION ALL SELECT 'schedules', count(*) FROM schedules"#
            )
            .fetch_all(pg)
        })
        .await?;
    Ok(Contents { migrations, rows: rows.into_iter().map(|row| (row.of, row.rows)).collect() })
}

/// An erasure that a backup from before it would undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Erasure {
    pub tenant_id: String,
    /// The entity that was erased; `None`: the whole tenant.
    pub entity_id: Option<Uuid>,
    pub erased_at: Timestamp,
}

/// The erasures since a moment, oldest first. Needs the owner's session.
pub async fn erasures_since(session: &mut Session, since: Timestamp) -> Result<Vec<Erasure>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                Erasure,
                "SELECT tenant_id, memory_id AS entity_id, created_at AS erased_at FROM memory_events
                 WHERE event_type = ANY ($2) AND created_at >= $1 ORDER BY created_at, id",
                since,
                &[EventType::EntityErased, EventType::TenantErased].map(|erased| erased.as_str().to_owned())[..],
            )
            .fetch_all(pg)
        })
        .await
}

/// Records in the audit stream of each tenant, and always of the default tenant, that a backup replaced its memory.
/// Needs the owner's session.
pub async fn record_restore(write: OwnerContext<'_>, backup: &str) -> Result<(), StoreError> {
    let OwnerContext { session, now, origin } = write;
    let default_tenant = TenantId::default();
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT FROM (SELECT tenant_id FROM memory_events UNION SELECT $5) AS restored (tenant_id),
                     record_event(restored.tenant_id, $1, $2, $3, gen_random_uuid(), $4, NULL, NULL,
                                  jsonb_build_object('backup', $6::text))",
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                EventType::BackupRestored.as_str(),
                default_tenant.as_str(),
                backup
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}
