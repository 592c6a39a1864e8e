//! What the databases hold and how the jobs fare: asked at most every few seconds, however often somebody scrapes.

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

/// Counting reads whole indexes; a monitor that asks every second shall not make it a load.
const FRESH: Duration = Duration::from_secs(15);
/// Whoever scrapes waits for the slowest; most give up after ten seconds.
const PATIENCE: Duration = Duration::from_secs(4);
/// Two hundred butlers shall not all count at once.
const AT_ONCE: usize = 16;

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

/// What one butler answered, if it did.
pub struct Asked {
    butler: String,
    read: Option<Gauges>,
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
    /// The last answer of each butler.
    known: std::sync::Mutex<BTreeMap<String, Gauges>>,
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

    /// What all butlers answered, asked some at a time; `None` while what is known is fresh.
    pub async fn ask(&self, butlers: Vec<Arc<Butler>>) -> Option<Vec<Asked>> {
        let mut read_at = self.read_at.lock().await;
        if read_at.is_some_and(|at| at.elapsed() < FRESH) {
            return None;
        }
        *read_at = Some(Instant::now());
        let asked = stream::iter(butlers).map(async |butler| {
            let name = butler.name.to_string();
            let read = tokio::time::timeout(PATIENCE, figures(&butler)).await;
            let read = read.unwrap_or_else(|_| Err(format!("no answer within {} s", PATIENCE.as_secs())));
            if let Err(problem) = &read {
                tracing::warn!(butler = name, problem, "the figures could not be read");
            }
            Asked { butler: name, read: read.ok() }
        });
        Some(asked.buffered(AT_ONCE).collect().await)
    }

    /// A butler that did not answer is not up and keeps its last figures; one that is gone has none.
    pub fn set(&self, asked: Vec<Asked>, now: Timestamp) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|butler, _| asked.iter().any(|asked| asked.butler == *butler));
        self.clear();
        for Asked { butler, read } in asked {
            self.up.get_or_create(&ButlerLabel { butler: butler.clone() }).set(i64::from(read.is_some()));
            if let Some(read) = read {
                known.insert(butler, read);
            }
        }
        known.iter().for_each(|(butler, gauges)| self.show(butler, gauges, now));
    }

    /// A state that nothing is in any more is not counted, and must not keep its last count.
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
    let database = butler.database().ok_or_else(|| "it has not started".to_owned())?;
    let read = async {
        let mut conn = database.owner().await?;
        gauges::read(&mut conn).await
    };
    read.await.map_err(|error| error.to_string())
}
