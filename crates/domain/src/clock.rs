//! The only place that looks at the system's clock.

use std::sync::Mutex;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

pub type Timestamp = DateTime<Utc>;

/// Where time comes from. Passed into every statement as a parameter, so that decay and expiry are testable to the second.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;
}

#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> Timestamp {
        // PostgreSQL keeps microseconds: a time that was stored and read back equals the one that was passed.
        chrono::SubsecRound::trunc_subsecs(Utc::now(), 6)
    }
}

/// A clock that stands still until told otherwise.
#[derive(Debug)]
pub struct MockClock(Mutex<Timestamp>);

impl MockClock {
    pub fn at(time: Timestamp) -> Self {
        Self(Mutex::new(time))
    }

    pub fn set(&self, time: Timestamp) {
        *self.lock() = time;
    }

    pub fn advance(&self, by: Duration) {
        *self.lock() += TimeDelta::from_std(by).unwrap_or(TimeDelta::MAX);
    }

    pub fn advance_days(&self, days: f64) {
        self.advance(Duration::from_secs_f64(days * 86_400.0));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Timestamp> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Clock for MockClock {
    fn now(&self) -> Timestamp {
        *self.lock()
    }
}

/// Days (with their fraction) from one time to another; negative spans count as none, since clocks of two machines differ.
pub fn days_between(earlier: Timestamp, later: Timestamp) -> f64 {
    let micros = (later - earlier).num_microseconds().unwrap_or(i64::MAX);
    (micros.max(0) as f64) / 86_400_000_000.0
}
