//! Decides whether the clock can be trusted with jobs that delete or expire memories. Pure, so that tests can jump.
//!
//! A process knows how much time has passed since its last reading. What happened before its start it knows only from
//! the mark, the latest time that was trusted.

use std::time::Duration;

use chrono::TimeDelta;

use super::{Reading, Timestamp};

/// A smaller jump does no harm: memories expire after days. Time synchronisation makes such jumps.
pub(super) const TOLERANCE: TimeDelta = TimeDelta::minutes(5);
/// A longer absence is indistinguishable from a wrong clock. Jobs that delete then wait for a steady hour.
const LONGEST_ABSENCE: TimeDelta = TimeDelta::days(30);
/// After this time without another jump, the clock is believed.
const STEADY: Duration = Duration::from_secs(3600);

/// What the processes of one butler know together. It is stored in the butler's database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// The latest time that was trusted; `None` if no time was ever trusted.
    pub latest: Option<Timestamp>,
    /// Why jobs that delete are on hold.
    pub hold: Option<String>,
}

/// How to change the mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkChange {
    /// This time is trusted.
    Advance(Timestamp),
    /// Jobs that delete are on hold, for this reason.
    Hold(String),
    /// The hold is over; this time is trusted, even if it is earlier than the mark.
    Accept(Timestamp),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Hold {
    reason: String,
    origin: Origin,
    /// What the time probably was when the hold began.
    believed: Reading,
    /// When the clock was last found to have jumped, or the hold was noticed.
    steady_since: Duration,
    /// Whether the mark carries it. If it then no longer does, somebody has accepted the clock.
    recorded: bool,
}

/// How to find out that a wrong clock has been set right.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    /// It jumped after this reading, which was trusted.
    Jump(Reading),
    /// It disagrees with the mark.
    Mark,
    /// Another process noticed, or this one before a restart.
    Recorded,
}

/// The judgement of one process about its clock.
#[derive(Debug, Clone, Default)]
pub struct ClockGuard {
    last: Option<Reading>,
    hold: Option<Hold>,
}

impl ClockGuard {
    /// Why jobs that delete are on hold; `None` if the clock is trusted.
    pub fn held(&self) -> Option<&str> {
        self.hold.as_ref().map(|hold| hold.reason.as_str())
    }

    /// The time to write with at a later reading: the clock's own, or if that was set since the last time that was
    /// trusted, what it would show otherwise. A memory that is dated wrongly fades too early or too late.
    pub fn believed(&self) -> Option<Reading> {
        self.hold.as_ref().map(|hold| hold.believed).or(self.last)
    }

    /// Compares a reading with the one before it. Needs no mark, so it can be called often.
    pub fn observe(&mut self, now: Reading) {
        let Some(last) = self.last.replace(now) else { return };
        if !last.was_set_before(now) {
            return;
        }
        let expected = last.wall_at(now.monotonic);
        match &mut self.hold {
            Some(hold) => hold.steady_since = now.monotonic,
            None => {
                let reason = format!("the clock jumped from {} to {}", show(expected), show(now.wall));
                self.hold = Some(new_hold(reason, Origin::Jump(last), last, now));
            }
        }
    }

    /// Observes a reading and compares it with the mark. The caller applies the change and then calls
    /// [`Self::recorded`].
    pub fn compare(&mut self, now: Reading, mark: &Mark) -> Option<MarkChange> {
        let is_first = self.last.is_none();
        self.observe(now);
        if mark.hold.is_none() && self.hold.as_ref().is_some_and(|hold| hold.recorded) {
            self.hold = None;
        }
        if self.hold.is_none() {
            // A clock that is behind the mark is wrong. One that is ahead may be right.
            let believed = Reading { wall: mark.latest.map_or(now.wall, |latest| latest.max(now.wall)), ..now };
            let recorded = mark.hold.clone().map(|reason| new_hold(reason, Origin::Recorded, believed, now));
            let implausible = || {
                let reason = disagreement(now.wall, mark.latest?, is_first)?;
                Some(new_hold(reason, Origin::Mark, believed, now))
            };
            self.hold = recorded.or_else(implausible);
        }
        match &self.hold {
            Some(hold) if is_over(hold, now, mark) => {
                self.hold = None;
                Some(MarkChange::Accept(now.wall))
            }
            Some(hold) => mark.hold.is_none().then(|| MarkChange::Hold(hold.reason.clone())),
            None => (mark.latest < Some(now.wall)).then_some(MarkChange::Advance(now.wall)),
        }
    }

    /// The mark is as [`Self::compare`] wanted it.
    pub fn recorded(&mut self) {
        if let Some(hold) = &mut self.hold {
            hold.recorded = true;
        }
    }
}

fn new_hold(reason: String, origin: Origin, believed: Reading, now: Reading) -> Hold {
    Hold { reason, origin, believed, steady_since: now.monotonic, recorded: false }
}

/// Why a time is implausible after the latest trusted one. Only the first reading of a process may be too late: later
/// ones are compared with the monotonic clock.
fn disagreement(now: Timestamp, latest: Timestamp, is_first: bool) -> Option<String> {
    if now < latest - TOLERANCE {
        return Some(format!("the clock shows {}, but it was {} before", show(now), show(latest)));
    }
    let ahead = is_first && now > latest + LONGEST_ABSENCE;
    ahead.then(|| format!("the clock shows {}, {} days after the last use", show(now), (now - latest).num_days()))
}

fn is_over(hold: &Hold, now: Reading, mark: &Mark) -> bool {
    let is_right_again = match &hold.origin {
        Origin::Jump(trusted) => !trusted.was_set_before(now),
        Origin::Mark => mark.latest.is_none_or(|latest| disagreement(now.wall, latest, true).is_none()),
        Origin::Recorded => false,
    };
    is_right_again || now.monotonic.saturating_sub(hold.steady_since) >= STEADY
}

fn show(time: Timestamp) -> String {
    time.format("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::super::{Clock, MockClock};
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// A process with its guard, on a clock and a mark that outlive it.
    struct Process<'a> {
        clock: &'a MockClock,
        mark: &'a mut Mark,
        guard: ClockGuard,
    }

    impl<'a> Process<'a> {
        fn start(clock: &'a MockClock, mark: &'a mut Mark) -> Self {
            let mut this = Self { clock, mark, guard: ClockGuard::default() };
            this.is_held();
            this
        }

        fn is_held(&mut self) -> bool {
            match self.guard.compare(Reading::of(self.clock), self.mark) {
                Some(MarkChange::Advance(time)) => self.mark.latest = Some(time),
                Some(MarkChange::Hold(reason)) => self.mark.hold = Some(reason),
                Some(MarkChange::Accept(time)) => *self.mark = Mark { latest: Some(time), hold: None },
                None => {}
            }
            self.guard.recorded();
            assert_eq!(self.guard.held(), self.mark.hold.as_deref());
            self.guard.held().is_some()
        }
    }

    fn noon() -> MockClock {
        MockClock::at("2030-01-15T12:00:00Z".parse().unwrap())
    }

    #[test]
    fn a_jump_holds_until_the_clock_returns() {
        for days in [400, -400, 1, -1] {
            let (clock, mut mark) = (noon(), Mark::default());
            let mut process = Process::start(&clock, &mut mark);
            clock.advance(MINUTE);
            assert!(!process.is_held());
            clock.jump(TimeDelta::days(days));
            assert!(process.is_held(), "{days}");
            clock.advance(Duration::from_secs(7));
            assert!(process.is_held());
            clock.jump(TimeDelta::days(-days));
            assert!(!process.is_held(), "{days}");
            assert_eq!(mark.latest, Some(clock.now()));
        }
    }

    #[test]
    fn the_believed_time_ignores_a_jump_and_never_lies_before_the_mark() {
        let (clock, mut mark) = (noon(), Mark::default());
        let mut process = Process::start(&clock, &mut mark);
        let right = clock.now();
        for days in [400, -400] {
            clock.jump(TimeDelta::days(days));
            for _ in 0..2 {
                let believed = process.guard.believed().unwrap();
                assert_eq!(believed.corrected(Reading::of(&clock)), right, "before and after the jump is noticed");
                process.is_held();
            }
            clock.jump(TimeDelta::days(-days));
            assert!(!process.is_held());
        }
        clock.jump(TimeDelta::days(-400));
        let process = Process::start(&clock, &mut mark);
        clock.advance(MINUTE);
        let believed = process.guard.believed().unwrap();
        assert_eq!(
            believed.corrected(Reading::of(&clock)),
            right + TimeDelta::minutes(1),
            "started with a wrong clock"
        );
    }

    #[test]
    fn a_jump_is_accepted_after_one_steady_hour() {
        let (clock, mut mark) = (noon(), Mark::default());
        let mut process = Process::start(&clock, &mut mark);
        clock.jump(TimeDelta::days(-400));
        assert!(process.is_held());
        clock.advance(MINUTE * 40);
        clock.jump(TimeDelta::days(1));
        assert!(process.is_held());
        clock.advance(MINUTE * 59);
        assert!(process.is_held(), "the hour begins again with every jump");
        clock.advance(MINUTE);
        assert!(!process.is_held());
        assert_eq!(mark.latest, Some(clock.now()), "the mark goes back with the accepted clock");
    }

    #[test]
    fn suspend_a_long_run_and_small_corrections_are_no_jumps() {
        let (clock, mut mark) = (noon(), Mark::default());
        let mut process = Process::start(&clock, &mut mark);
        clock.advance_days(200.0);
        assert!(!process.is_held());
        clock.jump(TimeDelta::minutes(4));
        assert!(!process.is_held());
        clock.jump(TimeDelta::minutes(-4));
        assert!(!process.is_held());
    }

    #[test]
    fn an_absence_of_days_is_no_wrong_clock_and_one_of_months_holds_for_an_hour() {
        for (days, held) in [(8.0, false), (29.0, false), (31.0, true), (400.0, true)] {
            let (clock, mut mark) = (noon(), Mark::default());
            Process::start(&clock, &mut mark);
            clock.advance_days(days);
            let mut process = Process::start(&clock, &mut mark);
            assert_eq!(process.is_held(), held, "{days}");
            clock.advance(MINUTE * 60);
            assert!(!process.is_held(), "{days}");
        }
    }

    #[test]
    fn a_start_with_a_wrong_clock_holds_until_it_is_right() {
        for days in [400, -1] {
            let (clock, mut mark) = (noon(), Mark::default());
            Process::start(&clock, &mut mark);
            clock.jump(TimeDelta::days(days));
            let mut process = Process::start(&clock, &mut mark);
            assert!(process.is_held());
            clock.jump(TimeDelta::days(-days));
            assert!(!process.is_held(), "{days}");
        }
    }

    #[test]
    fn a_restart_does_not_end_a_hold_but_a_person_does() {
        let (clock, mut mark) = (noon(), Mark::default());
        let mut process = Process::start(&clock, &mut mark);
        clock.jump(TimeDelta::days(10));
        assert!(process.is_held());
        let mut process = Process::start(&clock, &mut mark);
        assert!(process.is_held(), "ten days alone would pass for an absence");
        *process.mark = Mark { latest: Some(clock.now()), hold: None };
        assert!(!process.is_held());
    }
}
