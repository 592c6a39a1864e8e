//! A streaming replica that serves reads. It is used while it is reachable, belongs to the same cluster as the primary
//! and keeps up. Otherwise reads go to the primary. A tenant that wrote reads from the primary until the replica has
//! replayed its writes.

use std::sync::{Arc, Mutex, PoisonError};

use butler_domain::TenantId;

use crate::connection::pool::{Conn, Pool, acquire_once, of_tenant};
use crate::connection::session::Session;
use crate::connection::unreplicated::{UnreplicatedWrites, WritePosition};
use crate::error::StoreError;

pub(crate) struct Replica {
    pub pool: Pool,
    pub unreplicated: Arc<UnreplicatedWrites>,
    watched: Mutex<Watched>,
}

struct Watched {
    state: ReplicaState,
    /// The primary's log position at the last check. A replica that has not reached it by the next check is too slow.
    floor: Option<i64>,
}

/// The result of the last check of the replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplicaState {
    /// It serves reads, `behind` bytes of the log behind the primary.
    Serving { behind: i64 },
    /// It has not reached the primary's position of the previous check. Reads go to the primary.
    Lagging { behind: i64 },
    /// It is unreachable, or not a replica of this primary. Reads go to the primary.
    Unavailable { reason: String },
}

impl Replica {
    pub fn new(pool: Pool, unreplicated: Arc<UnreplicatedWrites>) -> Self {
        let state = ReplicaState::Unavailable { reason: "it has not been checked yet".to_owned() };
        Self { pool, unreplicated, watched: Mutex::new(Watched { state, floor: None }) }
    }

    pub fn state(&self) -> ReplicaState {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).state.clone()
    }

    pub fn serves(&self) -> bool {
        matches!(self.watched.lock().unwrap_or_else(PoisonError::into_inner).state, ReplicaState::Serving { .. })
    }

    pub fn set(&self, state: ReplicaState) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let place = self.pool.manager().target.place();
        match (&watched.state, &state) {
            (ReplicaState::Serving { .. }, ReplicaState::Serving { .. }) => {}
            (_, ReplicaState::Serving { .. }) => tracing::info!(place, "the replica serves reads"),
            (ReplicaState::Unavailable { reason: before }, ReplicaState::Unavailable { reason })
                if before == reason => {}
            (_, ReplicaState::Unavailable { reason }) => {
                tracing::warn!(place, reason, "the replica is not used; reads go to the primary");
            }
            (ReplicaState::Lagging { .. }, ReplicaState::Lagging { .. }) => {}
            (_, ReplicaState::Lagging { behind }) => {
                tracing::warn!(place, behind, "the replica does not keep up; reads go to the primary");
            }
        }
        watched.state = state;
    }

    /// Records the log positions of the primary and the replica.
    pub fn record_positions(&self, primary: i64, replayed: i64) {
        let before = self.watched.lock().unwrap_or_else(PoisonError::into_inner).floor.replace(primary);
        let behind = (primary - replayed).max(0);
        let follows = before.is_none_or(|floor| replayed >= floor);
        self.set(if follows { ReplicaState::Serving { behind } } else { ReplicaState::Lagging { behind } });
    }
}

/// A session on the replica; `None` if the replica lacks something that this tenant wrote.
pub(crate) async fn read_from(
    replica: &Replica,
    tenant: &TenantId,
    mark: WritePosition,
) -> Result<Option<Conn>, StoreError> {
    let mut conn = of_tenant(&replica.pool, tenant, acquire_once).await?;
    if let WritePosition::Known(_, wanted) = mark {
        let at = position(&mut conn).await?;
        if at < wanted {
            return Ok(None);
        }
        replica.unreplicated.replayed(at);
    }
    Ok(Some(conn))
}

/// How far a primary has flushed its log, or a replica has replayed it.
pub(crate) async fn position(session: &mut Session) -> Result<i64, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END
                           - '0/0'::pg_lsn)::bigint AS "position!""#
            )
            .fetch_one(pg)
        })
        .await
}

/// The cluster of a server, and its log position.
pub(crate) struct Standing {
    pub system: i64,
    pub position: i64,
}

pub(crate) async fn standing(session: &mut Session) -> Result<Standing, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                Standing,
                r#"SELECT (SELECT system_identifier FROM pg_control_system()) AS "system!",
                          (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END
                           - '0/0'::pg_lsn)::bigint AS "position!""#
            )
            .fetch_one(pg)
        })
        .await
}
