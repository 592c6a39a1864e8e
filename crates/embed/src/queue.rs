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

/// Who waits: a person for one text, or a job for many. The person goes first, but for one core a job may have meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    Single,
    Bulk,
}

/// Jobs to be run together.
pub struct Batch {
    pub jobs: Vec<Job>,
    pub lane: Lane,
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
    /// Threads that are running a batch, and those among them whose batch is of single texts.
    busy: usize,
    busy_single: usize,
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
            // whoever asked and went away is left out
            let State { single, bulk, .. } = &mut *state;
            [single, bulk].into_iter().for_each(|lane| lane.retain(|job| !job.reply.is_closed()));
            let idle = self.threads.saturating_sub(state.busy).max(1);
            let (admitted, sharing) = self.for_single(&state);
            let State { single, bulk, .. } = &mut *state;
            let (jobs, lane) = match admitted {
                0 => (pick(bulk, idle), Lane::Bulk),
                _ => (pick(single, sharing.min(idle)), Lane::Single),
            };
            if !jobs.is_empty() {
                let alone = state.busy == 0 && state.single.is_empty() && state.bulk.is_empty();
                state.busy += 1;
                state.busy_single += usize::from(lane == Lane::Single);
                return Some(Batch { jobs, lane, alone });
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub fn done(&self, lane: Lane) {
        let mut state = self.lock();
        state.busy = state.busy.saturating_sub(1);
        state.busy_single = state.busy_single.saturating_sub(usize::from(lane == Lane::Single));
    }

    /// How many threads more may take up single texts, and how many share those that wait. One core is left to whatever the
    /// answers go through next, the database above all: with embedding on both of two cores, the slow ones among the calls of
    /// eight clients took half as long again. Only where more waits than goes into a batch, all are worth it.
    fn for_single(&self, state: &State) -> (usize, usize) {
        let waiting: usize = state.single.iter().map(|job| guess_tokens(&job.text)).sum();
        let more = |batches: usize| {
            let most = if waiting > batches * BATCH_TOKENS { self.threads } else { (self.threads - 1).max(1) };
            most.saturating_sub(state.busy_single)
        };
        // what is left to share once the first has its batch
        (if waiting == 0 { 0 } else { more(1) }, more(2).max(1))
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
        queue.done(first.lane);
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
    fn a_few_single_texts_leave_a_core_to_what_comes_after_them_and_many_do_not() {
        let queue = Queue::new(2);
        let (few, _waiting) = jobs(&["a", "b", "c"]);
        queue.push(Lane::Single, few);
        assert_eq!(texts(&queue.take().unwrap()), ["a", "b", "c"], "together, not one half each");
        let (later, _waiting_too) = jobs(&["d"]);
        queue.push(Lane::Single, later);
        assert_eq!(queue.for_single(&queue.lock()).0, 0, "it waits for the thread that is busy");
        let (bulk, _waiting_as_well) = jobs(&["bulk"]);
        queue.push(Lane::Bulk, bulk);
        assert_eq!(texts(&queue.take().unwrap()), ["bulk"], "a job for many has the other");
        let long = "x".repeat(900);
        let (many, _waiting_again) = jobs(&[long.as_str(), long.as_str()]);
        queue.push(Lane::Single, many);
        queue.done(Lane::Bulk);
        assert_eq!(texts(&queue.take().unwrap()), ["d"], "more waits than goes into a batch");
    }

    #[test]
    fn of_a_little_more_than_a_batch_the_first_takes_a_whole_one() {
        let queue = Queue::new(2);
        let text = "x".repeat(40);
        let (few, _waiting) = jobs(&[text.as_str(); 30]);
        queue.push(Lane::Single, few);
        assert_eq!(queue.take().unwrap().jobs.len(), 21, "of twelve tokens each");
    }

    #[test]
    fn a_single_text_does_not_wait_for_a_bulk() {
        let queue = Queue::new(2);
        let (bulk, _waiting) = jobs(&["bulk"]);
        let (single, _waiting_too) = jobs(&["single"]);
        queue.push(Lane::Bulk, bulk);
        assert_eq!(texts(&queue.take().unwrap()), ["bulk"]);
        queue.push(Lane::Single, single);
        assert_eq!(texts(&queue.take().unwrap()), ["single"]);
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
    fn who_went_away_does_not_hold_up_a_bulk() {
        let queue = Queue::new(1);
        let (gone, _) = jobs(&["gone"]);
        let (bulk, _waiting) = jobs(&["bulk"]);
        queue.push(Lane::Single, gone);
        queue.push(Lane::Bulk, bulk);
        assert_eq!(texts(&queue.take().unwrap()), ["bulk"]);
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
