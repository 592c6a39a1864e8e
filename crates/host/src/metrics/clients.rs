//! Metrics of the connections that clients hold open.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Why the server closed or refused a client's connection.
#[derive(Debug, Clone, Copy)]
pub enum ClosedBecause {
    /// It was idle for longer than `idle_timeout_s`.
    Idle,
    /// It had been idle for the longest time when a new connection needed its place.
    Replaced,
    /// Every connection was in use.
    Refused,
    /// No file descriptor was left.
    NoDescriptor,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

#[derive(Debug, Clone, Default)]
pub struct ClientMetrics {
    pub open: Gauge,
    pub max: Gauge,
    closed: Family<Reason, Counter>,
}

impl ClientMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("client_connections_open", "Open connections of clients", self.open.clone());
        registry.register("client_connections_max", "Maximum number of connections of clients", self.max.clone());
        let closed = "Connections of clients that the server closed or refused, by reason";
        registry.register("client_connections_closed", closed, self.closed.clone());
    }

    pub fn closed(&self, reason: ClosedBecause) {
        let reason = match reason {
            ClosedBecause::Idle => "idle",
            ClosedBecause::Replaced => "replaced",
            ClosedBecause::Refused => "refused",
            ClosedBecause::NoDescriptor => "no_descriptor",
        };
        self.closed.get_or_create(&Reason { reason }).inc();
    }
}
