//! How much one token may ask: a bucket that fills at a steady rate and holds a burst.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

/// Calls come in bursts: a bucket holds what flows in this long.
const BURST_SECONDS: f64 = 10.0;

pub struct Limiter {
    /// Requests a second; `None`: no limit.
    rate: Option<f64>,
    /// Of tokens that were found valid only, so it cannot be filled from outside.
    buckets: Mutex<HashMap<Uuid, Bucket>>,
}

struct Bucket {
    left: f64,
    at: Instant,
}

impl Limiter {
    /// 0: no limit.
    pub fn new(requests_per_second: u32) -> Self {
        Self { rate: (requests_per_second > 0).then(|| f64::from(requests_per_second)), buckets: Mutex::default() }
    }

    /// How long to wait, when it is too much.
    pub fn take(&self, token: Uuid, now: Instant) -> Result<(), Duration> {
        let Some(rate) = self.rate else { return Ok(()) };
        let most = rate * BURST_SECONDS;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(token).or_insert(Bucket { left: most, at: now });
        let flown = now.saturating_duration_since(bucket.at).as_secs_f64() * rate;
        bucket.left = (bucket.left + flown).min(most);
        bucket.at = now;
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
    fn a_burst_passes_then_the_rate_holds_and_each_token_has_its_own() {
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
