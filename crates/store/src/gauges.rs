//! Figures for monitoring: memories by state, of all tenants together, and the outcome of the jobs.

use butler_domain::Timestamp;

use crate::{Session, StoreError};

/// The figures of one butler, over all tenants.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gauges {
    /// Memory type, state and number.
    pub memories: Vec<(String, String, i64)>,
    /// Episodes that wait for consolidation.
    pub backlog: i64,
    pub oldest_waiting: Option<Timestamp>,
    pub jobs: Vec<JobGauge>,
}

/// The runs of one job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobGauge {
    pub job: String,
    /// Among the runs on record.
    pub succeeded: i64,
    pub failed: i64,
    pub last_success: Option<Timestamp>,
    pub last_seconds: Option<f64>,
}

/// Reads the figures, on the owner's session. It gives up after two seconds, so that nobody waits for figures.
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
