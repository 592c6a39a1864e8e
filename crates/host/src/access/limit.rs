//! The rate limit of each token or address: a token bucket that refills at a steady rate and allows bursts.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Calls come in bursts, so a full bucket holds this many seconds' worth of requests.
const BURST_SECONDS: f64 = 10.0;

/// Buckets in memory. Beyond this many, those that are full again are forgotten: they would start out full anyway.
const MAX_BUCKETS: usize = 10_000;

pub struct Limiter<Key> {
    /// Requests per second; `None` for no limit.
    rate: Option<f64>,
    buckets: Mutex<HashMap<Key, Bucket>>,
}

struct Bucket {
    left: f64,
    refilled_at: Instant,
}

impl Bucket {
    fn refill(&mut self, rate: f64, now: Instant) {
        let refill = now.saturating_duration_since(self.refilled_at).as_secs_f64() * rate;
        self.left = (self.left + refill).min(rate * BURST_SECONDS);
        self.refilled_at = now;
    }
}

impl<Key: Eq + Hash> Limiter<Key> {
    /// 0 means no limit.
    pub fn new(requests_per_second: u32) -> Self {
        Self { rate: (requests_per_second > 0).then(|| f64::from(requests_per_second)), buckets: Mutex::default() }
    }

    /// Takes one request from the bucket of a key; the error is how long to wait if the bucket is empty.
    pub fn take(&self, key: Key, now: Instant) -> Result<(), Duration> {
        let Some(rate) = self.rate else { return Ok(()) };
        let capacity = rate * BURST_SECONDS;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_BUCKETS && !buckets.contains_key(&key) {
            buckets.retain(|_, bucket| {
                bucket.refill(rate, now);
                bucket.left < capacity
            });
            if buckets.len() >= MAX_BUCKETS {
                return Err(Duration::from_secs_f64(1.0 / rate));
            }
        }
        let bucket = buckets.entry(key).or_insert(Bucket { left: capacity, refilled_at: now });
        bucket.refill(rate, now);
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - bucket.left) / rate))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn each_token_has_its_own_burst_and_rate() {
        let (limiter, begun) = (Limiter::new(2), Instant::now());
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        for _ in 0..20 {
            assert_eq!(limiter.take(one, begun), Ok(()));
        }
        assert_eq!(limiter.take(one, begun), Err(Duration::from_millis(500)));
        assert_eq!(limiter.take(other, begun), Ok(()));
        let later = begun + Duration::from_millis(500);
        assert_eq!(limiter.take(one, later), Ok(()));
        assert!(limiter.take(one, later).is_err());
        assert_eq!(Limiter::new(0).take(one, begun), Ok(()));
    }
    #[test]
    fn the_number_of_buckets_is_bounded_and_full_ones_make_room() {
        let (limiter, begun) = (Limiter::new(1), Instant::now());
        for key in 0..MAX_BUCKETS {
            assert_eq!(limiter.take(key, begun), Ok(()));
        }
        assert!(limiter.take(MAX_BUCKETS, begun).is_err(), "no bucket is full yet");
        assert_eq!(limiter.take(0, begun), Ok(()), "known keys are served");
        let later = begun + Duration::from_secs(1);
        assert_eq!(limiter.take(MAX_BUCKETS, later), Ok(()));
        assert_eq!(limiter.buckets.lock().unwrap().len(), 2, "that of key 0, which took two, and the new one");
    }
}
