//! The clock abstraction. [`SystemClock`] is the only code that reads the system clock.

use std::sync::Mutex;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// A point in time in UTC.
pub type Timestamp = DateTime<Utc>;

/// Supplies the current time. Statements take it as a parameter, so tests control decay and expiry to the second.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;
}

/// The machine's clock, truncated to the microseconds that PostgreSQL stores.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> Timestamp {
        // PostgreSQL stores microseconds. Without truncation a stored time would differ from the one passed in.
        chrono::SubsecRound::trunc_subsecs(Utc::now(), 6)
    }
}

/// A clock for tests: its time changes only through [`set`](Self::set) and the `advance` methods.
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

/// Days from `earlier` to `later`, including the fraction. A negative span is 0, because clocks of two machines differ.
pub fn days_between(earlier: Timestamp, later: Timestamp) -> f64 {
    let micros = (later - earlier).num_microseconds().unwrap_or(i64::MAX);
    (micros.max(0) as f64) / 86_400_000_000.0
}
