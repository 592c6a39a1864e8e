//! What keeps retrieval fast and exact as the data grows; a job runs it.

use domain::TenantId;
use store::search::train::{Trained, retrain};

use crate::{Memory, MemoryError};

impl Memory {
    /// Trains each vector index on the data it holds by now, if that has grown enough. Readers and writers go on.
    pub async fn retrain_indexes(&self) -> Result<Vec<Trained>, MemoryError> {
        let mut conn = self.db().owner().await?;
        let trained = retrain(&mut conn).await?;
        if !trained.is_empty() {
            self.pools().forget();
        }
        Ok(trained)
    }

    /// What retrieval knows about the stores is learnt anew by the next call: after a bulk load, for instance.
    pub fn forget_pools(&self) {
        self.pools().forget();
    }

    /// The least a statement of a reader costs: the floor of the benchmarks.
    pub async fn ping(&self, tenant: &TenantId) -> Result<(), MemoryError> {
        let mut conn = self.db().reader(tenant).await?;
        Ok(store::search::ping(&mut conn).await?)
    }
}
