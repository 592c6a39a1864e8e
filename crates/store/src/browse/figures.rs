//! The figures of the overview: counts, confidence, fading, and the consolidation of episodes.

use butler_domain::{Scope, TenantId, Timestamp};
use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Session, StoreError};

/// Bins of the histograms of effective confidence, each 0.05 wide.
pub const CONFIDENCE_BINS: usize = 20;
/// Bins of the histogram of rule effectiveness, each 0.1 wide.
pub const EFFECTIVENESS_BINS: usize = 10;
/// Days of the backlog chart.
pub const BACKLOG_DAYS: i32 = 30;

/// Facts and rules by effective confidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Confidence {
    /// Active facts and remembered rules in each bin.
    pub facts: [i64; CONFIDENCE_BINS],
    pub rules: [i64; CONFIDENCE_BINS],
    /// Fading facts that expire within a week unless confirmed.
    pub expiring_7d: i64,
}

/// Reads the confidence figures. A scope includes the global scope.
pub async fn confidence(
    session: &mut Session,
    tenant: &TenantId,
    scope: Option<&Scope>,
    expiry: f64,
    now: Timestamp,
) -> Result<Confidence, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT bin AS "bin!", facts AS "count!", true AS "fact!" FROM browse_confidence($1, $3, $2)
                UNION ALL
                SELECT bin, count(*), false FROM (
                    SELECT least(19, floor(effective_confidence(confidence, decay_rate, last_confirmed_at, $3) * 20)::integer) AS bin
                    FROM rules WHERE tenant_id = $1 AND rule_is_remembered(metadata) AND ($2::text IS NULL OR scope IN ('global', $2))) r
                GROUP BY 1
                "#,
                tenant.as_str(),
                scope.map(Scope::as_str),
                now
            )
            .fetch_all(pg)
        })
        .await?;
    let mut figures = Confidence {
        facts: [0; CONFIDENCE_BINS],
        rules: [0; CONFIDENCE_BINS],
        expiring_7d: expiring(session, tenant, scope, expiry, now).await?,
    };
    for row in rows {
        let bins = if row.fact { &mut figures.facts } else { &mut figures.rules };
        if let Some(bin) = usize::try_from(row.bin).ok().and_then(|at| bins.get_mut(at)) {
            *bin += row.count;
        }
    }
    Ok(figures)
}

async fn expiring(
    session: &mut Session,
    tenant: &TenantId,
    scope: Option<&Scope>,
    expiry: f64,
    now: Timestamp,
) -> Result<i64, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                SELECT count(*) AS "count!" FROM facts
                WHERE tenant_id = $1 AND validity = 'active' AND memory_is_fading(metadata)
                  AND ($2::text IS NULL OR scope IN ('global', $2))
                  AND effective_confidence(confidence, decay_rate, last_confirmed_at, $3::timestamptz + interval '7 days') < $4
                "#,
                tenant.as_str(),
                scope.map(Scope::as_str),
                now,
                expiry
            )
            .fetch_one(pg)
        })
        .await
}

/// The effectiveness of remembered rules.
#[derive(Debug, Clone, PartialEq)]
pub struct Effectiveness {
    /// Rules with at least one mark, in each bin.
    pub bins: [i64; EFFECTIVENESS_BINS],
    pub never_applied: i64,
    /// The mean of the rules with marks; `None` if there are none.
    pub mean: Option<f64>,
    pub applications: i64,
    pub helpful: i64,
    pub harmful: i64,
    /// Rules that wait to be inverted into a warning.
    pub needs_inversion: i64,
}

/// Reads the effectiveness figures. A scope includes the global scope.
pub async fn effectiveness(
    session: &mut Session,
    tenant: &TenantId,
    scope: Option<&Scope>,
) -> Result<Effectiveness, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT CASE WHEN applied_count > 0 THEN least(9, floor(effectiveness_score * 10)::integer) END AS bin, count(*) AS "count!",
                       sum(effectiveness_score) AS "sum!", sum(applied_count) AS "applied!", sum(success_count) AS "helpful!",
                       sum(harmful_count) AS "harmful!", count(*) FILTER (WHERE metadata -> 'needs_inversion' = 'true') AS "needs_inversion!"
                FROM rules WHERE tenant_id = $1 AND rule_is_remembered(metadata) AND ($2::text IS NULL OR scope IN ('global', $2))
                GROUP BY 1
                "#,
                tenant.as_str(),
                scope.map(Scope::as_str)
            )
            .fetch_all(pg)
        })
        .await?;
    let mut figures = Effectiveness {
        bins: [0; EFFECTIVENESS_BINS],
        never_applied: 0,
        mean: None,
        applications: 0,
        helpful: 0,
        harmful: 0,
        needs_inversion: 0,
    };
    let (mut sum, mut marked) = (0.0, 0);
    for row in rows {
        figures.applications += row.applied;
        figures.helpful += row.helpful;
        figures.harmful += row.harmful;
        figures.needs_inversion += row.needs_inversion;
        match row.bin.and_then(|bin| usize::try_from(bin).ok()).and_then(|at| figures.bins.get_mut(at)) {
            Some(bin) => {
                *bin += row.count;
                sum += row.sum;
                marked += row.count;
            }
            None => figures.never_applied += row.count,
        }
    }
    figures.mean = (marked > 0).then(|| sum / marked as f64);
    Ok(figures)
}

/// What consolidation learned from episodes so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Produced {
    pub facts: i64,
    pub rules: i64,
}

/// Counts the facts and rules that were derived from episodes.
pub async fn produced(session: &mut Session, tenant: &TenantId) -> Result<Produced, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT count(*) FILTER (WHERE source_type = 'fact') AS "facts!", count(*) FILTER (WHERE source_type = 'rule') AS "rules!"
                FROM (SELECT DISTINCT source_type, source_id FROM memory_links
                      WHERE tenant_id = $1 AND target_type = 'episode' AND relation = 'derived_from') made
                "#,
                tenant.as_str()
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(Produced { facts: row.facts, rules: row.rules })
}

/// One day of the consolidation backlog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BacklogDay {
    pub day: NaiveDate,
    /// Episodes stored that day.
    pub created: i64,
    /// Episodes consolidated that day.
    pub consolidated: i64,
    /// Episodes still waiting at the end of the day.
    pub waiting: i64,
}

/// The backlog day by day, oldest first, ending today. It is computed backwards from the current backlog and the
/// events.
pub async fn backlog(
    session: &mut Session,
    tenant: &TenantId,
    waiting_now: i64,
    now: Timestamp,
) -> Result<Vec<BacklogDay>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT d.day::date AS "day!", coalesce(e.created, 0) AS "created!", coalesce(e.consolidated, 0) AS "consolidated!",
                       coalesce(e.gone, 0) AS "gone!", coalesce(e.back, 0) AS "back!"
                FROM generate_series(date_trunc('day', $2::timestamptz AT TIME ZONE 'UTC') - make_interval(days => $3 - 1),
                                     date_trunc('day', $2::timestamptz AT TIME ZONE 'UTC'), interval '1 day') AS d (day)
                LEFT JOIN (
                    SELECT date_trunc('day', created_at AT TIME ZONE 'UTC') AS day,
                           count(*) FILTER (WHERE event_type = 'episode_created') AS created,
                           count(*) FILTER (WHERE event_type = 'episode_consolidated') AS consolidated,
                           count(*) FILTER (WHERE event_type = 'episode_dead_lettered'
                                            OR (event_type = 'episode_expired' AND payload -> 'never_consolidated' = 'true'
                                                AND payload ->> 'consolidation_status' <> 'dead_letter')) AS gone,
                           count(*) FILTER (WHERE event_type = 'episode_requeued') AS back
                    FROM memory_events
                    WHERE tenant_id = $1 AND created_at >= $2::timestamptz - make_interval(days => $3) AND created_at <= $2
                      AND event_type IN ('episode_created', 'episode_consolidated', 'episode_dead_lettered', 'episode_expired', 'episode_requeued')
                    GROUP BY 1
                ) e ON e.day = d.day
                ORDER BY d.day DESC
                "#,
                tenant.as_str(),
                now,
                BACKLOG_DAYS
            )
            .fetch_all(pg)
        })
        .await?;
    let mut waiting = waiting_now;
    let mut days: Vec<BacklogDay> = rows
        .into_iter()
        .map(|row| {
            let day = BacklogDay { day: row.day, created: row.created, consolidated: row.consolidated, waiting };
            waiting = (waiting - row.created - row.back + row.consolidated + row.gone).max(0);
            day
        })
        .collect();
    days.reverse();
    Ok(days)
}

/// The number of entities, without merged ones.
pub async fn entities(session: &mut Session, tenant: &TenantId) -> Result<i64, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT count(*) AS "count!" FROM entities WHERE tenant_id = $1 AND entity_is_live(metadata)"#,
                tenant.as_str()
            )
            .fetch_one(pg)
        })
        .await
}
