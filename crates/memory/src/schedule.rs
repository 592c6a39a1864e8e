//! Job schedules: a cron expression in a time zone.

use butler_domain::Timestamp;
use chrono_tz::Tz;
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};

/// A cron expression of five fields (minute, hour, day, month, weekday), or six with seconds first.
#[derive(Debug, Clone)]
pub struct Schedule {
    cron: Cron,
    zone: Tz,
}

impl Schedule {
    /// Parses a schedule. The error is the rest of a sentence that begins with the key; it includes a valid example.
    pub fn parse(cron: &str, zone: &str) -> Result<Self, String> {
        let parsed =
            CronParser::builder().seconds(Seconds::Optional).year(Year::Disallowed).build().parse(cron).map_err(
                |error| format!("is {cron:?}, which is not a valid cron expression ({error}); example: \"0 3 * * *\""),
            )?;
        let schedule = Self { cron: parsed, zone: butler_domain::dates::zone(zone)? };
        // With a date that never occurs, such as 30 February, the job would silently never run.
        match schedule.next_after(Timestamp::UNIX_EPOCH) {
            Some(_) => Ok(schedule),
            None => Err(format!("is {cron:?}, a time that never occurs")),
        }
    }

    /// The first scheduled time after `now`. A time that daylight saving skips in spring moves to the end of the gap,
    /// and one that occurs twice in autumn counts once.
    pub fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        let next = self.cron.find_next_occurrence(&now.with_timezone(&self.zone), false).ok()?;
        Some(next.to_utc())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(cron: &str, zone: &str, after: &str) -> String {
        Schedule::parse(cron, zone).unwrap().next_after(after.parse().unwrap()).unwrap().to_rfc3339()
    }

    #[test]
    fn the_next_run_is_in_the_configured_time_zone() {
        assert_eq!(next("0 3 * * *", "UTC", "2026-01-10T03:00:00Z"), "2026-01-11T03:00:00+00:00");
        assert_eq!(next("0 3 * * *", "Europe/Berlin", "2026-01-10T03:00:00Z"), "2026-01-11T02:00:00+00:00");
        assert_eq!(next("0 */6 * * *", "UTC", "2026-01-10T05:59:59Z"), "2026-01-10T06:00:00+00:00");
        assert_eq!(next("0 0 * * 7", "UTC", "2026-01-10T05:00:00Z"), "2026-01-11T00:00:00+00:00");
    }

    #[test]
    fn an_hour_that_the_clock_skips_or_repeats_runs_the_job_once() {
        // Berlin, 29 March 2026: 02:00 becomes 03:00. 25 October: 03:00 becomes 02:00.
        let mut runs = Vec::new();
        for (from, to) in
            [("2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z"), ("2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z")]
        {
            let schedule = Schedule::parse("30 2 * * *", "Europe/Berlin").unwrap();
            let (mut at, end): (Timestamp, Timestamp) = (from.parse().unwrap(), to.parse().unwrap());
            while let Some(run) = schedule.next_after(at).filter(|run| *run < end) {
                runs.push(run.to_rfc3339());
                at = run;
            }
        }
        assert_eq!(runs.len(), 4, "one per day: {runs:?}");
    }

    #[test]
    fn six_fields_begin_with_seconds() {
        assert_eq!(next("*/2 * * * * *", "UTC", "2026-01-10T05:00:00Z"), "2026-01-10T05:00:02+00:00");
    }

    #[test]
    fn an_invalid_schedule_is_rejected_with_the_reason() {
        for (cron, zone, reason) in [
            ("", "UTC", "not a valid cron expression"),
            ("60 * * * *", "UTC", "not a valid cron expression"),
            ("0 25 * * *", "UTC", "not a valid cron expression"),
            ("0 0 30 2 *", "UTC", "never occurs"),
            ("0 3 * * *", "Mars/Olympus", "not a time zone"),
        ] {
            let error = Schedule::parse(cron, zone).expect_err(cron);
            assert!(error.contains(reason), "{cron}: {error}");
        }
    }
}
