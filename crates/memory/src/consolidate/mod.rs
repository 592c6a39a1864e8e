//! Episodes become facts and rules: lease a batch, ask the model, apply what it says, all or nothing.
//!
//! Safe to kill at any instruction. Until the one transaction that applies the actions and marks the episodes commits,
//! nothing has happened but a lease, which runs out.

mod batch;
mod execute;
mod letters;
pub mod prompt;
mod report;

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_store::consolidation::lease::{self, Group};
use tokio_util::sync::CancellationToken;

pub use report::{ConsolidationReport, Counts, GroupReport};

use crate::runtime::Runtime;
use crate::{Memory, MemoryError};

/// Recorded as the actor of whatever consolidation changes.
pub const ACTOR: &str = "consolidation";
/// What a run takes from one group at most; the rest is for the next run, so that no group starves the others.
const BATCHES_A_RUN: usize = 200;

/// What to run, and when to stop.
#[derive(Debug, Clone, Default)]
pub struct ConsolidationRequest {
    /// `None`: all tenants.
    pub tenant: Option<TenantId>,
    pub dry_run: bool,
    pub request_id: Option<String>,
    /// Cancelled: the batch at hand is given back, and the run ends.
    pub stop: CancellationToken,
}

impl Memory {
    /// One pass over all groups. A group that fails is reported and does not keep the others from being worked on.
    pub async fn run_consolidation(&self, request: &ConsolidationRequest) -> Result<ConsolidationReport, MemoryError> {
        let groups = self.waiting_groups(request.tenant.as_ref()).await?;
        let mut report = ConsolidationReport::default();
        let runtime = match self.runtime() {
            Some(runtime) if !request.dry_run => runtime,
            given => {
                report.mode = "dry_run".to_owned();
                report.reason = Some(match given {
                    Some(_) => "it was asked for".to_owned(),
                    None => "no runtime is configured: add [butler.runtime] to butler.toml".to_owned(),
                });
                report.groups = groups.iter().map(group_report).collect();
                return Ok(report.finish());
            }
        };
        report.mode = "run".to_owned();
        let origin = Origin { actor: Some(ACTOR.to_owned()), request_id: request.request_id.clone() };
        for group in &groups {
            if request.stop.is_cancelled() {
                report.errors.push("stopped before all groups were done".to_owned());
                break;
            }
            let mut result = group_report(group);
            if group.due > 0 {
                self.run_group(runtime.as_ref(), group, &origin, &request.stop, &mut result).await;
            }
            report.groups.push(result);
        }
        Ok(report.finish())
    }

    async fn waiting_groups(&self, tenant: Option<&TenantId>) -> Result<Vec<Group>, MemoryError> {
        let mut conn = match tenant {
            Some(tenant) => self.db().tenant(tenant).await?,
            None => self.db().owner().await?,
        };
        Ok(lease::groups(&mut conn, tenant, self.now()).await?)
    }

    async fn run_group(
        &self,
        runtime: &dyn Runtime,
        group: &Group,
        origin: &Origin,
        stop: &CancellationToken,
        report: &mut GroupReport,
    ) {
        for _ in 0..BATCHES_A_RUN {
            if stop.is_cancelled() {
                return;
            }
            match self.run_batch(runtime, group, origin, stop, report).await {
                Ok(batch::Next::Continue) => {}
                Ok(batch::Next::Done) => return,
                Err(error) => {
                    tracing::error!(tenant = %group.tenant, butler = %group.butler, %error, "consolidation of a group failed");
                    report.problem(error.to_string());
                    return;
                }
            }
        }
    }
}

fn group_report(group: &Group) -> GroupReport {
    GroupReport {
        tenant_id: group.tenant.to_string(),
        butler: group.butler.to_string(),
        counts: Counts {
            episodes: group.due.unsigned_abs(),
            waiting: group.waiting.unsigned_abs(),
            ..Counts::default()
        },
        errors: Vec::new(),
    }
}
