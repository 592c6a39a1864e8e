//! The rate limit of each token: a token bucket that refills at a steady rate and allows bursts.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

/// Calls come in bursts, so a full bucket holds this many seconds' worth of requests.
const BURST_SECONDS: f64 = 10.0;

pub struct Limiter {
    /// Requests per second; `None` for no limit.
    rate: Option<f64>,
    /// Buckets of valid tokens only, so that an attacker cannot fill the map.
    buckets: Mutex<HashMap<Uuid, Bucket>>,
}

struct Bucket {
    left: f64,
    refilled_at: Instant,
}

impl Limiter {
    /// 0 means no limit.
    pub fn new(requests_per_second: u32) -> Self {
        Self { rate: (requests_per_second > 0).then(|| f64::from(requests_per_second)), buckets: Mutex::default() }
    }

    /// Takes one request from the token's bucket; the error is how long to wait if the bucket is empty.
    pub fn take(&self, token: Uuid, now: Instant) -> Result<(), Duration> {
        let Some(rate) = self.rate else { return Ok(()) };
        let capacity = rate * BURST_SECONDS;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(token).or_insert(Bucket { left: capacity, refilled_at: now });
        let refill = now.saturating_duration_since(bucket.refilled_at).as_secs_f64() * rate;
        bucket.left = (bucket.left + refill).min(capacity);
        bucket.refilled_at = now;
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - bucket.left) / rate))
    }
}

#[cfg(test)]
mod tests {
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
}
