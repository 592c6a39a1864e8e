//! The threads that share a batch with the first embedding thread when nothing else is waiting: the rest of its rayon
//! pool.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use placement::Placement;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder, Yield};

/// The embedding thread's index in its pool.
const LEADER: usize = 0;

/// A helper that finds no work for this long ends its search, and rayon wakes it for the next product. Without a limit
/// the batch could hang: rayon may run the search inside a piece of work that the leader waits for.
const IDLE_LIMIT: Duration = Duration::from_millis(1);

/// The helpers of the thread that created them.
pub struct Helpers {
    /// Dropping the pool ends the helpers.
    _pool: ThreadPool,
    placement: Placement,
}

impl Helpers {
    /// Makes this thread the leader of a pool of `threads`.
    pub fn start(threads: usize) -> Result<Helpers, ThreadPoolBuildError> {
        let named = |n| format!("embed-helper-{n}");
        let pool = ThreadPoolBuilder::new().num_threads(threads).use_current_thread().thread_name(named).build()?;
        Ok(Helpers { _pool: pool, placement: Placement::of_this_pool() })
    }

    /// Runs `work`, during which the helpers take parts of its matrix products.
    ///
    /// Between two products they stay awake. Otherwise they would fall asleep within microseconds, and each waking costs
    /// more than a product.
    pub fn run<T>(&mut self, work: impl FnOnce() -> T) -> T {
        self.placement.keep_off_this_core();
        let done = Done(Arc::default());
        let is_done = done.0.clone();
        rayon::spawn_broadcast(move |thread| {
            let mut worked = Instant::now();
            while thread.index() != LEADER && !is_done.load(Ordering::Acquire) {
                if rayon::yield_now() == Some(Yield::Executed) {
                    worked = Instant::now();
                } else if worked.elapsed() < IDLE_LIMIT {
                    thread::yield_now();
                } else {
                    break;
                }
            }
        });
        let result = work();
        // The leader's own share of the broadcast. A pool with a broadcast that has not ended does not end either.
        while rayon::yield_local() == Some(Yield::Executed) {}
        result
    }
}

/// Tells the helpers that the work is done, also if it panicked.
struct Done(Arc<AtomicBool>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Keeps the helpers off the leader's core. Linux often queues a woken thread on the core of the thread that woke it,
/// although another core is idle. A helper would then wait until the batch is done.
#[cfg(target_os = "linux")]
mod placement {
    use rustix::process::Pid;
    use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};

    pub struct Placement {
        helpers: Vec<Pid>,
        /// The cores that the program may use.
        allowed: Option<CpuSet>,
        /// The core that the helpers keep off.
        taken: Option<usize>,
    }

    impl Placement {
        pub fn of_this_pool() -> Placement {
            let helpers = rayon::broadcast(|_| gettid()).split_off(super::LEADER + 1);
            Placement { helpers, allowed: sched_getaffinity(None).ok(), taken: None }
        }

        pub fn keep_off_this_core(&mut self) {
            let (Some(allowed), core) = (&self.allowed, sched_getcpu()) else { return };
            if self.taken == Some(core) || core >= CpuSet::MAX_CPU {
                return;
            }
            let mut others = *allowed;
            others.unset(core);
            if others.count() > 0 {
                // If it fails, the helpers stay where they are, which is only slower.
                self.helpers.iter().for_each(|helper| {
                    let _ = sched_setaffinity(Some(*helper), &others);
                });
            }
            self.taken = Some(core);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod placement {
    pub struct Placement;

    impl Placement {
        pub fn of_this_pool() -> Placement {
            Placement
        }

        pub fn keep_off_this_core(&mut self) {}
    }
}
