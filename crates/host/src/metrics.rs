//! The Prometheus metrics at `/metrics`.

mod clients;
mod database;

use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use butler_domain::Timestamp;
use butler_embed::EmbedStats;
use butler_store::{ReplicaState, ServerConnections};
pub use clients::{ClientMetrics, ClosedBecause};
use database::DatabaseMetrics;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::butler::Butler;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ToolLabels {
    butler: String,
    tool: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorLabels {
    butler: String,
    tool: &'static str,
    code: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ButlerLabel {
    butler: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ServerLabel {
    server: String,
}

/// From a cached search (1 ms) to a call that waits for a database restart.
const LATENCY_BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

pub struct Metrics {
    registry: Registry,
    calls: Family<ToolLabels, Counter>,
    errors: Family<ErrorLabels, Counter>,
    seconds: Family<ToolLabels, Histogram, fn() -> Histogram>,
    sampled: SampledMetrics,
    state: DatabaseMetrics,
    clients: ClientMetrics,
    /// Serializes requests, because each one sets the gauges and then encodes them.
    writing: Mutex<()>,
}

/// Metrics whose values are kept elsewhere and are read for each request.
#[derive(Default)]
struct SampledMetrics {
    queue: Gauge,
    cache_hits: Counter,
    cache_misses: Counter,
    pool_open: Family<ButlerLabel, Gauge>,
    pool_in_use: Family<ButlerLabel, Gauge>,
    pool_waiting: Family<ButlerLabel, Gauge>,
    pool_max: Family<ButlerLabel, Gauge>,
    replica_up: Family<ButlerLabel, Gauge>,
    replica_behind: Family<ButlerLabel, Gauge>,
    server_open: Family<ServerLabel, Gauge>,
    server_waiting: Family<ServerLabel, Gauge>,
    server_max: Family<ServerLabel, Gauge>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("butler");
        let calls = Family::<ToolLabels, Counter>::default();
        let errors = Family::<ErrorLabels, Counter>::default();
        let histogram: fn() -> Histogram = || Histogram::new(LATENCY_BUCKETS);
        let seconds = Family::new_with_constructor(histogram);
        registry.register("tool_calls", "Number of tool calls", calls.clone());
        registry.register("tool_errors", "Number of tool calls that returned an error, by error code", errors.clone());
        registry.register_with_unit("tool_duration", "Duration of tool calls", Unit::Seconds, seconds.clone());
        let build = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "Version of the program", build);
        let sampled = SampledMetrics::default();
        sampled.register(&mut registry);
        let state = DatabaseMetrics::default();
        state.register(&mut registry);
        let clients = ClientMetrics::default();
        clients.register(&mut registry);
        Self { registry, calls, errors, seconds, sampled, state, clients, writing: Mutex::new(()) }
    }
}

impl SampledMetrics {
    fn register(&self, registry: &mut Registry) {
        registry.register("embedding_queue_depth", "Texts waiting for the embedding engine", self.queue.clone());
        registry.register("embedding_cache_hits", "Texts whose embedding was in the cache", self.cache_hits.clone());
        registry.register("embedding_cache_misses", "Texts that had to be embedded", self.cache_misses.clone());
        registry.register("pool_open", "Open connections in the butler's pool", self.pool_open.clone());
        registry.register("pool_in_use", "Connections in use in the butler's pool", self.pool_in_use.clone());
        registry.register(
            "pool_waiting",
            "Calls waiting for a connection from the butler's pool",
            self.pool_waiting.clone(),
        );
        registry.register("pool_max", "Maximum number of connections in the butler's pool", self.pool_max.clone());
        registry.register(
            "replica_up",
            "1 if reads go to the replica, 0 if they go to the primary",
            self.replica_up.clone(),
        );
        let behind = "Bytes of WAL that the replica had not replayed at the last check";
        registry.register("replica_behind_bytes", behind, self.replica_behind.clone());
        let open = "Open connections of this process to a PostgreSQL server, for all butlers";
        registry.register("server_connections_open", open, self.server_open.clone());
        let waiting = "Calls waiting because the connection limit is reached";
        registry.register("server_connections_waiting", waiting, self.server_waiting.clone());
        registry.register(
            "server_connections_max",
            "Maximum number of connections of this process to a server",
            self.server_max.clone(),
        );
    }

    fn read(&self, engine: &EmbedStats, butlers: &[Arc<Butler>], servers: &[ServerConnections]) {
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.queue.set(whole(engine.queue_depth as u64));
        self.cache_hits.inner().store(engine.cache_hits, Ordering::Relaxed);
        self.cache_misses.inner().store(engine.cache_misses, Ordering::Relaxed);
        for family in [&self.pool_open, &self.pool_in_use, &self.pool_waiting, &self.pool_max] {
            // Removes the values of butlers that no longer exist.
            family.clear();
        }
        for butler in butlers {
            let Some(database) = butler.database() else { continue };
            let (label, pool) = (ButlerLabel { butler: butler.name.to_string() }, database.pool_stats());
            self.pool_open.get_or_create(&label).set(whole(pool.open as u64));
            self.pool_in_use.get_or_create(&label).set(whole(pool.in_use as u64));
            self.pool_waiting.get_or_create(&label).set(whole(pool.waiting as u64));
            self.pool_max.get_or_create(&label).set(whole(pool.max as u64));
            let Some(state) = database.replica_state() else { continue };
            let (up, behind) = match state {
                ReplicaState::Serving { behind } => (1, Some(behind)),
                ReplicaState::Lagging { behind } => (0, Some(behind)),
                ReplicaState::Unavailable { .. } => (0, None),
            };
            self.replica_up.get_or_create(&label).set(up);
            if let Some(behind) = behind {
                self.replica_behind.get_or_create(&label).set(behind);
            }
        }
        for server in servers {
            let label = ServerLabel { server: server.server.clone() };
            self.server_open.get_or_create(&label).set(whole(server.open as u64));
            self.server_waiting.get_or_create(&label).set(whole(server.waiting as u64));
            self.server_max.get_or_create(&label).set(whole(server.limit as u64));
        }
    }
}

impl Metrics {
    pub fn clients(&self) -> ClientMetrics {
        self.clients.clone()
    }

    pub fn called(&self, butler: &str, tool: &'static str, error: Option<&'static str>, took: Duration) {
        let labels = ToolLabels { butler: butler.to_owned(), tool };
        self.calls.get_or_create(&labels).inc();
        self.seconds.get_or_create(&labels).observe(took.as_secs_f64());
        if let Some(code) = error {
            self.errors.get_or_create(&ErrorLabels { butler: butler.to_owned(), tool, code }).inc();
        }
    }

    /// Reads the database metrics again, unless they are recent.
    pub async fn refresh(&self, butlers: Vec<Arc<Butler>>, now: Timestamp) {
        if let Some(readings) = self.state.read_all(butlers).await {
            let _one = self.writing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            self.state.set(readings, now);
        }
    }

    /// All metrics in the OpenMetrics text format.
    pub fn text(&self, engine: &EmbedStats, butlers: &[Arc<Butler>], servers: &[ServerConnections]) -> String {
        let _one = self.writing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.sampled.read(engine, butlers, servers);
        let mut text = String::new();
        if let Err(error) = prometheus_client::encoding::text::encode(&mut text, &self.registry) {
            let _ = writeln!(text, "# cannot encode the metrics: {error}");
        }
        text
    }
}
