//! What the databases hold and how the jobs fare: asked at most every few seconds, however often somebody scrapes.

use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use store::gauges::{self, Gauges};
use tokio::sync::Mutex;

use super::ButlerLabel;
use crate::host::Host;

/// Counting reads whole indexes; a monitor that asks every second shall not make it a load.
const FRESH: Duration = Duration::from_secs(15);

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

type Seconds = Gauge<f64, AtomicU64>;

#[derive(Default)]
pub struct State {
    memories: Family<StateLabels, Gauge>,
    backlog: Family<ButlerLabel, Gauge>,
    waiting: Family<ButlerLabel, Seconds>,
    up: Family<ButlerLabel, Gauge>,
    runs: Family<RunLabels, Gauge>,
    last_success: Family<JobLabels, Seconds>,
    last_duration: Family<JobLabels, Seconds>,
    read_at: Mutex<Option<Instant>>,
}

impl State {
    pub fn register(&self, registry: &mut Registry) {
        registry.register("memories", "Memories of all tenants, by kind and state", self.memories.clone());
        registry.register("backlog_episodes", "Episodes that wait for consolidation", self.backlog.clone());
        let oldest = "Age of the oldest episode that waits for consolidation; 0 without one";
        registry.register_with_unit("backlog_age", oldest, Unit::Seconds, self.waiting.clone());
        registry.register(
            "database_up",
            "1: the butler's database answered the last time it was asked",
            self.up.clone(),
        );
        registry.register(
            "job_runs",
            "Recorded runs of a job (the latest 1000 are kept), by outcome",
            self.runs.clone(),
        );
        let success = "When a job last succeeded, since 1970";
        registry.register_with_unit("job_last_success_timestamp", success, Unit::Seconds, self.last_success.clone());
        let duration = "How long the last run of a job took";
        registry.register_with_unit("job_last_duration", duration, Unit::Seconds, self.last_duration.clone());
    }

    /// Does nothing while what is known is fresh; a database that does not answer keeps its last figures and is not up.
    pub async fn refresh(&self, host: &Host) {
        let mut read_at = self.read_at.lock().await;
        if read_at.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        *read_at = Some(Instant::now());
        for butler in host.butlers() {
            let label = ButlerLabel { butler: butler.name.to_string() };
            let Some(database) = butler.database() else { continue };
            let asked = async {
                let mut conn = database.owner().await?;
                gauges::read(&mut conn).await
            };
            let read = asked.await;
            self.up.get_or_create(&label).set(i64::from(read.is_ok()));
            match read {
                Ok(gauges) => self.set(&label, &gauges, host),
                Err(error) => tracing::warn!(butler = label.butler, %error, "the figures could not be read"),
            }
        }
    }

    fn set(&self, label: &ButlerLabel, read: &Gauges, host: &Host) {
        let butler = &label.butler;
        for (kind, state, count) in &read.memories {
            let labels = StateLabels { butler: butler.clone(), kind: kind.clone(), state: state.clone() };
            self.memories.get_or_create(&labels).set(*count);
        }
        self.backlog.get_or_create(label).set(read.backlog);
        let age = read.oldest_waiting.map_or(0.0, |at| (host.clock().now() - at).num_milliseconds() as f64 / 1000.0);
        self.waiting.get_or_create(label).set(age.max(0.0));
        for job in &read.jobs {
            for (status, count) in [("succeeded", job.succeeded), ("failed", job.failed)] {
                let labels = RunLabels { butler: butler.clone(), job: job.job.clone(), status };
                self.runs.get_or_create(&labels).set(count);
            }
            let labels = JobLabels { butler: butler.clone(), job: job.job.clone() };
            if let Some(at) = job.last_success {
                self.last_success.get_or_create(&labels).set(at.timestamp_millis() as f64 / 1000.0);
            }
            if let Some(seconds) = job.last_seconds {
                self.last_duration.get_or_create(&labels).set(seconds);
            }
        }
    }
}
