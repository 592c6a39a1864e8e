//! One memory by its id. The statement that reads it also counts the reference.

use butler_domain::times::FactDates;
use butler_domain::{Episode, EpisodeId, Fact, FactId, Rule, RuleId, TenantId, Timestamp};
use sqlx::types::Json;

use crate::rows::{EpisodeRow, FactRow, RuleRow};
use crate::times::{PERIODS, Period, PeriodRow};
use crate::{Session, StoreError};

/// Reads an episode and counts the reference; `None` if this tenant has no such episode.
pub async fn episode(
    session: &mut Session,
    tenant: &TenantId,
    id: EpisodeId,
    now: Timestamp,
) -> Result<Option<Episode>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query_as!(
                EpisodeRow,
                "UPDATE episodes SET reference_count = reference_count + 1, last_referenced_at = $3
                 WHERE tenant_id = $1 AND id = $2
                 RETURNING id, tenant_id, butler, session_id, content, importance, reference_count, consolidated,
                           consolidation_status, retry_count, last_error, next_consolidation_retry_at, created_at, occurred_at,
                           last_referenced_at, expires_at, source, held_for, metadata",
                tenant.as_str(),
                id.0,
                now
            )
            .fetch_optional(pg)
        })
        .await?;
    row.map(Episode::try_from).transpose()
}

/// The fact, and the timeline of its key.
pub async fn fact(
    session: &mut Session,
    tenant: &TenantId,
    id: FactId,
    now: Timestamp,
) -> Result<Option<(Fact, Vec<Period>)>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query_as!(
                FactRow,
                r#"UPDATE facts SET reference_count = reference_count + 1, last_referenced_at = $3
                   WHERE tenant_id = $1 AND id = $2
                   RETURNING id, tenant_id, subject, predicate, content, importance, confidence, decay_rate, permanence,
                             source, source_butler, source_episode_id, supersedes_id, entity_id, object_entity_id, validity, scope, reference_count,
                             created_at, last_referenced_at, last_confirmed_at,
                             fact_dates(valid_from, valid_to, observed_at, dates, holds_from, holds_to) AS "dates: Json<FactDates>",
                             tags, metadata,
                             fact_timeline(tenant_id, scope, holder, predicate_key, $3, $4) AS "periods: Json<Vec<PeriodRow>>""#,
                tenant.as_str(),
                id.0,
                now,
                PERIODS
            )
            .fetch_optional(pg)
        })
        .await?;
    row.map(|mut row| {
        let periods =
            row.periods.take().map(|Json(rows)| rows.into_iter().map(Period::from).collect()).unwrap_or_default();
        Ok((Fact::try_from(row)?, periods))
    })
    .transpose()
}

/// Reads a rule and counts the reference; `None` if this tenant has no such rule.
pub async fn rule(
    session: &mut Session,
    tenant: &TenantId,
    id: RuleId,
    now: Timestamp,
) -> Result<Option<Rule>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query_as!(
                RuleRow,
                "UPDATE rules SET reference_count = reference_count + 1, last_referenced_at = $3
                 WHERE tenant_id = $1 AND id = $2
                 RETURNING id, tenant_id, content, scope, maturity, confidence, decay_rate, permanence,
                           effectiveness_score, applied_count, success_count, harmful_count, source_episode_id,
                           source, source_butler, created_at, last_applied_at, last_evaluated_at, last_confirmed_at,
                           reference_count, last_referenced_at, tags, metadata",
                tenant.as_str(),
                id.0,
                now
            )
            .fetch_optional(pg)
        })
        .await?;
    row.map(Rule::try_from).transpose()
}
