//! Decides when to retry an episode whose consolidation failed.

use chrono::TimeDelta;

use crate::clock::Timestamp;

/// The longest back-off. Without it, `2ⁿ × 60 s` would soon exceed the lifetime of an episode.
const MAX_BACKOFF_S: i64 = 24 * 60 * 60;

/// What happens to an episode after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFailure {
    /// Retry, but not before this time.
    RetryAt(Timestamp),
    /// Give up until someone requeues the episode.
    DeadLetter,
}

/// The consequence of a failed attempt. `attempts` includes the one that just failed (the new `retry_count`). The
/// back-off is 2 minutes after the first failure, then 4, 8, 16 and so on.
pub fn after_failure(attempts: u32, max_attempts: u32, now: Timestamp) -> AfterFailure {
    if attempts >= max_attempts {
        return AfterFailure::DeadLetter;
    }
    let wait =
        2i64.checked_pow(attempts).and_then(|n| n.checked_mul(60)).map_or(MAX_BACKOFF_S, |s| s.min(MAX_BACKOFF_S));
    AfterFailure::RetryAt(now + TimeDelta::seconds(wait))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    #[test]
    fn a_failed_episode_is_retried_with_backoff_and_becomes_a_dead_letter_after_5_attempts() {
        let now = DateTime::UNIX_EPOCH;
        let waits: Vec<_> = (1..=5)
            .map(|n| match after_failure(n, 5, now) {
                AfterFailure::RetryAt(at) => Some((at - now).num_seconds()),
                AfterFailure::DeadLetter => None,
            })
            .collect();
        assert_eq!(waits, [Some(120), Some(240), Some(480), Some(960), None]);
        let many_attempts = after_failure(4_000_000_000, u32::MAX, now);
        assert_eq!(many_attempts, AfterFailure::RetryAt(now + TimeDelta::days(1)), "never longer than a day");
    }
}
