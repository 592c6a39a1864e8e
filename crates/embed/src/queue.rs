//! The queue of texts to embed, and how they are gathered into batches.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::Vector;
use crate::error::EmbedError;
use crate::minilm::MAX_TOKENS;

/// The size of a batch: no longer than the longest possible text, and enough for full speed of the matrix products.
const BATCH_TOKENS: usize = MAX_TOKENS;

/// A text and the channel to the caller that waits for its vector.
pub struct Job {
    pub text: String,
    pub reply: oneshot::Sender<Result<Vector, EmbedError>>,
    /// The slot in the queue, released when the job is done.
    pub slot: OwnedSemaphorePermit,
}

/// Estimates the tokens of a text well enough to batch similar lengths. English has about four bytes per token.
pub fn guess_tokens(text: &str) -> usize {
    (2 + text.len() / 4).min(MAX_TOKENS)
}

/// The two priorities: single texts, for which a person waits, come first. Batches of background jobs may use one core
/// meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    Single,
    Bulk,
}

/// Jobs that are embedded in one forward pass.
pub struct Batch {
    pub jobs: Vec<Job>,
    pub lane: Lane,
    /// Whether nothing else is running or waiting, so that the batch may use all cores.
    pub alone: bool,
}

pub struct Queue {
    threads: usize,
    state: Mutex<State>,
    /// Wakes the first thread, which takes a batch before any other does, because it has the helpers.
    first: Condvar,
    /// Wakes one of the other threads.
    others: Condvar,
}

#[derive(Default)]
struct State {
    single: VecDeque<Job>,
    bulk: VecDeque<Job>,
    /// Threads that are running a batch.
    busy: usize,
    /// Threads among them whose batch consists of single texts.
    busy_single: usize,
    /// Whether the first thread waits for a batch.
    first_waits: bool,
    closed: bool,
}

impl State {
    fn has_jobs(&self) -> bool {
        !self.single.is_empty() || !self.bulk.is_empty()
    }
}

impl Queue {
    /// Creates a queue for `threads` threads that call [`Queue::take`].
    pub fn new(threads: usize) -> Queue {
        Queue { threads, state: Mutex::default(), first: Condvar::new(), others: Condvar::new() }
    }

    pub fn push(&self, lane: Lane, jobs: impl IntoIterator<Item = Job>) {
        let mut state = self.lock();
        match lane {
            Lane::Single => state.single.extend(jobs),
            Lane::Bulk => state.bulk.extend(jobs),
        }
        // One thread is enough: it wakes another if it leaves some. A second one that wakes for nothing would take the
        // core of the first one's helper.
        if state.first_waits { self.first.notify_one() } else { self.others.notify_one() }
    }

    /// Waits for a batch. Returns `None` if the queue is closed and empty. Call [`Queue::done`] after each batch. While
    /// the first thread waits, the others take no batch.
    pub fn take(&self, is_first: bool) -> Option<Batch> {
        let mut state = self.lock();
        loop {
            if !is_first && state.first_waits && !state.closed {
                state = self.others.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            // Drops jobs whose caller no longer waits.
            let State { single, bulk, .. } = &mut *state;
            [single, bulk].into_iter().for_each(|lane| lane.retain(|job| !job.reply.is_closed()));
            let idle = self.threads.saturating_sub(state.busy).max(1);
            let (admitted, sharing) = self.threads_for_single(&state);
            let State { single, bulk, .. } = &mut *state;
            let (jobs, lane) = match admitted {
                0 => (pick(bulk, idle), Lane::Bulk),
                _ => (pick(single, sharing.min(idle)), Lane::Single),
            };
            if !jobs.is_empty() {
                let alone = state.busy == 0 && !state.has_jobs();
                state.busy += 1;
                state.busy_single += usize::from(lane == Lane::Single);
                if state.has_jobs() {
                    self.others.notify_one();
                }
                return Some(Batch { jobs, lane, alone });
            }
            if state.closed {
                return None;
            }
            state.first_waits |= is_first;
            state =
                if is_first { &self.first } else { &self.others }.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.first_waits &= !is_first;
        }
    }

    /// Reports that a thread has finished its batch.
    pub fn done(&self, lane: Lane) {
        let mut state = self.lock();
        state.busy = state.busy.saturating_sub(1);
        state.busy_single = state.busy_single.saturating_sub(usize::from(lane == Lane::Single));
        // The first thread may have left jobs because too many threads were busy with single texts.
        if state.first_waits && state.has_jobs() {
            self.first.notify_one();
        }
    }

    /// The number of threads still available for single texts, and among how many threads the waiting texts are
    /// divided. One core is kept free for the rest of the call, above all the database: with embedding on both of two
    /// cores, the slowest calls of eight clients took 50 % longer. All cores are used only if more than one batch is
    /// waiting.
    fn threads_for_single(&self, state: &State) -> (usize, usize) {
        let waiting: usize = state.single.iter().map(|job| guess_tokens(&job.text)).sum();
        let available = |batches: usize| {
            let max = if waiting > batches * BATCH_TOKENS { self.threads } else { (self.threads - 1).max(1) };
            max.saturating_sub(state.busy_single)
        };
        // Threads share the texts only if more than a batch remains after this thread has taken its own.
        (if waiting == 0 { 0 } else { available(1) }, available(2).max(1))
    }

    /// Removes and returns all waiting jobs.
    pub fn drain(&self) -> Vec<Job> {
        let mut state = self.lock();
        let State { single, bulk, .. } = &mut *state;
        single.drain(..).chain(bulk.drain(..)).collect()
    }

    pub fn depth(&self) -> usize {
        let state = self.lock();
        state.single.len() + state.bulk.len()
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.first.notify_all();
        self.others.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is safe to use: every change is a single push or removal.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the oldest job and jobs of similar length, up to the batch size and this thread's share of the waiting jobs.
fn pick(lane: &mut VecDeque<Job>, idle: usize) -> Vec<Job> {
    let share = lane.len().div_ceil(idle);
    let Some(first) = lane.pop_front() else { return Vec::new() };
    let length = guess_tokens(&first.text);
    let (shortest, longest) = (length / 2, length * 2 + 8);
    let mut left = BATCH_TOKENS.saturating_sub(length);
    let mut jobs = vec![first];
    for job in std::mem::take(lane) {
        let tokens = guess_tokens(&job.text);
        if jobs.len() < share && tokens <= left && (shortest..=longest).contains(&tokens) {
            left -= tokens;
            jobs.push(job);
        } else {
            lane.push_back(job);
        }
    }
    jobs
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use tokio::sync::Semaphore;

    use super::*;

    type Replies = Vec<oneshot::Receiver<Result<Vector, EmbedError>>>;

    fn jobs(texts: &[&str]) -> (Vec<Job>, Replies) {
        let slots = Arc::new(Semaphore::new(texts.len()));
        texts
            .iter()
            .map(|text| {
                let (reply, waiting) = oneshot::channel();
                let slot = slots.clone().try_acquire_owned().unwrap();
                (Job { text: text.to_string(), reply, slot }, waiting)
            })
            .unzip()
    }

    fn texts(batch: &Batch) -> Vec<&str> {
        batch.jobs.iter().map(|job| job.text.as_str()).collect()
    }

    #[test]
    fn similar_lengths_are_batched_and_the_oldest_job_comes_first() {
        let long = "word ".repeat(100);
        let queue = Queue::new(1);
        let (jobs, _waiting) = jobs(&["short one", &long, "short two", "short three"]);
        queue.push(Lane::Single, jobs);
        let first = queue.take(true).unwrap();
        assert_eq!(texts(&first), ["short one", "short two", "short three"]);
        assert!(!first.alone, "the long one still waits");
        queue.done(first.lane);
        let second = queue.take(true).unwrap();
        assert_eq!(texts(&second), [&long]);
        assert!(second.alone);
    }

    #[test]
    fn a_batch_has_at_most_as_many_tokens_as_the_longest_text() {
        let text = "x".repeat(400);
        let queue = Queue::new(1);
        let (jobs, _waiting) = jobs(&[text.as_str(); 10]);
        queue.push(Lane::Bulk, jobs);
        assert_eq!(queue.take(true).unwrap().jobs.len(), 2, "two of 102 tokens fit into 256");
    }

    #[test]
    fn waiting_jobs_are_divided_among_idle_threads() {
        let queue = Queue::new(2);
        let (jobs, _waiting) = jobs(&["a", "b", "c", "d"]);
        queue.push(Lane::Bulk, jobs);
        assert_eq!(texts(&queue.take(true).unwrap()), ["a", "b"]);
        let second = queue.take(true).unwrap();
        assert_eq!(texts(&second), ["c", "d"]);
        assert!(!second.alone, "the first batch is running");
    }

    #[test]
    fn a_few_single_texts_leave_one_core_free_and_many_use_all() {
        let queue = Queue::new(2);
        let (few, _waiting) = jobs(&["a", "b", "c"]);
        queue.push(Lane::Single, few);
        assert_eq!(texts(&queue.take(true).unwrap()), ["a", "b", "c"], "one batch, not half for each thread");
        let (later, _waiting_too) = jobs(&["d"]);
        queue.push(Lane::Single, later);
        assert_eq!(queue.threads_for_single(&queue.lock()).0, 0, "it waits for the busy thread");
        let (bulk, _waiting_as_well) = jobs(&["bulk"]);
        queue.push(Lane::Bulk, bulk);
        assert_eq!(texts(&queue.take(true).unwrap()), ["bulk"], "a bulk job may use the other thread");
        let long = "x".repeat(900);
        let (many, _waiting_again) = jobs(&[long.as_str(), long.as_str()]);
        queue.push(Lane::Single, many);
        queue.done(Lane::Bulk);
        assert_eq!(texts(&queue.take(true).unwrap()), ["d"], "more than one batch is waiting");
    }

    #[test]
    fn if_slightly_more_than_a_batch_waits_the_first_thread_takes_a_full_batch() {
        let queue = Queue::new(2);
        let text = "x".repeat(40);
        let (few, _waiting) = jobs(&[text.as_str(); 30]);
        queue.push(Lane::Single, few);
        assert_eq!(queue.take(true).unwrap().jobs.len(), 21, "twelve tokens each");
    }

    #[test]
    fn a_single_text_does_not_wait_for_a_running_bulk_job() {
        let queue = Queue::new(2);
        let (bulk, _waiting) = jobs(&["bulk"]);
        let (single, _waiting_too) = jobs(&["single"]);
        queue.push(Lane::Bulk, bulk);
        assert_eq!(texts(&queue.take(true).unwrap()), ["bulk"]);
        queue.push(Lane::Single, single);
        assert_eq!(texts(&queue.take(true).unwrap()), ["single"]);
    }

    #[test]
    fn a_single_text_overtakes_a_waiting_bulk_job() {
        let queue = Queue::new(1);
        let (bulk, _waiting) = jobs(&["bulk"]);
        let (single, _waiting_too) = jobs(&["single"]);
        queue.push(Lane::Bulk, bulk);
        queue.push(Lane::Single, single);
        assert_eq!(texts(&queue.take(true).unwrap()), ["single"]);
        assert_eq!(texts(&queue.take(true).unwrap()), ["bulk"]);
    }

    #[test]
    fn a_job_whose_caller_is_gone_is_dropped() {
        let queue = Queue::new(1);
        let (jobs, mut waiting) = jobs(&["gone", "here"]);
        waiting.remove(0);
        queue.push(Lane::Single, jobs);
        assert_eq!(texts(&queue.take(true).unwrap()), ["here"]);
    }

    #[test]
    fn a_job_whose_caller_is_gone_does_not_delay_a_bulk_job() {
        let queue = Queue::new(1);
        let (gone, _) = jobs(&["gone"]);
        let (bulk, _waiting) = jobs(&["bulk"]);
        queue.push(Lane::Single, gone);
        queue.push(Lane::Bulk, bulk);
        assert_eq!(texts(&queue.take(true).unwrap()), ["bulk"]);
    }

    #[test]
    fn the_first_thread_takes_a_job_that_it_had_to_leave_when_another_is_done() {
        let queue = Queue::new(2);
        let (bulk, _waiting) = jobs(&["bulk"]);
        let (single, _waiting_too) = jobs(&["single"]);
        let (later, _waiting_as_well) = jobs(&["later"]);
        queue.push(Lane::Bulk, bulk);
        assert_eq!(texts(&queue.take(true).unwrap()), ["bulk"]);
        queue.push(Lane::Single, single);
        assert_eq!(texts(&queue.take(false).unwrap()), ["single"]);
        queue.push(Lane::Single, later);
        queue.done(Lane::Bulk);
        thread::scope(|scope| {
            let first = scope.spawn(|| queue.take(true).unwrap());
            while !queue.lock().first_waits {
                thread::yield_now();
            }
            let other = scope.spawn(|| queue.take(false));
            queue.done(Lane::Single);
            assert_eq!(texts(&first.join().unwrap()), ["later"]);
            queue.close();
            assert!(other.join().unwrap().is_none());
        });
    }

    #[test]
    fn a_closed_queue_returns_its_remaining_jobs_and_then_none() {
        let queue = Queue::new(1);
        let (jobs, _waiting) = jobs(&["last"]);
        queue.push(Lane::Single, jobs);
        queue.close();
        assert!(queue.take(true).is_some());
        assert!(queue.take(true).is_none());
    }
}
