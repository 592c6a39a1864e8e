//! The records of jobs: when each one runs, the result of each run, and which process runs it now. All of this needs
//! the owner's session, because a job works for every tenant.

use butler_domain::ids::new_id;
use butler_domain::{TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::{Conn, Database, Session, StoreError};

/// How many runs of a job stay on record.
const KEPT_RUNS: i64 = 1000;

/// The recorded schedule of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScheduleRow {
    pub job: String,
    pub cron: String,
    pub time_zone: String,
    pub enabled: bool,
    pub last_run_at: Option<Timestamp>,
    pub next_run_at: Option<Timestamp>,
}

/// The record of one run of a job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunRow {
    pub id: Uuid,
    pub job: String,
    pub trigger: String,
    pub status: String,
    pub worker: Option<String>,
    pub started_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    pub result: Value,
    pub error: Option<String>,
    /// The tenant that requested the run; `None` if it worked for all tenants.
    #[serde(skip)]
    pub tenant: Option<String>,
}

/// Records the configured schedule. A changed schedule clears the next run; an unchanged one keeps it, so that a run
/// that was missed while no process ran is noticed.
pub async fn declare(
    session: &mut Session,
    job: &str,
    cron: &str,
    time_zone: &str,
    enabled: bool,
    now: Timestamp,
) -> Result<ScheduleRow, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                ScheduleRow,
                "INSERT INTO schedules (job, cron, time_zone, enabled, updated_at) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (job) DO UPDATE
                 SET cron = excluded.cron, time_zone = excluded.time_zone, enabled = excluded.enabled,
                     next_run_at = CASE WHEN schedules.cron = excluded.cron AND schedules.time_zone = excluded.time_zone
                                             AND schedules.enabled AND excluded.enabled
                                        THEN schedules.next_run_at END,
                     updated_at = excluded.updated_at
                 RETURNING job, cron, time_zone, enabled, last_run_at, next_run_at",
                job,
                cron,
                time_zone,
                enabled,
                now
            )
            .fetch_one(pg)
        })
        .await
}

/// The schedules of all jobs, sorted by name.
pub async fn schedules(session: &mut Session) -> Result<Vec<ScheduleRow>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                ScheduleRow,
                "SELECT job, cron, time_zone, enabled, last_run_at, next_run_at FROM schedules ORDER BY job"
            )
            .fetch_all(pg)
        })
        .await
}

/// The schedule of one job; `None` if it was never declared.
pub async fn schedule(session: &mut Session, job: &str) -> Result<Option<ScheduleRow>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                ScheduleRow,
                "SELECT job, cron, time_zone, enabled, last_run_at, next_run_at FROM schedules WHERE job = $1",
                job
            )
            .fetch_optional(pg)
        })
        .await
}

/// Records when a job runs next.
pub async fn set_next_run(
    session: &mut Session,
    job: &str,
    next: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!("UPDATE schedules SET next_run_at = $2, updated_at = $3 WHERE job = $1", job, next, now)
                .execute(pg)
        })
        .await?;
    Ok(())
}

/// Starts the record of a run. It also closes records of this job that never ended: whoever holds the job's lock knows
/// that their worker is gone.
pub async fn begin_run(
    session: &mut Session,
    job: &str,
    tenant: Option<&TenantId>,
    trigger: &str,
    worker: &str,
    now: Timestamp,
) -> Result<Uuid, StoreError> {
    let id = new_id(now);
    session
        .run(|pg| {
            sqlx::query!(
                "WITH abandoned AS (
                     UPDATE job_runs SET status = 'failed', finished_at = greatest($5, started_at),
                                         error = 'the worker went away before it was done'
                     WHERE job = $2 AND status = 'running'
                 ), schedule AS (
                     UPDATE schedules SET last_run_at = $5, updated_at = $5 WHERE job = $2
                 )
                 INSERT INTO job_runs (id, job, trigger, worker, started_at, tenant_id, all_tenants)
                 VALUES ($1, $2, $3, $4, $5, coalesce($6, 'default'), $6::text IS NULL)",
                id,
                job,
                trigger,
                worker,
                now,
                tenant.map(TenantId::as_str)
            )
            .execute(pg)
        })
        .await?;
    Ok(id)
}

/// Closes the record of a run. A run with an error has failed; its result says what it did before.
pub async fn finish_run(
    session: &mut Session,
    id: Uuid,
    result: &Value,
    error: Option<&str>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let status = if error.is_none() { "succeeded" } else { "failed" };
    session
        .run(|pg| {
            sqlx::query!(
                "WITH old AS (
                     DELETE FROM job_runs WHERE id IN (
                         SELECT id FROM job_runs WHERE job = (SELECT job FROM job_runs WHERE id = $1) AND status <> 'running'
                         ORDER BY started_at DESC, id DESC OFFSET $6)
                 )
                 UPDATE job_runs SET status = $2, result = $3, error = $4, finished_at = greatest($5, started_at)
                 WHERE id = $1",
                id,
                status,
                result,
                error,
                now,
                KEPT_RUNS
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// The latest runs, newest first, of one job or of all. A tenant sees its own runs and those that worked for all
/// tenants.
pub async fn runs(
    session: &mut Session,
    job: Option<&str>,
    seen_by: Option<&TenantId>,
    limit: i64,
) -> Result<Vec<RunRow>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                RunRow,
                "SELECT id, job, trigger, status, worker, started_at, finished_at, result, error,
                        CASE WHEN NOT all_tenants THEN tenant_id END AS tenant
                 FROM job_runs
                 WHERE ($1::text IS NULL OR job = $1) AND ($2::text IS NULL OR all_tenants OR tenant_id = $2)
                 ORDER BY started_at DESC, id DESC LIMIT $3",
                job,
                seen_by.map(TenantId::as_str),
                limit
            )
            .fetch_all(pg)
        })
        .await
}

/// The tenants that have any rows, for jobs that work tenant by tenant.
pub async fn tenants(session: &mut Session) -> Result<Vec<TenantId>, StoreError> {
    let names = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT tenant_id AS "tenant_id!" FROM (
                       SELECT DISTINCT tenant_id FROM episodes UNION SELECT DISTINCT tenant_id FROM facts
                       UNION SELECT DISTINCT tenant_id FROM rules) t ORDER BY tenant_id"#
            )
            .fetch_all(pg)
        })
        .await?;
    // A row with an invalid tenant, inserted by hand, must not stop the work for the others.
    let known = names.into_iter().filter_map(|name| match TenantId::new(name.clone()) {
        Ok(tenant) => Some(tenant),
        Err(error) => {
            tracing::error!(tenant = name, %error, "a tenant's name is invalid; jobs leave its memories out");
            None
        }
    });
    Ok(known.collect())
}

/// The locks of the jobs that this process runs. One connection holds all of them, so the server releases them when the
/// process dies.
pub struct Locks {
    database: Database,
    conn: Option<Conn>,
    held: Vec<String>,
}

impl Locks {
    /// Holds no lock and opens no connection yet.
    pub fn new(database: Database) -> Self {
        Self { database, conn: None, held: Vec::new() }
    }

    /// Takes the lock of a job. Returns `false` if this or another process runs the job.
    pub async fn try_take(&mut self, job: &str) -> Result<bool, StoreError> {
        if self.held.iter().any(|held| held == job) {
            return Ok(false);
        }
        let mut conn = match self.conn.take() {
            Some(conn) => conn,
            None => self.database.owner().await?,
        };
        let taken = conn
            .run(|pg| {
                sqlx::query_scalar!(r#"SELECT pg_try_advisory_lock(job_lock($1)) AS "taken!""#, job).fetch_one(pg)
            })
            .await;
        match taken {
            Ok(taken) => {
                if taken {
                    self.held.push(job.to_owned());
                }
                self.keep(conn);
                Ok(taken)
            }
            Err(error) => {
                // The locks are lost with the connection. Without them, the jobs still write nothing twice.
                conn.discard();
                Err(error)
            }
        }
    }

    /// Releases the lock of a job.
    pub async fn release(&mut self, job: &str) -> Result<(), StoreError> {
        self.held.retain(|held| held != job);
        let Some(mut conn) = self.conn.take() else { return Ok(()) };
        let freed = conn
            .run(|pg| sqlx::query_scalar!(r#"SELECT pg_advisory_unlock(job_lock($1)) AS "freed!""#, job).fetch_one(pg))
            .await;
        match freed {
            Ok(_) => {
                self.keep(conn);
                Ok(())
            }
            Err(error) => {
                conn.discard();
                Err(error)
            }
        }
    }

    /// Returns the connection to the pool once it holds no lock.
    fn keep(&mut self, conn: Conn) {
        if !self.held.is_empty() {
            self.conn = Some(conn);
        }
    }
}

impl Drop for Locks {
    fn drop(&mut self) {
        if let Some(conn) = &mut self.conn {
            conn.discard();
        }
    }
}
