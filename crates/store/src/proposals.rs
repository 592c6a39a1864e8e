//! Facts and rules that wait for a person's approval, and episodes that consolidation leaves out until a person releases
//! them.

use butler_domain::ids::new_id;
use butler_domain::{EpisodeId, Source, TenantId, Timestamp};
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use crate::browse::{Listed, Page};
use crate::embedded::Embedded;
use crate::{Session, StoreError, WriteContext};

/// A proposal or a held episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    pub id: Uuid,
    /// `fact`, `rule` or `episode`.
    pub memory_type: String,
    pub subject: Option<String>,
    pub predicate: Option<String>,
    pub content: String,
    pub scope: Option<String>,
    pub source: Source,
    pub proposed_by: Option<String>,
    pub created_at: Timestamp,
    pub episode_ids: Vec<Uuid>,
    /// The fact that it would replace.
    pub replaces: Option<Uuid>,
    /// Why an episode is held.
    pub held_for: Option<Value>,
}

/// The outcome of an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approved {
    /// The id of the memory that is now active.
    Stored(Uuid),
    /// A person has decided already: `approved` or `rejected`.
    Decided(String),
    /// The memory cannot be stored, for this reason.
    Refused(String),
}

/// What waits in a tenant, oldest first.
pub async fn list(
    session: &mut Session,
    tenant: &TenantId,
    page: Page,
    now: Timestamp,
) -> Result<Listed<Waiting>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH waiting AS (
                    SELECT p.id, p.memory_type, p.memory, p.source, p.proposed_by, p.created_at, NULL::text AS content, NULL::jsonb AS held_for
                    FROM proposals p WHERE p.tenant_id = $1 AND p.state = 'open'
                    UNION ALL
                    SELECT e.id, 'episode', NULL, e.source, e.butler, e.created_at, left(e.content, 2000), e.held_for
                    FROM episodes e WHERE e.tenant_id = $1 AND e.held_for IS NOT NULL AND episode_is_alive(e.expires_at, $4))
                SELECT w.id AS "id!", w.memory_type AS "memory_type!", w.memory ->> 'subject' AS subject,
                       w.memory ->> 'predicate' AS predicate, coalesce(w.content, w.memory ->> 'content') AS "content!",
                       w.memory ->> 'scope' AS scope, w.source AS "source!", w.proposed_by, w.created_at AS "created_at!",
                       ARRAY(SELECT DISTINCT i::uuid FROM jsonb_array_elements_text(
                                 coalesce(nullif(w.memory -> 'derived_from', 'null'), '[]') || coalesce(nullif(w.memory -> 'source_episode_id', 'null'), '[]')) i)
                           AS "episode_ids!", (w.memory ->> 'replaces')::uuid AS replaces, w.held_for, count(*) OVER () AS "total!"
                FROM waiting w ORDER BY w.created_at, w.id LIMIT $2 OFFSET $3
                "#,
                tenant.as_str(),
                page.limit,
                page.offset,
                now
            )
            .fetch_all(pg)
        })
        .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let rows = rows.into_iter().map(|row| {
        let bad = |error: butler_domain::UnknownName| StoreError::BadData {
            table: "proposals",
            column: "source",
            id: row.id.to_string(),
            reason: error.to_string(),
        };
        Ok(Waiting {
            id: row.id,
            memory_type: row.memory_type,
            subject: row.subject,
            predicate: row.predicate,
            content: row.content,
            scope: row.scope,
            source: row.source.parse().map_err(bad)?,
            proposed_by: row.proposed_by,
            created_at: row.created_at,
            episode_ids: row.episode_ids,
            replaces: row.replaces,
            held_for: row.held_for,
        })
    });
    Ok(Listed { rows: rows.collect::<Result<_, StoreError>>()?, total })
}

/// Whether the tenant has a proposal or a held episode of this id.
pub async fn exists(session: &mut Session, tenant: &TenantId, id: Uuid) -> Result<bool, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT FROM proposals WHERE tenant_id = $1 AND id = $2)
                       OR EXISTS (SELECT FROM episodes WHERE tenant_id = $1 AND id = $2 AND held_for IS NOT NULL) AS "exists!""#,
                tenant.as_str(),
                id
            )
            .fetch_one(pg)
        })
        .await
}

/// Whether the tenant has a proposal, or an episode that is or was held, of this id.
pub async fn was_held(session: &mut Session, tenant: &TenantId, id: Uuid) -> Result<bool, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT FROM proposals WHERE tenant_id = $1 AND id = $2)
                       OR EXISTS (SELECT FROM episodes e WHERE e.tenant_id = $1 AND e.id = $2 AND (e.held_for IS NOT NULL OR EXISTS (
                           SELECT FROM memory_events v WHERE v.tenant_id = $1 AND v.memory_id = $2 AND v.event_type = 'episode_released')))
                       AS "exists!""#,
                tenant.as_str(),
                id
            )
            .fetch_one(pg)
        })
        .await
}

/// The text of an episode, in which the reasons to hold it are found again.
pub async fn episode_text(
    session: &mut Session,
    tenant: &TenantId,
    id: EpisodeId,
) -> Result<Option<String>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!("SELECT content FROM episodes WHERE tenant_id = $1 AND id = $2", tenant.as_str(), id.0)
                .fetch_optional(pg)
        })
        .await
}

/// The subject, predicate and content of a proposal, as they are embedded. A rule has content only.
pub async fn text(
    session: &mut Session,
    tenant: &TenantId,
    id: Uuid,
) -> Result<Option<(Option<String>, Option<String>, String)>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT memory ->> 'subject' AS subject, memory ->> 'predicate' AS predicate, memory ->> 'content' AS "content!"
                   FROM proposals WHERE tenant_id = $1 AND id = $2"#,
                tenant.as_str(),
                id
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(row.map(|row| (row.subject, row.predicate, row.content)))
}

/// Stores a proposal as a memory; `None` if there is no such proposal.
pub async fn approve(write: WriteContext<'_>, id: Uuid, embedding: &Embedded) -> Result<Option<Approved>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT outcome AS "outcome!", memory_id FROM approve_proposal($1, $2, $3, $4, $5, $6, $7)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                id,
                Json(embedding.model.row()) as _,
                &embedding.vector[..]
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(row.map(|row| match (&row.outcome[..], row.memory_id) {
        ("stored", Some(id)) => Approved::Stored(id),
        ("approved" | "rejected", _) => Approved::Decided(row.outcome),
        _ => Approved::Refused(row.outcome),
    }))
}

/// Rejects a proposal for good. Returns its state before; `None` if there is no such proposal.
pub async fn reject(write: WriteContext<'_>, id: Uuid) -> Result<Option<String>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    session
        .run(|pg| {
            sqlx::query_scalar!(
                "SELECT reject_proposal($1, $2, $3, $4, $5)",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                id
            )
            .fetch_one(pg)
        })
        .await
}

/// Lets consolidation read a held episode. Returns `false` if it was not held, `None` if there is no such episode.
pub async fn release(write: WriteContext<'_>, id: EpisodeId) -> Result<Option<bool>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    session
        .run(|pg| {
            sqlx::query_scalar!(
                "SELECT release_episode($1, $2, $3, $4, $5)",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                id.0
            )
            .fetch_one(pg)
        })
        .await
}

/// A proposal that waits again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reopened {
    /// The id under which it waits.
    pub id: Uuid,
    /// `fact` or `rule`.
    pub memory_type: String,
    /// The state it was in: `open`, `approved` or `rejected`.
    pub was: String,
}

/// Opens a proposal again that was decided on. `None`: there is no such proposal.
pub async fn reopen(write: WriteContext<'_>, id: Uuid) -> Result<Option<Reopened>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT was AS "was!", kind AS "kind!", reopened_id AS "reopened_id!" FROM reopen_proposal($1, $2, $3, $4, $5, $6)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                id,
                new_id(now)
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(row.map(|row| Reopened { id: row.reopened_id, memory_type: row.kind, was: row.was }))
}

/// Undoes the release or the rejection of an episode. `false`: there is no such episode, or it is consolidated.
pub async fn hold(write: WriteContext<'_>, id: EpisodeId, reasons: &Value) -> Result<bool, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT hold_episode($1, $2, $3, $4, $5, $6) AS "held!""#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                id.0,
                reasons
            )
            .fetch_one(pg)
        })
        .await
}
