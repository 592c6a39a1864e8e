//! Episodes for lists and detail pages.

use butler_domain::{ConsolidationStatus, Episode, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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
    if let Some(ids) = &filter.ids {
        return among(session, tenant, filter, ids, page, now).await;
    }
    let total = count(session, tenant, filter).await?;
    let ids = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                SELECT id FROM episodes
                WHERE tenant_id = $1 AND ($2::text IS NULL OR butler = $2) AND ($3::text IS NULL OR consolidation_status = $3)
                  AND created_at >= coalesce($4::timestamptz, '-infinity') AND created_at <= coalesce($5::timestamptz, 'infinity')
                  AND ($6::text IS NULL OR search_vector @@ (SELECT browse_query($1, $6))
                       OR ((SELECT browse_query($1, $6)) IS NULL AND strpos(lower(content), lower($6)) > 0))
                  AND ($7::uuid IS NULL OR session_id = $7)
                  AND ($8::timestamptz IS NULL OR (created_at <= $8 AND (created_at < $8 OR id > $9)))
                  AND ($12::timestamptz IS NULL OR occurred_at >= $12) AND ($13::timestamptz IS NULL OR occurred_at < $13)
                ORDER BY created_at DESC, id LIMIT $10 OFFSET $11
                "#,
                tenant.as_str(),
                filter.butler.as_deref(),
                filter.status.map(ConsolidationStatus::as_str),
                filter.from,
                filter.to,
                filter.words.as_deref(),
                filter.session,
                page.after_at(),
                page.after_id(),
                page.limit,
                page.offset,
                filter.since,
                filter.until,
            )
            .fetch_all(pg)
        })
        .await?;
    let rows = by_ids(session, tenant, &ids, Some(LISTED_CHARS), now).await?;
    Ok(Listed { rows, total })
}

/// The episodes of `ids` that match the filter, in their order. A separate statement, because this order would keep the
/// index on time from serving a page.
async fn among(
    session: &mut Session,
    tenant: &TenantId,
    filter: &EpisodeFilter,
    ids: &[Uuid],
    page: Page,
    now: Timestamp,
) -> Result<Listed<EpisodeItem>, StoreError> {
    let found = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                SELECT id FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (episode_id, place) JOIN episodes ON id = episode_id
                WHERE tenant_id = $1 AND ($3::text IS NULL OR butler = $3) AND ($4::text IS NULL OR consolidation_status = $4)
                  AND created_at >= coalesce($5::timestamptz, '-infinity') AND created_at <= coalesce($6::timestamptz, 'infinity')
                  AND ($7::uuid IS NULL OR session_id = $7)
                  AND ($8::timestamptz IS NULL OR occurred_at >= $8) AND ($9::timestamptz IS NULL OR occurred_at < $9)
                ORDER BY place
                "#,
                tenant.as_str(),
                ids,
                filter.butler.as_deref(),
                filter.status.map(ConsolidationStatus::as_str),
                filter.from,
                filter.to,
                filter.session,
                filter.since,
                filter.until,
            )
            .fetch_all(pg)
        })
        .await?;
    let size = |number: i64| usize::try_from(number).unwrap_or(0);
    let shown: Vec<Uuid> = found.iter().copied().skip(size(page.offset)).take(size(page.limit)).collect();
    let rows = by_ids(session, tenant, &shown, Some(LISTED_CHARS), now).await?;
    Ok(Listed { rows, total: found.len() as i64 })
}

async fn count(session: &mut Session, tenant: &TenantId, filter: &EpisodeFilter) -> Result<i64, StoreError> {
    let filters_time = filter.since.is_some() || filter.until.is_some();
    let filters_source = filter.butler.is_some() || filter.session.is_some() || filter.status.is_some();
    if !filters_time && !filters_source && filter.words.is_none() {
        return count_all(session, tenant, filter).await;
    }
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                SELECT count(*) AS "count!" FROM episodes
                WHERE tenant_id = $1 AND ($2::text IS NULL OR butler = $2) AND ($3::text IS NULL OR consolidation_status = $3)
                  AND created_at >= coalesce($4::timestamptz, '-infinity') AND created_at <= coalesce($5::timestamptz, 'infinity')
                  AND ($6::text IS NULL OR search_vector @@ (SELECT browse_query($1, $6))
                       OR ((SELECT browse_query($1, $6)) IS NULL AND strpos(lower(content), lower($6)) > 0))
                  AND ($7::uuid IS NULL OR session_id = $7)
                  AND ($8::timestamptz IS NULL OR occurred_at >= $8) AND ($9::timestamptz IS NULL OR occurred_at < $9)
                "#,
                tenant.as_str(),
                filter.butler.as_deref(),
                filter.status.map(ConsolidationStatus::as_str),
                filter.from,
                filter.to,
                filter.words.as_deref(),
                filter.session,
                filter.since,
                filter.until,
            )
            .fetch_one(pg)
        })
        .await
}

/// Counts episodes without a text filter. A separate statement, because the index on time answers it alone; a plan that
/// also filters by text would read every episode.
async fn count_all(session: &mut Session, tenant: &TenantId, filter: &EpisodeFilter) -> Result<i64, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                SELECT count(*) AS "count!" FROM episodes
                WHERE tenant_id = $1
                  AND created_at >= coalesce($2::timestamptz, '-infinity') AND created_at <= coalesce($3::timestamptz, 'infinity')
                "#,
                tenant.as_str(),
                filter.from,
                filter.to,
            )
            .fetch_one(pg)
        })
        .await
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
                FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (episode_id, place) JOIN episodes ON id = episode_id
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
