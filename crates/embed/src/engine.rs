//! One engine for the whole process: made in no time, loaded on first use, fed from any number of tasks.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use futures::future::{BoxFuture, FutureExt, ready};
use tokio::sync::{Semaphore, oneshot};

use crate::cache::Cache;
use crate::error::EmbedError;
use crate::minilm::{Model, Scratch, enough};
use crate::queue::{Job, Lane};
use crate::worker::{self, Backend, Session, Shared};
use crate::{DIMENSIONS, EmbedStats, Embedder, MODEL, ModelId, VERSION, Vector, locate_model};

/// What none and the empty text become.
const BLANK: &str = " ";

/// Beyond this many threads the products of so small a model no longer divide well.
const MAX_THREADS: usize = 8;

/// About 8 MB of vectors and their texts.
const CACHE_ENTRIES: usize = 4096;

/// Texts that may wait in each lane; further callers wait for a place. A thousand short ones are a few seconds' work.
const QUEUE_PLACES: usize = 1024;

#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// A directory with the model; none means the one in the cache, fetched if it is not there.
    pub model_dir: Option<PathBuf>,
    pub cache_dir: PathBuf,
    /// Threads that embed.
    pub threads: usize,
    /// Texts whose vectors are remembered.
    pub cache_capacity: usize,
    /// Texts that may wait before callers do.
    pub queue_capacity: usize,
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions {
            model_dir: None,
            cache_dir: butler_fetch::default_cache_dir(),
            threads: thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS)),
            cache_capacity: CACHE_ENTRIES,
            queue_capacity: QUEUE_PLACES,
        }
    }
}

pub struct Engine {
    shared: Arc<Shared>,
    threads: usize,
    /// Threads started so far: none before the first text.
    started: Mutex<usize>,
    single: Arc<Semaphore>,
    bulk: Arc<Semaphore>,
}

/// Where a model is: the directory given, if any, and the cache.
type Place = (Option<PathBuf>, PathBuf);

/// The engines of [`Engine::shared`].
static ENGINES: Mutex<BTreeMap<Place, Arc<Engine>>> = Mutex::new(BTreeMap::new());

impl Engine {
    /// An engine of its own. Loads nothing and starts no thread until the first text.
    pub fn new(options: EngineOptions) -> Arc<Engine> {
        let EngineOptions { model_dir, cache_dir, threads, cache_capacity, queue_capacity } = options;
        let load = move || {
            let start = Instant::now();
            let dir = locate_model(model_dir.as_deref(), &cache_dir, &butler_fetch::Silent)?;
            let model = Model::load(&dir)?;
            let ms = start.elapsed().as_millis() as u64;
            tracing::info!(dir = %dir.display(), instructions = crate::minilm::instructions(), ms, "embedding model loaded");
            Ok(Arc::new(model) as Arc<dyn Backend>)
        };
        Engine::with(threads, cache_capacity, queue_capacity, Box::new(load))
    }

    fn with(
        threads: usize,
        cache_capacity: usize,
        queue_capacity: usize,
        load: Box<dyn Fn() -> Result<Arc<dyn Backend>, EmbedError> + Send + Sync>,
    ) -> Arc<Engine> {
        let threads = threads.max(1);
        let places = || Arc::new(Semaphore::new(queue_capacity.clamp(1, Semaphore::MAX_PERMITS)));
        Arc::new(Engine {
            shared: Arc::new(Shared::new(threads, Cache::new(cache_capacity), load)),
            threads,
            started: Mutex::new(0),
            single: places(),
            bulk: places(),
        })
    }

    /// The engine of that model: the first call makes it, every later one returns the same, whatever its other options.
    pub fn shared(options: EngineOptions) -> Arc<Engine> {
        let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (options.model_dir.clone(), options.cache_dir.clone());
        engines.entry(place).or_insert_with(|| Engine::new(options)).clone()
    }

    /// Loads the model and runs it once, so that the first caller does not wait for it.
    pub async fn warm_up(&self) -> Result<(), EmbedError> {
        self.compute(Lane::Single, vec![BLANK.to_owned()]).await.map(drop)
    }

    /// The vectors of `texts`, none of which is in the cache.
    async fn compute(&self, lane: Lane, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        self.start()?;
        let places = match lane {
            Lane::Single => &self.single,
            Lane::Bulk => &self.bulk,
        };
        let mut answers = Vec::with_capacity(texts.len());
        let mut texts = texts.into_iter();
        while texts.len() > 0 {
            // As many at once as there are places, so that they can be batched, and at least one: then it waits.
            let count = texts.len().min(places.available_permits()).max(1);
            let mut permit = places.clone().acquire_many_owned(count as u32).await.map_err(|_| EmbedError::Stopped)?;
            let jobs = texts.by_ref().take(count).filter_map(|text| {
                let (reply, answer) = oneshot::channel();
                answers.push(answer);
                permit.split(1).map(|place| Job { text, reply, place })
            });
            let jobs: Vec<Job> = jobs.collect();
            self.shared.queue.push(lane, jobs);
        }
        let mut vectors = Vec::with_capacity(answers.len());
        for answer in answers {
            vectors.push(answer.await.map_err(|_| EmbedError::Stopped)??);
        }
        Ok(vectors)
    }

    fn start(&self) -> Result<(), EmbedError> {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        while *started < self.threads {
            let shared = self.shared.clone();
            thread::Builder::new()
                .name(format!("embed-{started}"))
                .spawn(move || worker::work(&shared))
                .map_err(|source| EmbedError::Threads { source: Arc::new(source) })?;
            *started += 1;
        }
        Ok(())
    }
}

impl Embedder for Engine {
    fn embed(&self, text: Option<&str>) -> BoxFuture<'_, Result<Vector, EmbedError>> {
        let text = prepared(text.unwrap_or_default());
        if let Some(vector) = self.shared.cache.get(text) {
            return ready(Ok(vector)).boxed();
        }
        let text = text.to_owned();
        async move {
            let mut vectors = self.compute(Lane::Single, vec![text]).await?;
            vectors.pop().ok_or(EmbedError::Stopped)
        }
        .boxed()
    }

    fn embed_batch(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vector>, EmbedError>> {
        async move {
            let mut vectors: Vec<Option<Vector>> =
                texts.iter().map(|text| self.shared.cache.get(prepared(text))).collect();
            let missing = texts.iter().zip(&vectors).filter(|(_, vector)| vector.is_none());
            let missing: Vec<String> = missing.map(|(text, _)| prepared(text).to_owned()).collect();
            let computed = self.compute(Lane::Bulk, missing).await?;
            vectors.iter_mut().filter(|vector| vector.is_none()).zip(computed).for_each(|(v, c)| *v = Some(c));
            Ok(vectors.into_iter().flatten().collect())
        }
        .boxed()
    }

    fn model(&self) -> ModelId {
        ModelId { model: MODEL, version: VERSION, dimensions: DIMENSIONS }
    }

    fn stats(&self) -> EmbedStats {
        let (cache_hits, cache_misses, cache_entries) = self.shared.cache.counters();
        EmbedStats {
            cache_hits,
            cache_misses,
            cache_entries,
            queue_depth: self.shared.queue.depth(),
            batches: self.shared.batches.load(Ordering::Relaxed),
            texts: self.shared.texts.load(Ordering::Relaxed),
            loaded: self.shared.is_loaded(),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.queue.close();
    }
}

/// What is embedded for `text`, and its key in the cache.
fn prepared(text: &str) -> &str {
    if text.is_empty() { BLANK } else { enough(text) }
}

impl Backend for Model {
    fn session(self: Arc<Self>) -> Box<dyn Session> {
        Box::new(ModelSession { model: self, scratch: Scratch::default() })
    }
}

struct ModelSession {
    model: Arc<Model>,
    scratch: Scratch,
}

impl Session for ModelSession {
    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let ids = texts.iter().map(|text| self.model.token_ids(text)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.model.forward(&ids, &mut self.scratch))
    }
}

#[cfg(test)]
mod tests;
