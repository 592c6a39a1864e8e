//! Limits how many connections this process opens to one server, for all its butlers together.
//!
//! A connection belongs to one butler, role and commit mode for its life, so it cannot serve another butler by mistake
//! (docs/adr/0100). The butlers share the number only: at the limit, the connection that was idle the longest is closed
//! to make room, and a connection that is returned while others wait is closed for them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use deadpool::managed::WeakPool;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::connection::manager::Manager;
use crate::connection::pool::end;
use crate::error::StoreError;

/// The limit until the server has reported its own.
const UNKNOWN_LIMIT: usize = 8;
/// The share of the server's connections that this process takes by default. The rest is for backups, psql and a second
/// server process. If several processes exceed the server's limit, it refuses their connections, and they close idle
/// ones.
const SHARE: (usize, usize) = (3, 4);
/// One in this many connections may listen for token changes. Databases beyond that are polled.
const LISTENER_FRACTION: usize = 4;
/// How long no connection is opened in advance after that failed.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(60);

/// The connections of a process, counted per server. Clones share the counts.
#[derive(Debug, Clone, Default)]
pub struct Connections(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    limit: Option<usize>,
    limits: Mutex<HashMap<String, Arc<ConnectionLimit>>>,
}

/// The connections to one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConnections {
    pub server: String,
    pub open: usize,
    pub waiting: usize,
    pub limit: usize,
}

impl Connections {
    /// Allows this many connections to each server; `None` means three quarters of what the server accepts.
    pub fn limited(limit: Option<usize>) -> Self {
        Self(Arc::new(Inner { limit, limits: Mutex::default() }))
    }

    pub(crate) fn at(&self, server: &str) -> Arc<ConnectionLimit> {
        let new = || Arc::new(ConnectionLimit::new(self.0.limit));
        Arc::clone(lock(&self.0.limits).entry(server.to_owned()).or_insert_with(new))
    }

    /// The counts for every server, sorted by name.
    pub fn servers(&self) -> Vec<ServerConnections> {
        let mut all: Vec<_> = lock(&self.0.limits)
            .iter()
            .map(|(server, limit)| ServerConnections {
                server: server.clone(),
                open: limit.open(),
                waiting: limit.waiting.load(Ordering::Relaxed),
                limit: limit.limit.load(Ordering::Relaxed),
            })
            .collect();
        all.sort_by(|a, b| a.server.cmp(&b.server));
        all
    }
}

pub(crate) struct ConnectionLimit {
    permits: Arc<Semaphore>,
    limit: AtomicUsize,
    /// Whether the limit is final. If not, it is taken from the server at the first connection.
    known: Mutex<bool>,
    checked: AtomicBool,
    waiting: AtomicUsize,
    /// Waiters that no idle connection has been closed for yet.
    unserved: AtomicUsize,
    listeners: AtomicUsize,
    /// The right to use a second connection at the same time: one for every two processors.
    second_permits: Arc<Semaphore>,
    /// When a connection could not be opened in advance.
    failed_at: Mutex<Option<Instant>>,
    pools: Mutex<Vec<WeakPool<Manager>>>,
}

/// Held while the connection is open.
pub(crate) type Permit = OwnedSemaphorePermit;

impl ConnectionLimit {
    fn new(limit: Option<usize>) -> Self {
        let first = limit.unwrap_or(UNKNOWN_LIMIT).max(1);
        Self {
            permits: Arc::new(Semaphore::new(first)),
            limit: AtomicUsize::new(first),
            known: Mutex::new(limit.is_some()),
            checked: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            unserved: AtomicUsize::new(0),
            listeners: AtomicUsize::new(0),
            second_permits: Arc::new(Semaphore::new(
                available_parallelism().map_or(0, |processors| processors.get() / 2),
            )),
            failed_at: Mutex::default(),
            pools: Mutex::default(),
        }
    }

    /// Whether the server was checked, so that its limit is known.
    pub fn is_checked(&self) -> bool {
        self.checked.load(Ordering::Acquire)
    }

    /// Records how many connections the server accepts from ordinary roles.
    pub fn set_server_limit(&self, server_takes: usize) {
        self.checked.store(true, Ordering::Release);
        let mut known = lock(&self.known);
        if *known {
            return;
        }
        *known = true;
        let limit = (server_takes * SHARE.0 / SHARE.1).max(1);
        let before = self.limit.swap(limit, Ordering::Relaxed);
        if limit > before {
            self.permits.add_permits(limit - before);
        } else {
            self.permits.forget_permits(before - limit);
        }
    }

    /// Adds a pool whose idle connections may be closed to make room.
    pub fn register(&self, pool: WeakPool<Manager>) {
        let mut pools = lock(&self.pools);
        pools.retain(|pool| pool.upgrade().is_some());
        pools.push(pool);
    }

    /// The right of a call to use two connections at the same time; `None` if as many calls do so as there are pairs of
    /// processors.
    pub fn second_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.second_permits).try_acquire_owned().ok()
    }

    /// Whether one more connection can be opened without closing another: fewer than half are open, and opening one in advance
    /// did not fail within the last minute.
    pub fn has_room(&self) -> bool {
        let failed = lock(&self.failed_at).is_some_and(|at| at.elapsed() < PAUSE_AFTER_FAILURE);
        !failed && 2 * self.open() < self.limit.load(Ordering::Relaxed)
    }

    /// Records that a connection could not be opened in advance.
    pub fn opening_failed(&self) {
        *lock(&self.failed_at) = Some(Instant::now());
    }

    /// Waits for the right to open a connection, and closes an idle one if necessary.
    pub async fn permit(&self, timeout: Duration) -> Result<Permit, StoreError> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(permit);
        }
        let _waiting = Waiting::begin(self);
        self.make_room();
        match tokio::time::timeout(timeout, Arc::clone(&self.permits).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(StoreError::Unavailable {
                reason: format!(
                    "all {} connections this process may open to the server were busy for too long",
                    self.limit.load(Ordering::Relaxed)
                ),
            }),
        }
    }

    /// A permit for a connection that stays open; `None` if too many of these exist already.
    pub async fn listener(self: &Arc<Self>, timeout: Duration) -> Result<Option<ListenerSlot>, StoreError> {
        let most = (self.limit.load(Ordering::Relaxed) / LISTENER_FRACTION).max(1);
        let taken = self.listeners.fetch_add(1, Ordering::AcqRel);
        let place = ListenerPlace(Arc::clone(self));
        if taken >= most {
            return Ok(None);
        }
        Ok(Some(ListenerSlot { _permit: self.permit(timeout).await?, _place: place }))
    }

    /// Whether to close a returned connection because another butler waits for one. Each waiter claims one connection.
    pub fn claim_returned(&self) -> bool {
        self.unserved.load(Ordering::Relaxed) > 0
            && self
                .unserved
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, |unserved| unserved.checked_sub(1))
                .is_ok()
    }

    /// Closes the connection that was idle the longest, of any butler.
    pub fn make_room(&self) {
        let pools: Vec<_> = lock(&self.pools).iter().filter_map(WeakPool::upgrade).collect();
        let mut oldest: Option<(Duration, usize)> = None;
        for (at, pool) in pools.iter().enumerate() {
            pool.retain(|_, metrics| {
                let idle = metrics.last_used();
                if oldest.is_none_or(|(most, _)| idle > most) {
                    oldest = Some((idle, at));
                }
                true
            });
        }
        let Some((idle, at)) = oldest else { return };
        let mut taken = false;
        let removed =
            pools[at].retain(|_, metrics| taken || metrics.last_used() < idle || std::mem::replace(&mut taken, true));
        for session in removed.removed {
            self.claim_returned();
            end(session);
        }
    }

    fn open(&self) -> usize {
        self.limit.load(Ordering::Relaxed).saturating_sub(self.permits.available_permits())
    }
}

impl std::fmt::Debug for ConnectionLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectionLimit").field("open", &self.open()).field("limit", &self.limit).finish()
    }
}

/// A permit for a connection that stays open.
pub(crate) struct ListenerSlot {
    _permit: Permit,
    _place: ListenerPlace,
}

struct ListenerPlace(Arc<ConnectionLimit>);

impl Drop for ListenerPlace {
    fn drop(&mut self) {
        self.0.listeners.fetch_sub(1, Ordering::AcqRel);
    }
}

struct Waiting<'a>(&'a ConnectionLimit);

impl<'a> Waiting<'a> {
    fn begin(limit: &'a ConnectionLimit) -> Self {
        limit.waiting.fetch_add(1, Ordering::AcqRel);
        limit.unserved.fetch_add(1, Ordering::AcqRel);
        Self(limit)
    }
}

impl Drop for Waiting<'_> {
    /// A waiter that got a connection or gave up needs no idle connection closed.
    fn drop(&mut self) {
        let left = self.0.waiting.fetch_sub(1, Ordering::AcqRel).saturating_sub(1);
        self.0.unserved.fetch_min(left, Ordering::AcqRel);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_limit_is_learnt_once_and_holds() {
        let limit = Connections::default().at("here");
        assert_eq!((limit.open(), limit.is_checked()), (0, false));
        limit.set_server_limit(4);
        limit.set_server_limit(400);
        let timeout = Duration::from_millis(20);
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(limit.permit(timeout).await.unwrap());
        }
        assert_eq!(limit.open(), 3);
        assert!(limit.permit(timeout).await.unwrap_err().to_string().contains("all 3 connections"));
        held.pop();
        held.push(limit.permit(timeout).await.unwrap());
        let fixed = Connections::limited(Some(2)).at("there");
        fixed.set_server_limit(100);
        assert_eq!(fixed.limit.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn a_connection_is_opened_in_advance_only_while_there_is_room() {
        let limit = Connections::limited(Some(4)).at("here");
        let _one = limit.permit(Duration::ZERO).await.unwrap();
        assert!(limit.has_room());
        limit.opening_failed();
        assert!(!limit.has_room());
        *lock(&limit.failed_at) = None;
        let _two = limit.permit(Duration::ZERO).await.unwrap();
        assert!(!limit.has_room());
    }

    #[tokio::test]
    async fn only_some_connections_are_kept_for_good() {
        let limit = Connections::limited(Some(8)).at("here");
        let timeout = Duration::from_millis(20);
        let first = limit.listener(timeout).await.unwrap();
        let second = limit.listener(timeout).await.unwrap();
        assert!(first.is_some() && second.is_some());
        assert!(limit.listener(timeout).await.unwrap().is_none());
        drop(first);
        assert!(limit.listener(timeout).await.unwrap().is_some());
    }
}
