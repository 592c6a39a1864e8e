//! Pools of sessions, one for each kind of work.

use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use butler_domain::TenantId;
use deadpool::Status;
use deadpool::managed::{self, Object, PoolError, Timeouts};
use futures::future::BoxFuture;
use tokio::sync::OwnedSemaphorePermit;

use crate::connection::manager::{Kind, Manager};
use crate::connection::session::Session;
use crate::connection::target::ServerRole;
use crate::error::StoreError;

/// How long to wait for a server that was reachable before. A restart takes less, and nothing of the caller was sent yet.
const RESTART_TIMEOUT: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_millis(400);
/// How many statements a session runs before a second one is opened: about ten recalls without half a minute's pause.
const REGULAR_USE: u64 = 20;
/// Takes an idle session or none.
const AT_ONCE: Timeouts = Timeouts { wait: Some(Duration::ZERO), create: Some(Duration::ZERO), recycle: None };

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
    /// Borrows an idle session for the same tenant, so that a call can run two statements at the same time; `None` if there is
    /// none.
    pub(crate) async fn second(&self) -> Option<Second> {
        let (pool, status, permit) = self.pool_used_alone()?;
        if status.available == 0 {
            return None;
        }
        let mut conn = Conn { object: Some(pool.timeout_get(&AT_ONCE).await.ok()?) };
        if conn.tenant() != self.tenant() {
            conn.set_tenant(self.tenant()?).await.ok()?;
        }
        Some(Second { conn, _permit: permit })
    }

    /// The future opens a second session for later calls; `None` if this one is not in regular use or there is no room.
    pub(crate) fn open_second(&self) -> Option<impl Future<Output = Result<Second, StoreError>> + use<>> {
        let (pool, status, permit) = self.pool_used_alone()?;
        let tenant = self.tenant()?.clone();
        // of two sessions, another caller may need one
        let is_wanted = status.available == 0 && status.max_size > 2 && self.statements() >= REGULAR_USE;
        (is_wanted && pool.manager().limit.has_room()).then_some(async move {
            let opened = of_tenant(&pool, &tenant, acquire_once).await;
            if opened.is_err() {
                pool.manager().limit.opening_failed();
            }
            Ok(Second { conn: opened?, _permit: permit })
        })
    }

    /// The pool, its status and the right to use another of its sessions, if no other caller uses the pool. Never on a replica:
    /// another session may lead to a server that has replayed less.
    fn pool_used_alone(&self) -> Option<(Pool, Status, OwnedSemaphorePermit)> {
        let pool = Object::pool(self.object.as_ref()?)?;
        let (manager, status) = (pool.manager(), pool.status());
        if manager.target.role != ServerRole::Primary || status.size - status.available + status.waiting != 1 {
            return None;
        }
        let permit = manager.limit.second_permit()?;
        Some((pool, status, permit))
    }
}

/// A session borrowed for a part of a call.
pub(crate) struct Second {
    conn: Conn,
    _permit: OwnedSemaphorePermit,
}

impl Deref for Second {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.conn
    }
}

impl DerefMut for Second {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.conn
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
