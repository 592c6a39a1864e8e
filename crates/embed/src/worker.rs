//! The embedding threads. They are not tokio's, because a forward pass would block other tasks.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::Vector;
use crate::cache::Cache;
use crate::error::EmbedError;
use crate::helpers::Helpers;
use crate::parallelism::ParallelismChooser;
use crate::queue::{Batch, Job, Queue, guess_tokens};

/// Computes vectors: the model, or a substitute in tests.
pub trait Backend: Send + Sync {
    /// Creates a session with its own buffers for one thread.
    fn session(self: Arc<Self>) -> Box<dyn Session>;

    /// Whether its vocabulary contains `word`.
    fn is_known_word(&self, word: &str) -> bool {
        let _ = word;
        false
    }
}

/// The use of a backend by one thread.
pub trait Session: Send {
    /// The vectors of `texts`, in order. With `parallel`, all threads of the calling thread's rayon pool take part.
    fn embed(&mut self, texts: &[&str], parallel: bool) -> Result<Vec<Vector>, EmbedError>;
}

type Load = dyn Fn() -> Result<Arc<dyn Backend>, EmbedError> + Send + Sync;

/// The state that all threads and the engine share.
pub struct Shared {
    pub queue: Queue,
    pub cache: Cache,
    pub batches: AtomicU64,
    pub texts: AtomicU64,
    threads: usize,
    load: Box<Load>,
    loaded: OnceLock<Arc<dyn Backend>>,
    loading: Mutex<()>,
    /// Number of failed loads.
    failures: AtomicU64,
    /// The error of the last failed load. Threads that waited for that load return it.
    failure: Mutex<Option<EmbedError>>,
    chooser: Mutex<ParallelismChooser>,
}

impl Shared {
    pub fn new(threads: usize, cache: Cache, load: Box<Load>) -> Shared {
        Shared {
            queue: Queue::new(threads),
            cache,
            batches: AtomicU64::new(0),
            texts: AtomicU64::new(0),
            threads,
            load,
            loaded: OnceLock::new(),
            loading: Mutex::default(),
            failures: AtomicU64::new(0),
            failure: Mutex::default(),
            chooser: Mutex::default(),
        }
    }

    pub fn is_loaded(&self) -> bool {
        self.loaded.get().is_some()
    }

    pub fn is_known_word(&self, word: &str) -> bool {
        self.loaded.get().is_some_and(|backend| backend.is_known_word(word))
    }

    fn backend(&self) -> Result<Arc<dyn Backend>, EmbedError> {
        let before = self.failures.load(Ordering::Acquire);
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(backend) = self.loaded.get() {
            return Ok(backend.clone());
        }
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if let (true, Some(why)) = (self.failures.load(Ordering::Acquire) != before, &*failure) {
            return Err(why.clone());
        }
        match catch_panic(|| (self.load)()) {
            Ok(backend) => Ok(self.loaded.get_or_init(|| backend).clone()),
            Err(why) => {
                *failure = Some(why.clone());
                self.failures.fetch_add(1, Ordering::Release);
                Err(why)
            }
        }
    }
}

/// Runs an embedding thread until the queue is closed and empty. The first thread has the helpers.
pub fn work(shared: &Shared, is_first: bool) {
    let helpers = (is_first && shared.threads > 1).then(|| Helpers::start(shared.threads)).transpose();
    let mut helpers = helpers.unwrap_or_else(|why| {
        tracing::warn!(%why, "each text is embedded on one thread");
        None
    });
    let mut session = None;
    while let Some(batch) = shared.queue.take(is_first) {
        let lane = batch.lane;
        // If a batch panics, its callers get an error and the thread continues with the next batch.
        let result = catch_panic(|| {
            run(shared, &mut session, helpers.as_mut(), batch);
            Ok(())
        });
        if let Err(why) = result {
            tracing::error!(%why, "a batch was not embedded");
            session = None;
        }
        shared.queue.done(lane);
    }
}

fn run(shared: &Shared, session: &mut Option<Box<dyn Session>>, helpers: Option<&mut Helpers>, batch: Batch) {
    let current = match session {
        Some(session) => session,
        None => match shared.backend() {
            Ok(backend) => session.insert(backend.session()),
            Err(why) => {
                tracing::error!(%why, "the embedding model did not load");
                let waiting = shared.queue.drain();
                batch.jobs.into_iter().chain(waiting).for_each(|job| answer(job, Err(why.clone())));
                return;
            }
        },
    };
    // A text may have been embedded while it waited. Callers of the same text share one computation.
    let mut jobs = Vec::with_capacity(batch.jobs.len());
    for job in batch.jobs {
        match shared.cache.peek(&job.text) {
            Some(vector) => answer(job, Ok(vector)),
            None => jobs.push(job),
        }
    }
    let mut texts: Vec<&str> = jobs.iter().map(|job| job.text.as_str()).collect();
    texts.sort_unstable();
    texts.dedup();
    if texts.is_empty() {
        return;
    }
    let vectors = match helpers {
        Some(helpers) if batch.alone => embed_alone(shared, current, helpers, &texts),
        _ => catch_panic(|| current.embed(&texts, false)),
    };
    shared.batches.fetch_add(1, Ordering::Relaxed);
    match vectors {
        Ok(vectors) => {
            shared.texts.fetch_add(vectors.len() as u64, Ordering::Relaxed);
            let vectors: HashMap<&str, Vector> = texts.into_iter().zip(vectors).collect();
            let vectors: Vec<Vector> = jobs.iter().map(|job| vectors[job.text.as_str()].clone()).collect();
            for (mut job, vector) in jobs.into_iter().zip(vectors) {
                shared.cache.insert(std::mem::take(&mut job.text), vector.clone());
                answer(job, Ok(vector));
            }
        }
        Err(why) => {
            tracing::error!(%why, "a batch was not embedded");
            jobs.into_iter().for_each(|job| answer(job, Err(why.clone())));
            // The session's buffers may be inconsistent.
            *session = None;
        }
    }
}

/// Embeds a batch while nothing else is waiting, on all cores if that is currently faster.
fn embed_alone(
    shared: &Shared,
    session: &mut Box<dyn Session>,
    helpers: &mut Helpers,
    texts: &[&str],
) -> Result<Vec<Vector>, EmbedError> {
    let chooser = || shared.chooser.lock().unwrap_or_else(PoisonError::into_inner);
    let all_cores = chooser().use_all_cores();
    let start = Instant::now();
    let vectors = catch_panic(|| match all_cores {
        true => helpers.run(|| session.embed(texts, true)),
        false => session.embed(texts, false),
    });
    let tokens = texts.iter().map(|text| guess_tokens(text)).sum();
    chooser().record(all_cores, tokens, start.elapsed());
    vectors
}

fn answer(job: Job, result: Result<Vector, EmbedError>) {
    drop(job.slot);
    // Sending fails if the caller no longer waits, which is not an error.
    let _ = job.reply.send(result);
}

/// Converts a panic to an error, so that the thread survives it.
fn catch_panic<T>(work: impl FnOnce() -> Result<T, EmbedError>) -> Result<T, EmbedError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(EmbedError::Failed { why: message(&*panic) }))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".into())
}
