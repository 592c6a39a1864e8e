//! Consolidation turns episodes into facts and rules: it leases a batch, asks the model, and applies the answer in one
//! transaction.
//!
//! The process can be killed at any point. Until the transaction commits that applies the actions and marks the
//! episodes, only the lease has been written, and it expires.

mod batch;
mod dead_letters;
mod execute;
mod prepare;
pub mod prompt;
mod redact;
mod report;

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_store::consolidation::lease::{self, Group};
use tokio_util::sync::CancellationToken;

pub use report::{ConsolidationReport, Counts, GroupReport};

use crate::isolation::caught;
use crate::runtime::Runtime;
use crate::{Memory, MemoryError};

/// The actor in the events of consolidation.
pub const ACTOR: &str = "consolidation";
/// The maximum number of batches of one group per run, so that no group starves the others.
const MAX_BATCHES_PER_GROUP: usize = 200;

/// How to run consolidation.
#[derive(Debug, Clone, Default)]
pub struct ConsolidationRequest {
    /// `None` means all tenants.
    pub tenant: Option<TenantId>,
    /// Only count the waiting episodes.
    pub dry_run: bool,
    pub request_id: Option<String>,
    /// Cancelling it releases the current batch and ends the run.
    pub stop: CancellationToken,
}

impl Memory {
    /// Makes one pass over all groups of waiting episodes. A group that fails is reported and does not stop the others.
    pub async fn run_consolidation(&self, request: &ConsolidationRequest) -> Result<ConsolidationReport, MemoryError> {
        let mut report = ConsolidationReport::default();
        let groups = self.waiting_groups(request.tenant.as_ref(), &mut report).await?;
        let runtime = match self.runtime() {
            Some(runtime) if !request.dry_run => runtime,
            runtime => {
                report.mode = "dry_run".to_owned();
                report.reason = Some(match runtime {
                    Some(_) => "a dry run was requested".to_owned(),
                    None => "no runtime is configured; add [butler.runtime] to butler.toml".to_owned(),
                });
                report.groups = groups.iter().map(group_report).collect();
                return Ok(report.finish());
            }
        };
        report.mode = "run".to_owned();
        let origin = Origin { actor: Some(ACTOR.to_owned()), request_id: request.request_id.clone() };
        for group in &groups {
            if request.stop.is_cancelled() {
                report.errors.push("stopped before all groups were processed".to_owned());
                break;
            }
            let mut result = group_report(group);
            if group.due > 0 {
                self.run_group(runtime.as_ref(), group, &origin, &request.stop, &mut result).await;
            }
            // They may quote the answer of the model, and the report is stored.
            for problem in result.errors.iter_mut().chain(&mut result.failure) {
                self.redactor().redact_text(problem);
            }
            report.groups.push(result);
        }
        Ok(report.finish())
    }

    async fn waiting_groups(
        &self,
        tenant: Option<&TenantId>,
        report: &mut ConsolidationReport,
    ) -> Result<Vec<Group>, MemoryError> {
        let mut conn = match tenant {
            Some(tenant) => self.db().tenant(tenant).await?,
            None => self.db().owner().await?,
        };
        let mut groups = Vec::new();
        for group in lease::groups(&mut conn, tenant, self.now()).await? {
            match group {
                Ok(group) => groups.push(group),
                Err(error) => {
                    tracing::error!(%error, "a group of episodes cannot be consolidated");
                    report.errors.push(error.to_string());
                }
            }
        }
        Ok(groups)
    }

    async fn run_group(
        &self,
        runtime: &dyn Runtime,
        group: &Group,
        origin: &Origin,
        stop: &CancellationToken,
        report: &mut GroupReport,
    ) {
        for _ in 0..MAX_BATCHES_PER_GROUP {
            if stop.is_cancelled() {
                return;
            }
            match caught(self.run_batch(runtime, group, origin, stop, report)).await {
                Ok(batch::Next::Continue) => {}
                Ok(batch::Next::Done) => return,
                Err(error) => {
                    tracing::error!(tenant = %group.tenant, butler = %group.butler, %error, "consolidation of a group failed");
                    report.fail(error.to_string());
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
        ..GroupReport::default()
    }
}
