//! The threads that embed. Not tokio's: a forward pass would hold up everyone else there.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::Vector;
use crate::cache::Cache;
use crate::error::EmbedError;
use crate::pace::Pace;
use crate::queue::{Batch, Job, Queue, guess_tokens};

/// What computes vectors: the model, or a stand-in where a test needs it to fail at will.
pub trait Backend: Send + Sync {
    /// One thread's own use of it, with the buffers that go with it.
    fn session(self: Arc<Self>) -> Box<dyn Session>;
}

pub trait Session: Send {
    /// The vectors of `texts`, in order, computed on the rayon pool of the calling thread.
    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError>;
}

type Load = dyn Fn() -> Result<Arc<dyn Backend>, EmbedError> + Send + Sync;

/// What all threads and the engine share.
pub struct Shared {
    pub queue: Queue,
    pub cache: Cache,
    pub batches: AtomicU64,
    pub texts: AtomicU64,
    threads: usize,
    load: Box<Load>,
    loaded: Mutex<Option<Arc<dyn Backend>>>,
    /// Failed loads so far, and why the last one did: whoever waited while it was tried gets its error.
    failures: AtomicU64,
    failure: Mutex<Option<EmbedError>>,
    /// All cores, for a batch that is alone, and whether they are worth it.
    wide: OnceLock<Option<ThreadPool>>,
    pace: Mutex<Pace>,
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
            loaded: Mutex::default(),
            failures: AtomicU64::new(0),
            failure: Mutex::default(),
            wide: OnceLock::new(),
            pace: Mutex::default(),
        }
    }

    pub fn is_loaded(&self) -> bool {
        // Held for as long as a load takes, during which the answer is no.
        self.loaded.try_lock().is_ok_and(|loaded| loaded.is_some())
    }

    fn backend(&self) -> Result<Arc<dyn Backend>, EmbedError> {
        let before = self.failures.load(Ordering::Acquire);
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(backend) = &*loaded {
            return Ok(backend.clone());
        }
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if let (true, Some(why)) = (self.failures.load(Ordering::Acquire) != before, &*failure) {
            return Err(why.clone());
        }
        match catch(|| (self.load)()) {
            Ok(backend) => Ok(loaded.insert(backend).clone()),
            Err(why) => {
                *failure = Some(why.clone());
                self.failures.fetch_add(1, Ordering::Release);
                Err(why)
            }
        }
    }

    fn wide(&self) -> Option<&ThreadPool> {
        let build = || {
            let named = |n| format!("embed-wide-{n}");
            ThreadPoolBuilder::new().num_threads(self.threads).thread_name(named).build()
        };
        let pool = self.wide.get_or_init(|| {
            (self.threads > 1).then(build).and_then(|pool| {
                pool.inspect_err(|why| tracing::warn!(%why, "each text is embedded on one thread")).ok()
            })
        });
        pool.as_ref()
    }
}

/// The life of one thread: until the queue is closed and empty.
pub fn work(shared: &Shared) {
    // As the only thread of a pool of its own, the products run right here; otherwise they would spread over all cores.
    let alone = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    if let Err(why) = &alone {
        tracing::warn!(%why, "an embedding thread cannot keep to one core");
    }
    let mut session = None;
    while let Some(batch) = shared.queue.take() {
        let lane = batch.lane;
        // Whoever waits for a batch that panicked is told that it went away, and the next one is taken up all the same.
        let ran = catch(|| {
            run(shared, &mut session, batch);
            Ok(())
        });
        if let Err(why) = ran {
            tracing::error!(%why, "a batch was not embedded");
            session = None;
        }
        shared.queue.done(lane);
    }
}

fn run(shared: &Shared, session: &mut Option<Box<dyn Session>>, batch: Batch) {
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
    // A text may have been embedded since it was asked for, and callers of one text share one computation.
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
    let vectors = if batch.alone { alone(shared, current, &texts) } else { catch(|| current.embed(&texts)) };
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
            // Its buffers may be half written.
            *session = None;
        }
    }
}

/// Embeds while nothing else waits, on all cores if that is faster just now.
fn alone(shared: &Shared, session: &mut Box<dyn Session>, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
    let Some(pool) = shared.wide() else { return catch(|| session.embed(texts)) };
    let pace = || shared.pace.lock().unwrap_or_else(PoisonError::into_inner);
    let wide = pace().wide();
    let start = Instant::now();
    let vectors = catch(|| if wide { pool.install(|| session.embed(texts)) } else { session.embed(texts) });
    let tokens = texts.iter().map(|text| guess_tokens(text)).sum();
    pace().took(wide, tokens, start.elapsed());
    vectors
}

fn answer(job: Job, result: Result<Vector, EmbedError>) {
    drop(job.place);
    // Whoever asked may have gone away; then nobody minds.
    let _ = job.reply.send(result);
}

/// A panic becomes an error, so that a thread survives it.
fn catch<T>(work: impl FnOnce() -> Result<T, EmbedError>) -> Result<T, EmbedError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(EmbedError::Failed { why: message(&*panic) }))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".into())
}
