//! Episodes for lists and detail pages.

use butler_domain::{ConsolidationStatus, Episode, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::{LISTED_CHARS, Listed, Page};
use crate::rows::EpisodeRow;
use crate::{Session, StoreError};

/// The order of a list of episodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeSort {
    #[default]
    Newest,
    /// The best match of the query first.
    Best,
}

/// Selects episodes; `None` leaves a filter out.
#[derive(Debug, Clone, Default)]
pub struct EpisodeFilter {
    pub butler: Option<String>,
    pub session: Option<Uuid>,
    pub status: Option<ConsolidationStatus>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// Happened from then on.
    pub since: Option<Timestamp>,
    /// Happened before then.
    pub until: Option<Timestamp>,
    pub words: Option<String>,
    /// Only these, in their order; the words do not apply.
    pub ids: Option<Vec<Uuid>>,
    pub sort: EpisodeSort,
}

impl EpisodeFilter {
    /// Whether it leaves out episodes that have the words.
    pub fn is_narrow(&self) -> bool {
        self.butler.is_some()
            || self.session.is_some()
            || self.status.is_some()
            || self.from.is_some()
            || self.to.is_some()
    }
}

/// An episode in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EpisodeItem {
    #[serde(flatten)]
    pub episode: Episode,
    /// Whether it has expired or was forgotten. The next cleanup removes it.
    pub expired: bool,
    /// How many facts and rules were learned from it.
    pub produced: i64,
    /// Whether `content` is cut.
    pub truncated: bool,
    /// How well it matches the query, in the order `best`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// One page of the episodes that match the filter. Long texts are cut.
pub async fn list(
    session: &mut Session,
    tenant: &TenantId,
    filter: &EpisodeFilter,
    page: Page,
    now: Timestamp,
) -> Result<Listed<EpisodeItem>, StoreError> {
    let filter = json!({
        "butler": filter.butler, "session_id": filter.session, "status": filter.status.map(ConsolidationStatus::as_str),
        "stored_from": filter.from, "stored_to": filter.to, "since": filter.since, "until": filter.until,
        "words": filter.words, "ids": filter.ids,
    });
    let found = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT ids AS "ids!", total AS "total!" FROM browse_episodes($1, $2, $3, $4, $5, $6)"#,
                tenant.as_str(),
                filter,
                page.after_at(),
                page.after_id(),
                page.limit,
                page.offset,
            )
            .fetch_one(pg)
        })
        .await?;
    let rows = by_ids(session, tenant, &found.ids, Some(LISTED_CHARS), now).await?;
    Ok(Listed { rows, total: found.total })
}

/// The whole episode; `None` if this tenant has no such episode.
pub async fn one(
    session: &mut Session,
    tenant: &TenantId,
    id: Uuid,
    now: Timestamp,
) -> Result<Option<EpisodeItem>, StoreError> {
    Ok(by_ids(session, tenant, &[id], None, now).await?.pop())
}

async fn by_ids(
    session: &mut Session,
    tenant: &TenantId,
    ids: &[Uuid],
    chars: Option<i32>,
    now: Timestamp,
) -> Result<Vec<EpisodeItem>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query_as!(
                EpisodeRow,
                r#"
                SELECT id, tenant_id, butler, session_id,
                       CASE WHEN $3::integer IS NULL THEN content ELSE left(content, $3 + 1) END AS "content!",
                       importance, reference_count, consolidated, consolidation_status, retry_count, last_error,
                       next_consolidation_retry_at, created_at, occurred_at, last_referenced_at, expires_at, source, held_for, metadata
                FROM unnest($2::uuid[]) WITH ORDINALITY AS given (episode_id, place) JOIN episodes ON id = episode_id
                WHERE tenant_id = $1 ORDER BY place
                "#,
                tenant.as_str(),
                ids,
                chars
            )
            .fetch_all(pg)
        })
        .await?;
    let produced = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT target_id, count(*) AS "count!" FROM memory_links
                   WHERE tenant_id = $1 AND target_type = 'episode' AND target_id = ANY ($2) AND relation = 'derived_from'
                   GROUP BY target_id"#,
                tenant.as_str(),
                ids
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter()
        .map(|row| {
            let mut episode = Episode::try_from(row)?;
            let truncated = super::cut(&mut episode.content, chars);
            let expired = episode.expires_at.is_some_and(|end| end <= now);
            let produced = produced.iter().find(|row| row.target_id == episode.id.0).map_or(0, |row| row.count);
            Ok(EpisodeItem { episode, expired, produced, truncated, score: None })
        })
        .collect()
}
