//! What waits to be embedded, and which of it goes together.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::Vector;
use crate::error::EmbedError;
use crate::minilm::MAX_TOKENS;

/// A batch takes no longer than the longest text alone would, and at this size the products are as fast as they get.
const BATCH_TOKENS: usize = MAX_TOKENS;

/// One text and who waits for it.
pub struct Job {
    pub text: String,
    pub reply: oneshot::Sender<Result<Vector, EmbedError>>,
    /// The place in the queue, given back when the job is done.
    pub place: OwnedSemaphorePermit,
}

/// The length in tokens, near enough to put like to like; English has about four bytes a token.
pub fn guess_tokens(text: &str) -> usize {
    (2 + text.len() / 4).min(MAX_TOKENS)
}

/// Who waits: a person for one text, or a job for many. The person goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    Single,
    Bulk,
}

/// Jobs to be run together.
pub struct Batch {
    pub jobs: Vec<Job>,
    /// Nothing else is running or waiting: the batch may have all cores.
    pub alone: bool,
}

pub struct Queue {
    threads: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    single: VecDeque<Job>,
    bulk: VecDeque<Job>,
    /// Threads that are running a batch.
    busy: usize,
    closed: bool,
}

impl Queue {
    /// For `threads` that call [`Queue::take`].
    pub fn new(threads: usize) -> Queue {
        Queue { threads, state: Mutex::default(), changed: Condvar::new() }
    }

    pub fn push(&self, lane: Lane, jobs: impl IntoIterator<Item = Job>) {
        let mut state = self.lock();
        match lane {
            Lane::Single => state.single.extend(jobs),
            Lane::Bulk => state.bulk.extend(jobs),
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for work; none means that the queue was closed and is empty. Call [`Queue::done`] after each batch.
    pub fn take(&self) -> Option<Batch> {
        let mut state = self.lock();
        loop {
            let idle = self.threads.saturating_sub(state.busy).max(1);
            let State { single, bulk, .. } = &mut *state;
            let lane = if single.is_empty() { bulk } else { single };
            let jobs = pick(lane, idle);
            if !jobs.is_empty() {
                let alone = state.busy == 0 && state.single.is_empty() && state.bulk.is_empty();
                state.busy += 1;
                return Some(Batch { jobs, alone });
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub fn done(&self) {
        let mut state = self.lock();
        state.busy = state.busy.saturating_sub(1);
    }

    /// Everything that waits.
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
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is one push or one removal, so there is no half-changed state to fear.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The oldest job and those of about its length, up to a batch, but no more than this thread's share of what waits.
/// Whoever asked and went away is left out.
fn pick(lane: &mut VecDeque<Job>, idle: usize) -> Vec<Job> {
    lane.retain(|job| !job.reply.is_closed());
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

    use tokio::sync::Semaphore;

    use super::*;

    type Waiting = Vec<oneshot::Receiver<Result<Vector, EmbedError>>>;

    fn jobs(texts: &[&str]) -> (Vec<Job>, Waiting) {
        let places = Arc::new(Semaphore::new(texts.len()));
        texts
            .iter()
            .map(|text| {
                let (reply, waiting) = oneshot::channel();
                let place = places.clone().try_acquire_owned().unwrap();
                (Job { text: text.to_string(), reply, place }, waiting)
            })
            .unzip()
    }

    fn texts(batch: &Batch) -> Vec<&str> {
        batch.jobs.iter().map(|job| job.text.as_str()).collect()
    }

    #[test]
    fn like_lengths_go_together_and_the_oldest_goes_first() {
        let long = "word ".repeat(100);
        let queue = Queue::new(1);
        let (jobs, _waiting) = jobs(&["short one", &long, "short two", "short three"]);
        queue.push(Lane::Single, jobs);
        let first = queue.take().unwrap();
        assert_eq!(texts(&first), ["short one", "short two", "short three"]);
        assert!(!first.alone, "the long one still waits");
        queue.done();
        let second = queue.take().unwrap();
        assert_eq!(texts(&second), [&long]);
        assert!(second.alone);
    }

    #[test]
    fn a_batch_is_no_longer_than_the_longest_text() {
        let text = "x".repeat(400);
        let queue = Queue::new(1);
        let (jobs, _waiting) = jobs(&[text.as_str(); 10]);
        queue.push(Lane::Bulk, jobs);
        assert_eq!(queue.take().unwrap().jobs.len(), 2, "two of 102 tokens fit into 256");
    }

    #[test]
    fn what_waits_is_shared_among_idle_threads() {
        let queue = Queue::new(2);
        let (jobs, _waiting) = jobs(&["a", "b", "c", "d"]);
        queue.push(Lane::Bulk, jobs);
        assert_eq!(texts(&queue.take().unwrap()), ["a", "b"]);
        let second = queue.take().unwrap();
        assert_eq!(texts(&second), ["c", "d"]);
        assert!(!second.alone, "the first batch is running");
    }

    #[test]
    fn a_single_text_overtakes_a_bulk() {
        let queue = Queue::new(1);
        let (bulk, _waiting) = jobs(&["bulk"]);
        let (single, _waiting_too) = jobs(&["single"]);
        queue.push(Lane::Bulk, bulk);
        queue.push(Lane::Single, single);
        assert_eq!(texts(&queue.take().unwrap()), ["single"]);
        assert_eq!(texts(&queue.take().unwrap()), ["bulk"]);
    }

    #[test]
    fn who_went_away_is_not_served() {
        let queue = Queue::new(1);
        let (jobs, mut waiting) = jobs(&["gone", "here"]);
        waiting.remove(0);
        queue.push(Lane::Single, jobs);
        assert_eq!(texts(&queue.take().unwrap()), ["here"]);
    }

    #[test]
    fn a_closed_queue_ends_when_it_is_empty() {
        let queue = Queue::new(1);
        let (jobs, _waiting) = jobs(&["last"]);
        queue.push(Lane::Single, jobs);
        queue.close();
        assert!(queue.take().is_some());
        assert!(queue.take().is_none());
    }
}
