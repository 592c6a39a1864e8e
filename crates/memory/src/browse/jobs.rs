use butler_domain::TenantId;
use butler_store::jobs;

use super::{Browse, RunRow, ScheduleRow};
use crate::MemoryError;
use crate::jobs::visible_to;

/// The stored schedule of a job and its latest runs.
#[derive(Debug, Clone)]
pub struct JobRecord {
    pub schedule: Option<ScheduleRow>,
    /// Newest first.
    pub runs: Vec<RunRow>,
}

impl Browse<'_> {
    /// The records of the named jobs, in that order, each with at most `max_runs` runs. With `restricted_to`, a record does
    /// not show what a run did for other tenants.
    pub async fn job_records(
        &self,
        names: &[&str],
        restricted_to: Option<&TenantId>,
        max_runs: i64,
    ) -> Result<Vec<JobRecord>, MemoryError> {
        let mut session = self.memory.db().owner().await?;
        let schedules = jobs::schedules(&mut session).await?;
        let mut records = Vec::with_capacity(names.len());
        for name in names {
            let runs = jobs::runs(&mut session, Some(name), restricted_to, max_runs).await?;
            records.push(JobRecord {
                schedule: schedules.iter().find(|row| row.job == *name).cloned(),
                runs: runs.into_iter().map(|run| visible_to(run, restricted_to)).collect(),
            });
        }
        Ok(records)
    }
}
