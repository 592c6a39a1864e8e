//! Dates of any precision: a year, a month, a day, a minute or an instant.

mod parse;
mod show;
#[cfg(test)]
mod tests;

use std::str::FromStr;

use chrono::{DateTime, Datelike, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, TimeDelta};
use chrono_tz::Tz;

use crate::clock::Timestamp;

pub use show::brief;

/// The years that PostgreSQL, RFC 3339 and every client can hold.
const YEARS: std::ops::RangeInclusive<i32> = 1..=9999;

/// 0001-01-01T00:00:00Z. The year 1 of a zone east of Greenwich begins a little earlier, which no client can hold.
const FIRST: Timestamp = DateTime::from_timestamp_micros(-62_135_596_800_000_000).expect("is in chrono's range");

/// 9999-12-31T23:59:59.999999Z.
const LAST: Timestamp = DateTime::from_timestamp_micros(253_402_300_799_999_999).expect("is in chrono's range");

/// A date as somebody gave it: a year, month, day, minute or second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenDate {
    /// The text as given, trimmed, such as `2023-03`.
    pub text: String,
    /// Its first moment.
    pub at: Timestamp,
    /// The first moment after it. A time with seconds is an instant, whose end is `at`.
    pub end: Timestamp,
}

/// Why a text is not a date. The message is the rest of a sentence that begins with the name of the argument.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DateError {
    #[error(
        "is {0:?}, which is not a date; examples: \"2023\", \"2023-03\", \"2023-03-05\", \"2023-03-05T14:30:00+01:00\""
    )]
    NotADate(String),
    #[error("is {0:?}, which is out of range; give a year from 0001 to 9999")]
    OutOfRange(String),
}

impl GivenDate {
    /// Parses ISO 8601: a year, month, day or time, where a time may have seconds, a fraction and an offset. Without an
    /// offset the date is in `zone`.
    pub fn parse(text: &str, zone: Tz) -> Result<Self, DateError> {
        let text = text.trim();
        let (at, end) = parse::bounds(text, zone)?;
        Ok(Self { text: text.to_owned(), at, end })
    }

    /// A moment without a length; its text is RFC 3339 in UTC.
    pub fn instant(at: Timestamp) -> Self {
        Self { text: at.to_rfc3339_opts(SecondsFormat::AutoSi, true), at, end: at }
    }

    /// The last microsecond that belongs to it. For an instant, the instant.
    pub fn last(&self) -> Timestamp {
        if self.end > self.at { self.end - TimeDelta::microseconds(1) } else { self.at }
    }
}

/// The end of a fact that is valid from `from` until `to`: the first moment at which it is no longer true.
///
/// That is the first moment of `to`, unless `from` lies inside `to`: a fact valid from 2024-03 to 2024 is valid to the
/// end of 2024.
pub fn check_interval(from: Option<&GivenDate>, to: Option<&GivenDate>) -> Result<Option<Timestamp>, String> {
    let (Some(from), Some(to)) = (from, to) else {
        return Ok(to.map(|to| to.at));
    };
    let end = if (to.at..to.end).contains(&from.at) { to.end } else { to.at };
    if end > from.at {
        return Ok(Some(end));
    }
    let order = if end == from.at { "is not after" } else { "is before" };
    Err(format!("is {:?}, which {order} valid_from ({})", to.text, from.text))
}

/// Parses a time zone name of the IANA database, such as `UTC` or `Europe/Berlin`. The error is the rest of a sentence
/// that begins with the key.
pub fn zone(name: &str) -> Result<Tz, String> {
    Tz::from_str(name)
        .map_err(|_| format!("is {name:?}, which is not a time zone; examples: \"UTC\", \"Europe/Berlin\""))
}

/// The moment at which clocks in `zone` first show `local`. A time that daylight saving skips is the end of the gap.
pub(crate) fn local_time(local: NaiveDateTime, zone: Tz) -> Timestamp {
    match local.and_local_timezone(zone) {
        MappedLocalTime::Single(time) | MappedLocalTime::Ambiguous(time, _) => time.to_utc(),
        MappedLocalTime::None => end_of_gap(local, zone),
    }
}

/// The first moment of a day in `zone`.
pub(crate) fn start_of_day(day: NaiveDate, zone: Tz) -> Timestamp {
    local_time(day.and_time(NaiveTime::MIN), zone)
}

/// Finds the first second at which clocks show `local` or later.
fn end_of_gap(local: NaiveDateTime, zone: Tz) -> Timestamp {
    // The largest gap is a day (Samoa in 2011), and the largest offset 14 hours.
    let (mut early, mut late) = (local.and_utc().timestamp() - 2 * 86_400, local.and_utc().timestamp() + 2 * 86_400);
    let moment = |seconds| DateTime::from_timestamp(seconds, 0).unwrap_or(local.and_utc());
    while early < late {
        let middle = early + (late - early) / 2;
        if moment(middle).with_timezone(&zone).naive_local() < local { early = middle + 1 } else { late = middle }
    }
    moment(late)
}

fn in_range(time: Timestamp) -> bool {
    YEARS.contains(&time.year())
}
