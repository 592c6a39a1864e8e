//! The embedding engine, which any number of tasks share. It loads the model on first use.

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
use crate::minilm::{Model, Scratch, model_prefix};
use crate::queue::{Job, Lane};
use crate::worker::{self, Backend, Session, Shared};
use crate::{DIMENSIONS, EmbedStats, Embedder, MODEL, ModelId, VERSION, Vector, locate_model};

/// The text that is embedded for `None` and for an empty text.
const BLANK: &str = " ";

/// With more threads, the matrix products of this small model do not get faster.
const MAX_THREADS: usize = 8;

/// About 8 MB of vectors and their texts.
const CACHE_ENTRIES: usize = 4096;

/// The capacity of each queue lane; further callers wait. A thousand short texts take a few seconds.
const QUEUE_CAPACITY: usize = 1024;

/// Options of an [`Engine`].
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// A directory with the model. `None` uses the one in the cache, which is fetched if it is missing.
    pub model_dir: Option<PathBuf>,
    pub cache_dir: PathBuf,
    /// Number of embedding threads.
    pub threads: usize,
    /// Number of texts whose vectors are cached.
    pub cache_capacity: usize,
    /// Number of texts that may wait in each queue lane.
    pub queue_capacity: usize,
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions {
            model_dir: None,
            cache_dir: butler_fetch::default_cache_dir(),
            threads: thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS)),
            cache_capacity: CACHE_ENTRIES,
            queue_capacity: QUEUE_CAPACITY,
        }
    }
}

/// Embeds texts on its own threads: gathers concurrent requests into batches and caches the vectors.
pub struct Engine {
    shared: Arc<Shared>,
    threads: usize,
    /// Number of threads started so far; 0 before the first text.
    started: Mutex<usize>,
    /// Free slots of the lane for single texts.
    single: Arc<Semaphore>,
    /// Free slots of the lane for batches.
    bulk: Arc<Semaphore>,
}

/// The model directory, if one is configured, and the cache directory.
type ModelLocation = (Option<PathBuf>, PathBuf);

/// The engines of [`Engine::shared`].
static ENGINES: Mutex<BTreeMap<ModelLocation, Arc<Engine>>> = Mutex::new(BTreeMap::new());

impl Engine {
    /// Creates a separate engine. It loads the model and starts its threads with the first text.
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
        let slots = || Arc::new(Semaphore::new(queue_capacity.clamp(1, Semaphore::MAX_PERMITS)));
        Arc::new(Engine {
            shared: Arc::new(Shared::new(threads, Cache::new(cache_capacity), load)),
            threads,
            started: Mutex::new(0),
            single: slots(),
            bulk: slots(),
        })
    }

    /// The engine that the process shares for a model. The first call creates it; later calls return it and ignore
    /// their other options.
    pub fn shared(options: EngineOptions) -> Arc<Engine> {
        let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
        let location = (options.model_dir.clone(), options.cache_dir.clone());
        engines.entry(location).or_insert_with(|| Engine::new(options)).clone()
    }

    /// Loads the model and runs it once, so that the first caller does not wait for it.
    pub async fn warm_up(&self) -> Result<(), EmbedError> {
        self.compute(Lane::Single, vec![BLANK.to_owned()]).await.map(drop)
    }

    /// Computes the vectors of texts that are not in the cache.
    async fn compute(&self, lane: Lane, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        self.start()?;
        let slots = match lane {
            Lane::Single => &self.single,
            Lane::Bulk => &self.bulk,
        };
        let mut answers = Vec::with_capacity(texts.len());
        let mut texts = texts.into_iter();
        while texts.len() > 0 {
            // Takes all free slots at once, so that the texts can be batched. If none is free, waits for one.
            let count = texts.len().min(slots.available_permits()).max(1);
            let mut permit = slots.clone().acquire_many_owned(count as u32).await.map_err(|_| EmbedError::Stopped)?;
            let jobs = texts.by_ref().take(count).filter_map(|text| {
                let (reply, answer) = oneshot::channel();
                answers.push(answer);
                permit.split(1).map(|slot| Job { text, reply, slot })
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
            let (shared, is_first) = (self.shared.clone(), *started == 0);
            thread::Builder::new()
                .name(format!("embed-{started}"))
                .spawn(move || worker::work(&shared, is_first))
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

    fn is_known_word(&self, word: &str) -> bool {
        self.shared.is_known_word(word)
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

/// The text that is actually embedded for `text`; also its cache key.
fn prepared(text: &str) -> &str {
    if text.is_empty() { BLANK } else { model_prefix(text) }
}

impl Backend for Model {
    fn session(self: Arc<Self>) -> Box<dyn Session> {
        Box::new(ModelSession { model: self, scratch: Scratch::default() })
    }

    fn is_known_word(&self, word: &str) -> bool {
        self.is_token(word)
    }
}

struct ModelSession {
    model: Arc<Model>,
    scratch: Scratch,
}

impl Session for ModelSession {
    fn embed(&mut self, texts: &[&str], parallel: bool) -> Result<Vec<Vector>, EmbedError> {
        let ids = texts.iter().map(|text| self.model.token_ids(text)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.model.forward(&ids, &mut self.scratch, parallel))
    }
}

#[cfg(test)]
mod tests;
