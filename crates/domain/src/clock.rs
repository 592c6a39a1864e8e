//! The clock abstraction. [`SystemClock`] is the only code that reads the system clock.

pub mod guard;

use std::sync::Mutex;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// A point in time in UTC.
pub type Timestamp = DateTime<Utc>;

/// Supplies the current time. Statements take it as a parameter, so tests control decay and expiry to the second.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// Time since an arbitrary moment, including time in suspend. Unlike [`Self::now`], nobody can set it, so the two
    /// together tell whether the clock was set.
    fn monotonic(&self) -> Duration;
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

    fn monotonic(&self) -> Duration {
        // Linux stops CLOCK_MONOTONIC in suspend; elsewhere it goes on.
        #[cfg(target_os = "linux")]
        let id = rustix::time::ClockId::Boottime;
        #[cfg(not(target_os = "linux"))]
        let id = rustix::time::ClockId::Monotonic;
        let time = rustix::time::clock_gettime(id);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
    }
}

/// A clock for tests and simulations: its time changes only through its methods.
#[derive(Debug)]
pub struct MockClock(Mutex<MockTime>);

#[derive(Debug)]
struct MockTime {
    wall: Timestamp,
    /// How far [`MockClock::jump`] has moved the wall clock, which the monotonic clock does not notice.
    jumped: TimeDelta,
}

impl MockClock {
    /// A clock that shows `time` until a method changes it.
    pub fn at(time: Timestamp) -> Self {
        Self(Mutex::new(MockTime { wall: time, jumped: TimeDelta::zero() }))
    }

    /// Moves both clocks to `time`, as if the time in between had passed.
    pub fn set(&self, time: Timestamp) {
        self.lock().wall = time;
    }

    /// Lets this much time pass on both clocks.
    pub fn advance(&self, by: Duration) {
        self.lock().wall += TimeDelta::from_std(by).unwrap_or(TimeDelta::MAX);
    }

    /// Lets a number of days pass on both clocks; a fraction is allowed.
    pub fn advance_days(&self, days: f64) {
        self.advance(Duration::from_secs_f64(days * 86_400.0));
    }

    /// Sets the wall clock wrong, or right again, while no time passes.
    pub fn jump(&self, by: TimeDelta) {
        let mut time = self.lock();
        time.wall += by;
        time.jumped += by;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, MockTime> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Clock for MockClock {
    fn now(&self) -> Timestamp {
        self.lock().wall
    }

    fn monotonic(&self) -> Duration {
        let time = self.lock();
        Duration::from_micros((time.wall - time.jumped).timestamp_micros().max(0).unsigned_abs())
    }
}

/// Both clocks at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    pub wall: Timestamp,
    pub monotonic: Duration,
}

impl Reading {
    /// Reads both clocks, one right after the other.
    pub fn of(clock: &dyn Clock) -> Self {
        Self { wall: clock.now(), monotonic: clock.monotonic() }
    }

    /// The time at `now`: the wall clock's, or if that was set since this reading, what it would show otherwise.
    pub fn corrected(&self, now: Self) -> Timestamp {
        if self.was_set_before(now) { self.wall_at(now.monotonic) } else { now.wall }
    }

    /// Whether somebody set the wall clock between this reading and `now`.
    fn was_set_before(&self, now: Self) -> bool {
        (now.wall - self.wall_at(now.monotonic)).abs() > guard::TOLERANCE
    }

    /// What the wall clock shows at `monotonic` unless it is set in between.
    fn wall_at(&self, monotonic: Duration) -> Timestamp {
        let passed = monotonic.as_secs_f64() - self.monotonic.as_secs_f64();
        self.wall + TimeDelta::milliseconds((passed * 1000.0) as i64)
    }
}

/// Days from `earlier` to `later`, including the fraction. A negative span is 0, because clocks of two machines differ.
pub fn days_between(earlier: Timestamp, later: Timestamp) -> f64 {
    let micros = (later - earlier).num_microseconds().unwrap_or(i64::MAX);
    (micros.max(0) as f64) / 86_400_000_000.0
}
