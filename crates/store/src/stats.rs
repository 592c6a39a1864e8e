//! Counts of memories by state.

use butler_domain::{Scope, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Session, StoreError};

/// The counts of all three types of memory.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Stats {
    pub episodes: EpisodeStats,
    pub facts: FactStats,
    pub rules: RuleStats,
    /// For the dashboard; the tool does not report it.
    #[serde(skip)]
    pub by_permanence: PermanenceStats,
}

/// Episodes by consolidation status.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct EpisodeStats {
    pub total: i64,
    /// Pending episodes, which wait for their first consolidation.
    pub unconsolidated: i64,
    pub consolidated: i64,
    pub failed: i64,
    pub dead_letter: i64,
    /// Expired episodes, which the next cleanup removes.
    pub expired: i64,
    /// Episodes that are not consolidated yet and expire within a day.
    pub expiring_unconsolidated_24h: i64,
    /// Age of the oldest pending episode; `None` if none is pending.
    pub backlog_age_hours: Option<f64>,
}

/// Each fact is counted in exactly one of the states.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct FactStats {
    pub total: i64,
    pub active: i64,
    pub fading: i64,
    pub superseded: i64,
    pub expired: i64,
    pub retracted: i64,
}

impl FactStats {
    /// All active facts, fading ones included.
    pub const fn known(&self) -> i64 {
        self.active + self.fading
    }
}

/// Active facts by permanence, fading ones included.
#[derive(Debug, Clone, PartialEq)]
pub struct PermanenceStats {
    pub permanent: i64,
    pub stable: i64,
    pub standard: i64,
    pub volatile: i64,
    pub ephemeral: i64,
}

/// Each rule is counted in exactly one maturity, or as forgotten; fading ones are counted in their maturity as well.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RuleStats {
    pub total: i64,
    pub candidate: i64,
    pub established: i64,
    pub proven: i64,
    pub anti_pattern: i64,
    pub forgotten: i64,
    pub fading: i64,
}

impl RuleStats {
    /// All rules that are not forgotten.
    pub const fn known(&self) -> i64 {
        self.total - self.forgotten
    }
}

/// Counts everything in one statement. A scope includes the global scope for facts and rules, and means the butler for
/// episodes.
pub async fn read(
    session: &mut Session,
    tenant: &TenantId,
    scope: Option<&Scope>,
    now: Timestamp,
) -> Result<Stats, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT e.total AS "e_total!", pending AS "pending!", consolidated AS "consolidated!", failed AS "failed!",
                       dead_letter AS "dead_letter!", e.expired AS "e_expired!", expiring AS "expiring!", oldest_pending,
                       f.total AS "f_total!", active AS "active!", f.fading AS "f_fading!", superseded AS "superseded!",
                       f.expired AS "f_expired!", retracted AS "retracted!", permanent AS "permanent!", stable AS "stable!",
                       standard AS "standard!", volatile AS "volatile!", ephemeral AS "ephemeral!",
                       r.total AS "r_total!", candidate AS "candidate!", established AS "established!", proven AS "proven!",
                       anti_pattern AS "anti_pattern!", forgotten AS "forgotten!", r.fading AS "r_fading!"
                FROM (
                    SELECT count(*) AS total,
                           count(*) FILTER (WHERE consolidation_status = 'pending') AS pending,
                           count(*) FILTER (WHERE consolidation_status = 'consolidated') AS consolidated,
                           count(*) FILTER (WHERE consolidation_status = 'failed') AS failed,
                           count(*) FILTER (WHERE consolidation_status = 'dead_letter') AS dead_letter,
                           count(*) FILTER (WHERE NOT episode_is_alive(expires_at, $3)) AS expired,
                           count(*) FILTER (WHERE consolidation_status IN ('pending', 'failed')
                                            AND expires_at > $3 AND expires_at <= $3 + interval '24 hours') AS expiring,
                           min(created_at) FILTER (WHERE consolidation_status = 'pending') AS oldest_pending
                    FROM episodes WHERE tenant_id = $1 AND ($2::text IS NULL OR butler = $2)
                ) e, (
                    -- One pass over facts_counts, grouped in its order: any other order would sort or hash every entry. The few
                    -- facts that fade have an index of their own.
                    SELECT coalesce(sum(n), 0)::bigint AS total,
                           coalesce(sum(n) FILTER (WHERE fact_is_active(validity)), 0)::bigint - w.fading AS active, w.fading,
                           coalesce(sum(n) FILTER (WHERE validity = 'superseded'), 0)::bigint AS superseded,
                           coalesce(sum(n) FILTER (WHERE validity = 'expired'), 0)::bigint AS expired,
                           coalesce(sum(n) FILTER (WHERE validity = 'retracted'), 0)::bigint AS retracted,
                           coalesce(sum(n) FILTER (WHERE fact_is_active(validity) AND permanence = 'permanent'), 0)::bigint AS permanent,
                           coalesce(sum(n) FILTER (WHERE fact_is_active(validity) AND permanence = 'stable'), 0)::bigint AS stable,
                           coalesce(sum(n) FILTER (WHERE fact_is_active(validity) AND permanence = 'standard'), 0)::bigint AS standard,
                           coalesce(sum(n) FILTER (WHERE fact_is_active(validity) AND permanence = 'volatile'), 0)::bigint AS volatile,
                           coalesce(sum(n) FILTER (WHERE fact_is_active(validity) AND permanence = 'ephemeral'), 0)::bigint AS ephemeral
                    FROM (SELECT count(*) AS fading FROM facts
                          WHERE tenant_id = $1 AND validity = 'active' AND memory_is_fading(metadata)
                            AND ($2::text IS NULL OR scope IN ('global', $2))) w
                    LEFT JOIN (SELECT validity, permanence, count(*) AS n FROM facts
                               WHERE tenant_id = $1 AND ($2::text IS NULL OR scope IN ('global', $2))
                               GROUP BY validity, scope, permanence) s ON true
                    GROUP BY w.fading
                ) f, (
                    SELECT count(*) AS total,
                           count(*) FILTER (WHERE rule_is_remembered(metadata) AND maturity = 'candidate') AS candidate,
                           count(*) FILTER (WHERE rule_is_remembered(metadata) AND maturity = 'established') AS established,
                           count(*) FILTER (WHERE rule_is_remembered(metadata) AND maturity = 'proven') AS proven,
                           count(*) FILTER (WHERE rule_is_remembered(metadata) AND maturity = 'anti_pattern') AS anti_pattern,
                           count(*) FILTER (WHERE NOT rule_is_remembered(metadata)) AS forgotten,
                           count(*) FILTER (WHERE rule_is_remembered(metadata) AND memory_is_fading(metadata)) AS fading
                    FROM rules WHERE tenant_id = $1 AND ($2::text IS NULL OR scope IN ('global', $2))
                ) r
                "#,
                tenant.as_str(),
                scope.map(Scope::as_str),
                now
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(Stats {
        episodes: EpisodeStats {
            total: row.e_total,
            unconsolidated: row.pending,
            consolidated: row.consolidated,
            failed: row.failed,
            dead_letter: row.dead_letter,
            expired: row.e_expired,
            expiring_unconsolidated_24h: row.expiring,
            backlog_age_hours: row.oldest_pending.map(|oldest| butler_domain::clock::days_between(oldest, now) * 24.0),
        },
        facts: FactStats {
            total: row.f_total,
            active: row.active,
            fading: row.f_fading,
            superseded: row.superseded,
            expired: row.f_expired,
            retracted: row.retracted,
        },
        rules: RuleStats {
            total: row.r_total,
            candidate: row.candidate,
            established: row.established,
            proven: row.proven,
            anti_pattern: row.anti_pattern,
            forgotten: row.forgotten,
            fading: row.r_fading,
        },
        by_permanence: PermanenceStats {
            permanent: row.permanent,
            stable: row.stable,
            standard: row.standard,
            volatile: row.volatile,
            ephemeral: row.ephemeral,
        },
    })
}
