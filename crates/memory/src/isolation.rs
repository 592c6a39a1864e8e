//! Keeps a failure or a panic in one tenant's work from stopping the work for others.

use std::panic::AssertUnwindSafe;

use butler_domain::TenantId;
use futures::FutureExt;

use crate::{Memory, MemoryError};

/// Runs a future to its end and turns a panic into an error. The log has the panic's message.
pub(crate) fn caught<T>(
    work: impl Future<Output = Result<T, MemoryError>>,
) -> impl Future<Output = Result<T, MemoryError>> {
    // Boxed, because the futures of jobs are large and each wrapper would copy them onto the stack.
    let work = AssertUnwindSafe(Box::pin(work));
    async move { work.catch_unwind().await.unwrap_or(Err(MemoryError::Panicked)) }
}

/// The results of a job that works tenant by tenant.
#[derive(Default)]
pub(crate) struct TenantOutcomes {
    succeeded: usize,
    first: Option<MemoryError>,
    errors: Vec<String>,
}

impl TenantOutcomes {
    /// Records the result of one tenant. Fails if the database is unavailable, because every other tenant would fail
    /// too.
    pub fn note<T>(&mut self, tenant: &TenantId, outcome: Result<T, MemoryError>) -> Result<(), MemoryError> {
        match outcome {
            Ok(_) => self.succeeded += 1,
            Err(error) if error.is_unavailable() => return Err(error),
            Err(error) => {
                tracing::error!(%tenant, %error, "a job failed for a tenant; it continues with the others");
                self.errors.push(format!("{tenant}: {error}"));
                self.first.get_or_insert(error);
            }
        }
        Ok(())
    }

    /// The errors by tenant. Fails with the first one if no tenant succeeded.
    pub fn finish(self) -> Result<Vec<String>, MemoryError> {
        match self.first {
            Some(error) if self.succeeded == 0 => Err(error),
            _ => Ok(self.errors),
        }
    }
}

impl Memory {
    /// The tenants that have memories.
    pub(crate) async fn tenants(&self) -> Result<Vec<TenantId>, MemoryError> {
        let mut conn = self.db().owner().await?;
        Ok(butler_store::jobs::tenants(&mut conn).await?)
    }
}
