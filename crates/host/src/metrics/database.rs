//! Metrics that are read from the databases: memories, backlog and jobs. They are read at most every few seconds,
//! however often Prometheus scrapes.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use butler_domain::Timestamp;
use butler_store::gauges::{self, Gauges};
use futures::{StreamExt, stream};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use tokio::sync::Mutex;

use super::ButlerLabel;
use crate::butler::Butler;

/// Counting scans whole indexes, so frequent scrapes reuse the last values for this long.
const MAX_AGE: Duration = Duration::from_secs(15);
/// A scrape waits for the slowest butler, and Prometheus gives up after ten seconds by default.
const TIMEOUT: Duration = Duration::from_secs(4);
/// Limits the load when there are hundreds of butlers.
const MAX_CONCURRENT_READS: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    butler: String,
    kind: String,
    state: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct JobLabels {
    butler: String,
    job: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RunLabels {
    butler: String,
    job: String,
    status: &'static str,
}

/// The values of one butler; `None` if its database did not respond.
pub struct ButlerReading {
    butler: String,
    read: Option<Gauges>,
}

type Seconds = Gauge<f64, AtomicU64>;

#[derive(Default)]
pub struct DatabaseMetrics {
    memories: Family<StateLabels, Gauge>,
    backlog: Family<ButlerLabel, Gauge>,
    waiting: Family<ButlerLabel, Seconds>,
    up: Family<ButlerLabel, Gauge>,
    runs: Family<RunLabels, Gauge>,
    last_success: Family<JobLabels, Seconds>,
    last_duration: Family<JobLabels, Seconds>,
    /// The last values of each butler.
    known: std::sync::Mutex<BTreeMap<String, Gauges>>,
    read_at: Mutex<Option<Instant>>,
}

impl DatabaseMetrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register("memories", "Memories of all tenants, by kind and state", self.memories.clone());
        registry.register("backlog_episodes", "Episodes waiting for consolidation", self.backlog.clone());
        let oldest = "Age of the oldest episode waiting for consolidation; 0 if there is none";
        registry.register_with_unit("backlog_age", oldest, Unit::Seconds, self.waiting.clone());
        registry.register(
            "database_up",
            "1 if the butler's database responded to the last check, else 0",
            self.up.clone(),
        );
        registry.register("job_runs", "Recorded runs of a job by outcome; the latest 1000 are kept", self.runs.clone());
        let success = "Unix time of a job's last success";
        registry.register_with_unit("job_last_success_timestamp", success, Unit::Seconds, self.last_success.clone());
        let duration = "Duration of a job's last run";
        registry.register_with_unit("job_last_duration", duration, Unit::Seconds, self.last_duration.clone());
    }

    /// Reads the values of all butlers; `None` if the last values are recent.
    pub async fn read_all(&self, butlers: Vec<Arc<Butler>>) -> Option<Vec<ButlerReading>> {
        let mut read_at = self.read_at.lock().await;
        if read_at.is_some_and(|at| at.elapsed() < MAX_AGE) {
            return None;
        }
        *read_at = Some(Instant::now());
        let readings = stream::iter(butlers).map(async |butler| {
            let name = butler.name.to_string();
            let read = tokio::time::timeout(TIMEOUT, figures(&butler)).await;
            let read = read.unwrap_or_else(|_| Err(format!("no response within {} s", TIMEOUT.as_secs())));
            if let Err(problem) = &read {
                tracing::warn!(butler = name, problem, "cannot read the metrics from the database");
            }
            ButlerReading { butler: name, read: read.ok() }
        });
        Some(readings.buffered(MAX_CONCURRENT_READS).collect().await)
    }

    /// Sets the metrics. A butler that did not respond counts as down and keeps its last values; those of removed
    /// butlers are dropped.
    pub fn set(&self, readings: Vec<ButlerReading>, now: Timestamp) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|butler, _| readings.iter().any(|reading| reading.butler == *butler));
        self.clear();
        for ButlerReading { butler, read } in readings {
            self.up.get_or_create(&ButlerLabel { butler: butler.clone() }).set(i64::from(read.is_some()));
            if let Some(read) = read {
                known.insert(butler, read);
            }
        }
        known.iter().for_each(|(butler, gauges)| self.show(butler, gauges, now));
    }

    /// The queries return no row for a count of zero, so old values must be removed.
    fn clear(&self) {
        self.memories.clear();
        self.backlog.clear();
        self.waiting.clear();
        self.up.clear();
        self.runs.clear();
        self.last_success.clear();
        self.last_duration.clear();
    }

    fn show(&self, butler: &str, read: &Gauges, now: Timestamp) {
        let label = ButlerLabel { butler: butler.to_owned() };
        for (kind, state, count) in &read.memories {
            let labels = StateLabels { butler: butler.to_owned(), kind: kind.clone(), state: state.clone() };
            self.memories.get_or_create(&labels).set(*count);
        }
        self.backlog.get_or_create(&label).set(read.backlog);
        let age = read.oldest_waiting.map_or(0.0, |at| (now - at).num_milliseconds() as f64 / 1000.0);
        self.waiting.get_or_create(&label).set(age.max(0.0));
        for job in &read.jobs {
            for (status, count) in [("succeeded", job.succeeded), ("failed", job.failed)] {
                let labels = RunLabels { butler: butler.to_owned(), job: job.job.clone(), status };
                self.runs.get_or_create(&labels).set(count);
            }
            let labels = JobLabels { butler: butler.to_owned(), job: job.job.clone() };
            if let Some(at) = job.last_success {
                self.last_success.get_or_create(&labels).set(at.timestamp_millis() as f64 / 1000.0);
            }
            if let Some(seconds) = job.last_seconds {
                self.last_duration.get_or_create(&labels).set(seconds);
            }
        }
    }
}

async fn figures(butler: &Butler) -> Result<Gauges, String> {
    if let Some(error) = butler.trouble() {
        return Err(error.to_string());
    }
    let database = butler.database().ok_or_else(|| "the butler has not started".to_owned())?;
    let read = async {
        let mut conn = database.owner().await?;
        gauges::read(&mut conn).await
    };
    read.await.map_err(|error| error.to_string())
}
