//! Chooses between the primary and the replica for statements that only read.

use butler_domain::TenantId;

use crate::connection::pending::PendingAtCall;
use crate::connection::pool::{Conn, acquire_once};
use crate::connection::replica::{Replica, ReplicaState, position, read_from, standing};
use crate::connection::unreplicated::WritePosition;
use crate::database::Database;
use crate::error::StoreError;

impl Database {
    /// A session for statements that only read. It is on the replica if the replica has everything this tenant wrote.
    pub async fn reader(&self, tenant: &TenantId) -> Result<Conn, StoreError> {
        self.reader_after(tenant, self.pending_counts(tenant)).await
    }

    /// As [`Database::reader`], for a call that arrived when [`Database::pending_counts`] was `before`.
    pub async fn reader_after(&self, tenant: &TenantId, before: PendingAtCall) -> Result<Conn, StoreError> {
        let Some(replica) = self.replica().filter(|replica| replica.serves()) else {
            return self.relaxed_after(tenant, before).await;
        };
        match replica.unreplicated.of(tenant) {
            WritePosition::Unknown(_) => {
                let until = replica.unreplicated.turn();
                let mut conn = self.relaxed_after(tenant, before).await?;
                let at = position(&mut conn).await?;
                replica.unreplicated.place(until, at);
                return Ok(conn);
            }
            mark => match read_from(replica, tenant, mark).await {
                Ok(Some(conn)) => return Ok(conn),
                Ok(None) => {}
                Err(error) => replica.set(ReplicaState::Unavailable { reason: error.to_string() }),
            },
        }
        self.relaxed_after(tenant, before).await
    }

    /// Reports a write outside the tenants' own connections, such as a job, an import or a migration. Every tenant then
    /// reads from the primary until the replica has replayed it.
    pub fn wrote_all(&self) {
        if let Some(replica) = self.replica() {
            replica.unreplicated.wrote_all();
        }
    }

    /// The state of the replica; `None` without a `read_url`.
    pub fn replica_state(&self) -> Option<ReplicaState> {
        self.replica().map(Replica::state)
    }

    /// Checks the replica: notices that it stopped, fell behind or came back. Call it regularly.
    pub async fn check_replica(&self) -> Option<ReplicaState> {
        let replica = self.replica()?;
        let checked = async {
            let (primary, until) = {
                let until = replica.unreplicated.turn();
                let mut conn = self.owner().await?;
                (standing(&mut conn).await?, until)
            };
            let mut conn = acquire_once(&replica.pool).await?;
            Ok::<_, StoreError>((primary, until, standing(&mut conn).await?))
        };
        match checked.await {
            Ok((primary, until, copy)) if primary.system == copy.system => {
                replica.unreplicated.place(until, primary.position);
                replica.unreplicated.replayed(copy.position);
                replica.record_positions(primary.position, copy.position);
            }
            Ok(_) => {
                let reason = "it is not a replica of this primary: read_url leads to another server".to_owned();
                replica.set(ReplicaState::Unavailable { reason });
            }
            Err(error) => replica.set(ReplicaState::Unavailable { reason: error.to_string() }),
        }
        Some(replica.state())
    }
}
