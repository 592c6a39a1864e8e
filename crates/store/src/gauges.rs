//! What a monitor asks for again and again: how much is in which state, of all tenants together, and how the jobs fare.

use butler_domain::Timestamp;

use crate::{Session, StoreError};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gauges {
    /// Kind, state, number.
    pub memories: Vec<(String, String, i64)>,
    /// Episodes that wait for consolidation, and the oldest of them.
    pub backlog: i64,
    pub oldest_waiting: Option<Timestamp>,
    pub jobs: Vec<JobGauge>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct JobGauge {
    pub job: String,
    /// Of the runs that are kept.
    pub succeeded: i64,
    pub failed: i64,
    pub last_success: Option<Timestamp>,
    pub last_seconds: Option<f64>,
}

/// On an owner's session. Nobody is kept waiting for figures: what takes longer than two seconds is given up.
pub async fn read(session: &mut Session) -> Result<Gauges, StoreError> {
    let mut tx = session.begin().await?;
    tx.run(|pg| sqlx::raw_sql("SET LOCAL statement_timeout = '2s'").execute(pg)).await?;
    let memories = tx
        .run(|pg| {
            sqlx::query!(
                r#"SELECT 'episode' AS "kind!", consolidation_status::text AS "state!", count(*) AS "rows!" FROM episodes GROUP BY 2
                   UNION ALL SELECT 'fact', validity, count(*) FROM facts GROUP BY 2
                   UNION ALL SELECT 'rule', maturity, count(*) FROM rules GROUP BY 2"#
            )
            .fetch_all(pg)
        })
        .await?;
    let waiting = tx
        .run(|pg| {
            sqlx::query!(
                r#"SELECT count(*) AS "episodes!", min(created_at) AS oldest FROM episodes
                   WHERE consolidation_status IN ('pending', 'failed')"#
            )
            .fetch_one(pg)
        })
        .await?;
    let jobs = tx
        .run(|pg| {
            sqlx::query_as!(
                JobGauge,
                r#"SELECT job, count(*) FILTER (WHERE status = 'succeeded') AS "succeeded!",
                          count(*) FILTER (WHERE status = 'failed') AS "failed!",
                          max(finished_at) FILTER (WHERE status = 'succeeded') AS last_success,
                          (array_agg(extract(epoch FROM finished_at - started_at)::double precision ORDER BY started_at DESC)
                              FILTER (WHERE finished_at IS NOT NULL))[1] AS last_seconds
                   FROM job_runs GROUP BY job"#
            )
            .fetch_all(pg)
        })
        .await?;
    tx.rollback().await?;
    let memories = memories.into_iter().map(|row| (row.kind, row.state, row.rows)).collect();
    Ok(Gauges { memories, backlog: waiting.episodes, oldest_waiting: waiting.oldest, jobs })
}
