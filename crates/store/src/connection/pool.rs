//! Pools of sessions, one for each kind of work.

use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use butler_domain::TenantId;
use deadpool::managed::{self, Object, PoolError};
use futures::future::BoxFuture;

use crate::connection::manager::{Kind, Manager};
use crate::connection::session::Session;
use crate::connection::target::ServerRole;
use crate::error::StoreError;

/// How long to wait for a server that was reachable before. A restart takes less, and nothing of the caller was sent yet.
const RESTART_TIMEOUT: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_millis(400);

pub(crate) type Pool = managed::Pool<Manager>;

pub(crate) async fn acquire(pool: &Pool) -> Result<Conn, StoreError> {
    let (begun, mut pause) = (Instant::now(), FIRST_PAUSE);
    loop {
        match acquire_once(pool).await {
            Err(error)
                if error.is_unavailable()
                    && pool.manager().target.was_reached()
                    && !pool.is_closed()
                    && begun.elapsed() + pause < RESTART_TIMEOUT =>
            {
                tokio::time::sleep(pause).await;
                pause = (2 * pause).min(LONGEST_PAUSE);
            }
            Err(StoreError::Unreachable { reason, .. }) if pool.manager().kept_alive => {
                return Err(StoreError::Restarting { reason });
            }
            outcome => return outcome,
        }
    }
}

/// Acquires a session without waiting for an unreachable server to come back.
/// Boxed, so that the crates above do not compile opening a connection again.
pub(crate) fn acquire_once(pool: &Pool) -> BoxFuture<'_, Result<Conn, StoreError>> {
    Box::pin(async move {
        match pool.get().await {
            Ok(object) => Ok(Conn { object: Some(object) }),
            Err(PoolError::Backend(error)) => Err(error),
            Err(PoolError::Timeout(managed::TimeoutType::Wait)) => Err(StoreError::Unavailable {
                reason: format!("all {} connections were busy for too long", pool.status().max_size),
            }),
            Err(PoolError::Timeout(_)) => Err(StoreError::Unreachable {
                place: pool.manager().target.place(),
                reason: "no answer in time".to_owned(),
            }),
            Err(error) => Err(StoreError::Unavailable { reason: error.to_string() }),
        }
    })
}

/// A session of this tenant. Setting the tenant is the first statement that reaches the server, so a connection that was
/// lost while idle fails here, before anything of the caller was sent, and another one is tried.
pub(crate) async fn of_tenant(
    pool: &Pool,
    tenant: &TenantId,
    acquire: impl AsyncFn(&Pool) -> Result<Conn, StoreError>,
) -> Result<Conn, StoreError> {
    let mut retried = false;
    loop {
        let mut conn = acquire(pool).await?;
        if conn.tenant() == Some(tenant) {
            return Ok(conn);
        }
        match conn.set_tenant(tenant).await {
            Ok(()) => return Ok(conn),
            Err(error) if error.is_unavailable() && !retried => retried = true,
            Err(error) => return Err(error),
        }
    }
}

/// Closes idle sessions of the pool. A session that is in use stays open.
pub(crate) async fn close_idle(pool: &Pool, idle: Duration) {
    for session in pool.retain(|_, metrics| metrics.last_used() < idle).removed {
        session.close().await;
    }
}

/// Closes the idle sessions and accepts no more callers. Sessions in use close when they are returned.
pub(crate) async fn close(pool: &Pool) {
    let idle = pool.retain(|_, _| false).removed;
    pool.close();
    for session in idle {
        session.close().await;
    }
}

/// Closes a session in the background.
pub(crate) fn end(session: Session) {
    // Without a runtime the socket is closed by the drop.
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(session.close());
    }
}

/// A session borrowed from its pool.
pub struct Conn {
    object: Option<Object<Manager>>,
}

impl Conn {
    /// A second session of the same tenant, if one is idle, so that a call can do two things at the same time. If none is, and
    /// there is room for more, one is opened for later calls: this one would wait for it longer than it would save.
    /// Never on a replica, where another session may have replayed less.
    pub(crate) async fn beside(&self) -> Option<Conn> {
        let object = self.object.as_ref()?;
        let (pool, tenant) = (Object::pool(object)?, object.tenant()?);
        let (manager, status) = (pool.manager(), pool.status());
        if manager.target.role != ServerRole::Primary {
            return None;
        }
        if status.available > 0 {
            return of_tenant(&pool, tenant, acquire_once).await.ok();
        }
        if status.size < status.max_size && manager.limit.has_room() {
            tokio::spawn(async move { drop(acquire_once(&pool).await) });
        }
        None
    }
}

impl Deref for Conn {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.object.as_ref().expect("taken by drop alone")
    }
}

impl DerefMut for Conn {
    fn deref_mut(&mut self) -> &mut Session {
        self.object.as_mut().expect("taken by drop alone")
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        let Some(mut object) = self.object.take() else { return };
        let Some(pool) = Object::pool(&object) else { return };
        let manager = pool.manager();
        if let (Kind::Writer, Some(unreplicated), Some(tenant)) = (manager.kind, &manager.unreplicated, object.tenant())
        {
            unreplicated.wrote(tenant);
        }
        // The rollback needs the server, which drop cannot wait for. Without a runtime the connection is closed instead.
        if object.needs_rollback()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                if object.settle().await.is_err() {
                    object.discard();
                }
            });
        } else if manager.limit.claim_returned() {
            end(Object::take(object));
        }
    }
}
