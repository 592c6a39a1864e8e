//! When a job runs: a cron expression in a time zone.

use std::str::FromStr;

use butler_domain::Timestamp;
use chrono_tz::Tz;
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};

/// Five fields (minute, hour, day, month, weekday), or six with seconds first.
#[derive(Debug, Clone)]
pub struct Schedule {
    cron: Cron,
    zone: Tz,
}

impl Schedule {
    /// The error says what is wrong and what right looks like.
    pub fn parse(cron: &str, zone: &str) -> Result<Self, String> {
        let parsed = CronParser::builder()
            .seconds(Seconds::Optional)
            .year(Year::Disallowed)
            .build()
            .parse(cron)
            .map_err(|error| format!("is {cron:?}, which is no cron expression ({error}); \"0 3 * * *\" is one"))?;
        let schedule = Self { cron: parsed, zone: parse_zone(zone)? };
        // A day that never comes (30 February) would be a job that silently never runs.
        match schedule.next_after(Timestamp::UNIX_EPOCH) {
            Some(_) => Ok(schedule),
            None => Err(format!("is {cron:?}, which never comes")),
        }
    }

    /// The first time after `now`; a time the clock skips in spring runs as soon as it is over, one that comes twice in
    /// autumn runs once.
    pub fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        let next = self.cron.find_next_occurrence(&now.with_timezone(&self.zone), false).ok()?;
        Some(next.to_utc())
    }
}

/// A name of the IANA database: `UTC`, `Europe/Berlin`.
pub fn parse_zone(zone: &str) -> Result<Tz, String> {
    Tz::from_str(zone).map_err(|_| format!("is {zone:?}, which is no time zone; \"UTC\" and \"Europe/Berlin\" are"))
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
        assert_eq!(runs.len(), 4, "one a day: {runs:?}");
    }

    #[test]
    fn six_fields_begin_with_seconds() {
        assert_eq!(next("*/2 * * * * *", "UTC", "2026-01-10T05:00:00Z"), "2026-01-10T05:00:02+00:00");
    }

    #[test]
    fn what_is_no_schedule_is_refused_with_the_reason() {
        for (cron, zone, reason) in [
            ("", "UTC", "no cron expression"),
            ("60 * * * *", "UTC", "no cron expression"),
            ("0 25 * * *", "UTC", "no cron expression"),
            ("0 0 30 2 *", "UTC", "never comes"),
            ("0 3 * * *", "Mars/Olympus", "no time zone"),
        ] {
            let error = Schedule::parse(cron, zone).expect_err(cron);
            assert!(error.contains(reason), "{cron}: {error}");
        }
    }
}
