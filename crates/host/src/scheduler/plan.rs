//! Decides when a job runs next. Pure functions, so that tests can simulate clock jumps and long downtimes.

use std::hash::{DefaultHasher, Hash, Hasher};

use butler_domain::Timestamp;
use butler_memory::schedule::Schedule;
use chrono::TimeDelta;

use super::Trigger;

/// Jitter prevents all butlers of a machine from starting their jobs at the full hour.
const LONGEST_JITTER: TimeDelta = TimeDelta::seconds(30);
/// The jitter of a frequent job is at most a tenth of its period.
const JITTER_SHARE: i32 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    /// The job is not due, and the stored next run is correct.
    Wait(Timestamp),
    /// Store this next run: none is stored, or the stored one is too far in the future after the clock went back.
    Reschedule(Option<Timestamp>),
    Run(Trigger),
}

pub(super) fn decide(schedule: &Schedule, next_run: Option<Timestamp>, now: Timestamp, jitter: TimeDelta) -> Plan {
    let planned = next_after(schedule, now, jitter);
    let Some(next_run) = next_run else { return Plan::Reschedule(planned) };
    if next_run <= now {
        // A second run has come due since the missed one.
        let missed_more = next_after(schedule, next_run, jitter).is_some_and(|after| after <= now);
        return Plan::Run(if missed_more { Trigger::CatchUp } else { Trigger::Schedule });
    }
    match planned {
        // Stored while the clock was ahead: waiting for it could take a year.
        Some(planned) if next_run > planned => Plan::Reschedule(Some(planned)),
        _ => Plan::Wait(next_run),
    }
}

pub(super) fn next_after(schedule: &Schedule, now: Timestamp, jitter: TimeDelta) -> Option<Timestamp> {
    let mut from = now;
    // With jitter, the first scheduled time may be that of the run that has just finished.
    for _ in 0..2 {
        let next = schedule.next_after(from)?;
        let period = schedule.next_after(next).map_or(TimeDelta::zero(), |after| after - next);
        let moved = next + jitter.min(period / JITTER_SHARE);
        if moved > now {
            return Some(earlier(schedule, moved, now, jitter));
        }
        from = next;
    }
    schedule.next_after(from)
}

/// With jitter, a scheduled time in the past may still be ahead: at 03:00:05, the run of 03:00 with 30 seconds of
/// jitter has not started yet.
fn earlier(schedule: &Schedule, found: Timestamp, now: Timestamp, jitter: TimeDelta) -> Timestamp {
    let Some(before) = schedule.next_after(now - LONGEST_JITTER - TimeDelta::seconds(1)) else { return found };
    let period = schedule.next_after(before).map_or(TimeDelta::zero(), |after| after - before);
    let moved = before + jitter.min(period / JITTER_SHARE);
    if moved > now && moved < found { moved } else { found }
}

/// The jitter of a butler's job, which is the same in every process and after every start.
pub(super) fn jitter(butler: &str, job: &str) -> TimeDelta {
    let mut hasher = DefaultHasher::new();
    (butler, job).hash(&mut hasher);
    let range = LONGEST_JITTER.num_milliseconds().unsigned_abs();
    TimeDelta::milliseconds(i64::try_from(hasher.finish() % range).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        time.parse().unwrap()
    }

    fn daily() -> Schedule {
        Schedule::parse("0 3 * * *", "UTC").unwrap()
    }

    const NONE: TimeDelta = TimeDelta::zero();

    #[test]
    fn a_new_schedule_waits_for_its_first_time() {
        let plan = decide(&daily(), None, at("2030-01-15T12:00:00Z"), NONE);
        assert_eq!(plan, Plan::Reschedule(Some(at("2030-01-16T03:00:00Z"))));
    }

    #[test]
    fn a_schedule_missed_for_three_days_is_caught_up_once() {
        let (due, now) = (at("2030-01-12T03:00:00Z"), at("2030-01-15T12:00:00Z"));
        assert_eq!(decide(&daily(), Some(due), now, NONE), Plan::Run(Trigger::CatchUp));
        let next = next_after(&daily(), now, NONE).unwrap();
        assert_eq!(next, at("2030-01-16T03:00:00Z"), "one run replaces the three missed ones");
        assert_eq!(decide(&daily(), Some(next), now, NONE), Plan::Wait(next));
    }

    #[test]
    fn a_slightly_late_run_is_not_a_catch_up() {
        let plan = decide(&daily(), Some(at("2030-01-15T03:00:00Z")), at("2030-01-15T09:00:00Z"), NONE);
        assert_eq!(plan, Plan::Run(Trigger::Schedule));
    }

    #[test]
    fn a_clock_that_jumps_back_a_year_does_not_silence_the_job() {
        let written_ahead = at("2031-01-16T03:00:00Z");
        let plan = decide(&daily(), Some(written_ahead), at("2030-01-15T12:00:00Z"), NONE);
        assert_eq!(plan, Plan::Reschedule(Some(at("2030-01-16T03:00:00Z"))));
    }

    #[test]
    fn a_clock_that_jumps_ahead_runs_the_job_once() {
        let (due, now) = (at("2030-01-16T03:00:00Z"), at("2035-06-01T00:00:00Z"));
        assert_eq!(decide(&daily(), Some(due), now, NONE), Plan::Run(Trigger::CatchUp));
        assert_eq!(next_after(&daily(), now, NONE), Some(at("2035-06-01T03:00:00Z")));
    }

    #[test]
    fn jitter_moves_a_run_but_neither_repeats_nor_skips_one() {
        let jitter = TimeDelta::seconds(20);
        for (cron, runs_a_day) in [("0 3 * * *", 1), ("*/5 * * * *", 288), ("0 */6 * * *", 4)] {
            let schedule = Schedule::parse(cron, "UTC").unwrap();
            let (mut now, end) = (at("2030-01-15T00:30:00Z"), at("2030-01-22T00:30:00Z"));
            let mut runs = 0;
            while let Some(next) = next_after(&schedule, now, jitter).filter(|next| *next < end) {
                assert!(next > now, "{cron}");
                // A run takes a moment, and the next one is planned when it ends.
                now = next + TimeDelta::milliseconds(700);
                runs += 1;
            }
            assert_eq!(runs, runs_a_day * 7, "{cron}");
        }
        assert_eq!(
            next_after(&daily(), at("2030-01-15T03:00:05Z"), jitter),
            Some(at("2030-01-15T03:00:20Z")),
            "today's run with its jitter has not started yet"
        );
    }

    #[test]
    fn jitter_is_the_same_after_every_start_and_differs_between_butlers() {
        assert_eq!(jitter("health", "consolidation"), jitter("health", "consolidation"));
        assert_ne!(jitter("health", "consolidation"), jitter("general", "consolidation"));
        assert!(jitter("health", "consolidation") < LONGEST_JITTER);
    }
}
