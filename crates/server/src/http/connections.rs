//! Limits the open connections of clients, so that descriptors remain for PostgreSQL, files and child processes.
//!
//! At the limit a new connection replaces the one that has been idle for the longest time: idle connections cannot keep
//! anyone out, and whoever sends a request with a valid token loses its place last.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use butler_host::config::ServerSection;
use butler_host::descriptors;
use butler_host::metrics::{ClientMetrics, ClosedBecause};
use futures::task::AtomicWaker;
use tokio::sync::Notify;

/// How long a new connection waits for the one that it replaces to close, which normally takes microseconds.
const REPLACE_TIMEOUT: Duration = Duration::from_secs(1);
/// A flood of connections must not become a flood of log lines.
const WARN_EVERY: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    pub total: usize,
    /// For each address other than loopback, which all programs of this machine and a local proxy share.
    pub per_address: usize,
}

impl ConnectionLimits {
    /// Uses no more memory than a hundred megabytes or so for idle connections.
    const MAX_DEFAULT: usize = 10_000;
    /// Descriptors for listeners, files, child processes and requests to LLMs.
    const RESERVED: usize = 128;
    /// PostgreSQL accepts 100 connections by default.
    const DATABASE_CONNECTIONS: usize = 100;

    /// The configured limits, within what the limit of open files allows.
    pub fn of(server: &ServerSection, open_files: usize) -> Self {
        let reserved = Self::RESERVED + server.connections.unwrap_or(Self::DATABASE_CONNECTIONS);
        let possible = open_files - reserved.min(open_files / 2);
        let total = match server.client_connections {
            Some(wanted) if wanted > possible => {
                let hint = descriptors::HINT;
                tracing::warn!(hint, "only {possible} of {wanted} client_connections fit into {open_files} open files");
                possible
            }
            Some(wanted) => wanted,
            None => possible.min(Self::MAX_DEFAULT),
        };
        let per_address = server.client_connections_per_address.unwrap_or(total.div_ceil(2)).min(total);
        Self { total, per_address }
    }
}

/// The open connections of clients.
#[derive(Clone)]
pub struct Connections(Arc<Inner>);

struct Inner {
    limits: ConnectionLimits,
    metrics: ClientMetrics,
    open: Mutex<Open>,
    /// Orders the connections by their last use.
    uses: AtomicU64,
    warned: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct Open {
    connections: HashMap<u64, Arc<Connection>>,
    next_id: u64,
}

/// What is known about one open connection.
pub struct Connection {
    id: u64,
    /// The peer's network, see [`network`].
    pub(super) peer: IpAddr,
    /// Requests whose response is not complete.
    requests: AtomicUsize,
    /// Whether a request with a valid token arrived on it.
    authenticated: AtomicBool,
    last_use: AtomicU64,
    replaced: AtomicBool,
    waker: AtomicWaker,
    closed: Notify,
}

/// The place of one connection. It is free again when this is dropped.
pub struct Place {
    connections: Connections,
    connection: Arc<Connection>,
}

impl Connections {
    pub fn new(limits: ConnectionLimits, metrics: ClientMetrics) -> Self {
        metrics.max.set(i64::try_from(limits.total).unwrap_or(i64::MAX));
        let inner =
            Inner { limits, metrics, open: Mutex::default(), uses: AtomicU64::new(0), warned: Mutex::new(None) };
        Self(Arc::new(inner))
    }

    /// Finds a place for a new connection, if necessary that of an idle one. Returns `None` if all connections are in
    /// use.
    pub async fn admit(&self, peer: IpAddr) -> Option<Place> {
        let (place, replaced) = self.place(network(peer))?;
        if let Some(replaced) = replaced {
            self.0.metrics.closed(ClosedBecause::Replaced);
            self.warn("all connections are open; a new one replaces the one that has been idle for the longest time");
            let _ = tokio::time::timeout(REPLACE_TIMEOUT, replaced.closed.notified()).await;
        }
        Some(place)
    }

    fn place(&self, peer: IpAddr) -> Option<(Place, Option<Arc<Connection>>)> {
        let Inner { limits, metrics, open, .. } = &*self.0;
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        let of_peer = open.connections.values().filter(|connection| connection.peer == peer).count();
        let peer_is_full = !peer.is_loopback() && of_peer >= limits.per_address;
        let replaced = if peer_is_full {
            Some(open.longest_idle(Some(peer))?)
        } else if open.connections.len() >= limits.total {
            Some(open.longest_idle(None)?)
        } else {
            None
        };
        if let Some(replaced) = &replaced {
            open.connections.remove(&replaced.id);
            replaced.close();
        }
        open.next_id += 1;
        let connection = Arc::new(Connection {
            id: open.next_id,
            peer,
            requests: AtomicUsize::new(0),
            authenticated: AtomicBool::new(false),
            last_use: AtomicU64::new(self.next_use()),
            replaced: AtomicBool::new(false),
            waker: AtomicWaker::new(),
            closed: Notify::new(),
        });
        open.connections.insert(connection.id, Arc::clone(&connection));
        metrics.open.inc();
        Some((Place { connections: self.clone(), connection }, replaced))
    }

    pub fn refused(&self) {
        self.0.metrics.closed(ClosedBecause::Refused);
        self.warn("all connections are in use; a new one was refused");
    }

    pub fn timed_out(&self) {
        self.0.metrics.closed(ClosedBecause::Idle);
    }

    /// No descriptor is left for a new connection: closes an idle one, so that the next attempt succeeds.
    pub fn out_of_descriptors(&self) {
        self.0.metrics.closed(ClosedBecause::NoDescriptor);
        self.warn("the process has no file descriptor left for a new connection");
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(idle) = open.longest_idle(None) {
            open.connections.remove(&idle.id);
            idle.close();
        }
    }

    fn next_use(&self) -> u64 {
        self.0.uses.fetch_add(1, Ordering::Relaxed)
    }

    fn warn(&self, what: &str) {
        let mut warned = self.0.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.is_none_or(|at| at.elapsed() > WARN_EVERY) {
            *warned = Some(Instant::now());
            tracing::warn!(limit = self.0.limits.total, hint = descriptors::HINT, "{what}");
        }
    }
}

impl Open {
    /// The connection to replace: one without a valid token before one with, then the one used least recently.
    fn longest_idle(&self, peer: Option<IpAddr>) -> Option<Arc<Connection>> {
        let replaceable =
            |connection: &&Arc<Connection>| !connection.is_busy() && peer.is_none_or(|peer| peer == connection.peer);
        let order = |connection: &&Arc<Connection>| {
            (connection.authenticated.load(Ordering::Relaxed), connection.last_use.load(Ordering::Relaxed))
        };
        self.connections.values().filter(replaceable).min_by_key(order).cloned()
    }
}

impl Connection {
    pub fn is_busy(&self) -> bool {
        self.requests.load(Ordering::Acquire) > 0
    }

    /// Whether the connection must close, because another one has its place. A request in progress completes first.
    pub fn must_close(&self) -> bool {
        self.replaced.load(Ordering::Acquire) && !self.is_busy()
    }

    /// The task that reads from the connection, to wake it up when it must close.
    pub fn read_by(&self, waker: &std::task::Waker) {
        self.waker.register(waker);
    }

    pub fn authenticated(&self) {
        self.authenticated.store(true, Ordering::Relaxed);
    }

    fn close(&self) {
        self.replaced.store(true, Ordering::Release);
        self.waker.wake();
    }
}

impl Place {
    pub fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    pub fn connections(&self) -> &Connections {
        &self.connections
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Inner { open, metrics, .. } = &*self.connections.0;
        open.lock().unwrap_or_else(PoisonError::into_inner).connections.remove(&self.connection.id);
        metrics.open.dec();
        self.connection.closed.notify_one();
    }
}

/// A request whose response is not complete. Its connection is busy until this is dropped.
pub struct RequestInProgress {
    connections: Connections,
    connection: Arc<Connection>,
}

impl RequestInProgress {
    pub fn begin(connections: &Connections, connection: &Arc<Connection>) -> Self {
        connection.requests.fetch_add(1, Ordering::AcqRel);
        Self { connections: connections.clone(), connection: Arc::clone(connection) }
    }
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        self.connection.last_use.store(self.connections.next_use(), Ordering::Relaxed);
        self.connection.requests.fetch_sub(1, Ordering::AcqRel);
        // It may have been replaced while it was busy.
        self.connection.waker.wake();
    }
}

/// Addresses that one client controls count as one: a client has a whole IPv6 network of 64 bits.
pub fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(ip) if !ip.is_loopback() => Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)).into(),
        ip => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(total: usize, per_address: usize) -> Connections {
        Connections::new(ConnectionLimits { total, per_address }, ClientMetrics::default())
    }

    /// Takes a place as the listener does. A replaced connection closes at once.
    fn take(connections: &Connections, peer: &str) -> Option<(Place, Option<u64>)> {
        let (place, replaced) = connections.place(network(peer.parse().unwrap()))?;
        Some((place, replaced.map(|replaced| replaced.id)))
    }

    #[test]
    fn at_the_limit_the_least_recently_used_idle_connection_is_replaced() {
        let all = connections(3, 3);
        let places: Vec<Place> = (0..3).map(|_| take(&all, "127.0.0.1").unwrap().0).collect();
        let busy = RequestInProgress::begin(&all, places[0].connection());
        places[1].connection().authenticated();
        let (_new, replaced) = take(&all, "127.0.0.1").unwrap();
        assert_eq!(replaced, Some(3), "the first is busy, the second has a token");
        assert!(places[2].connection().must_close() && !places[0].connection().must_close());
        let newest = RequestInProgress::begin(&all, _new.connection());
        assert_eq!(take(&all, "127.0.0.1").unwrap().1, Some(2));
        drop((busy, newest));
    }

    #[test]
    fn a_new_connection_is_refused_only_if_all_are_in_use() {
        let all = connections(2, 2);
        let places: Vec<Place> = (0..2).map(|_| take(&all, "127.0.0.1").unwrap().0).collect();
        let mut requests: Vec<RequestInProgress> =
            places.iter().map(|place| RequestInProgress::begin(&all, place.connection())).collect();
        assert!(take(&all, "127.0.0.1").is_none());
        requests.pop();
        assert_eq!(take(&all, "127.0.0.1").unwrap().1, Some(2));
    }

    #[test]
    fn one_address_cannot_take_the_places_of_others() {
        let all = connections(4, 2);
        let other = take(&all, "192.0.2.9").unwrap().0;
        let _one = take(&all, "2001:db8::1").unwrap();
        let _two = take(&all, "2001:db8::2").unwrap();
        let (_three, replaced) = take(&all, "2001:db8::3").unwrap();
        assert_eq!(replaced, Some(2), "the network has two places");
        assert!(!other.connection().must_close());
        // Loopback is shared by the programs of this machine and may use all places.
        let local: Vec<_> = (0..4).map(|_| take(&all, "127.0.0.1").unwrap()).collect();
        assert!(local[0].1.is_none() && local[3].1.is_some());
    }

    #[test]
    fn the_limit_leaves_descriptors_for_everything_else() {
        let of = |open_files, section: &ServerSection| ConnectionLimits::of(section, open_files);
        let default = ServerSection::default();
        assert_eq!(of(256, &default), ConnectionLimits { total: 128, per_address: 64 });
        assert_eq!(of(1024, &default).total, 796);
        assert_eq!(of(1_000_000, &default).total, 10_000);
        let wanted = ServerSection { client_connections: Some(500), ..ServerSection::default() };
        assert_eq!((of(256, &wanted).total, of(4096, &wanted).total), (128, 500));
    }
}
