//! Parses ISO 8601.

use chrono::{Days, FixedOffset, Months, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone};
use chrono_tz::Tz;

use super::{DateError, FIRST, LAST, YEARS, in_range, local_time, start_of_day};
use crate::clock::Timestamp;

/// Longer texts are cut in an error message.
const SHOWN_CHARACTERS: usize = 40;

/// A calendar date of year, month or day precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calendar {
    Year(i32),
    Month(NaiveDate),
    Day(NaiveDate),
}

/// The first moment of the date that `text` gives, and the first moment after it.
pub(super) fn bounds(text: &str, zone: Tz) -> Result<(Timestamp, Timestamp), DateError> {
    let not_a_date = || DateError::NotADate(shortened(text));
    let out_of_range = || DateError::OutOfRange(shortened(text));
    if has_other_year(text) {
        return Err(out_of_range());
    }
    let (date, time) = match text.get(..10).zip(text.get(10..)) {
        Some((date, time)) if !time.is_empty() => (date, Some(time)),
        _ => (text, None),
    };
    let date = calendar(date).ok_or_else(not_a_date)?;
    let Some(time) = time else {
        return unit(date, zone).ok_or_else(out_of_range);
    };
    let Calendar::Day(day) = date else { return Err(not_a_date()) };
    let (at, width) =
        time.strip_prefix(['T', 't', ' ']).and_then(|time| moment(day, time, zone)).ok_or_else(not_a_date)?;
    if in_range(at) { Ok((at, (at + width).min(LAST))) } else { Err(out_of_range()) }
}

/// Parses `2023`, `2023-03` or `2023-03-05`.
pub(super) fn calendar(text: &str) -> Option<Calendar> {
    let mut parts = text.split('-');
    let year = i32::try_from(digits(parts.next()?, 4)?).ok().filter(|year| YEARS.contains(year))?;
    let Some(month) = parts.next() else { return Some(Calendar::Year(year)) };
    let month = digits(month, 2)?;
    let Some(day) = parts.next() else { return NaiveDate::from_ymd_opt(year, month, 1).map(Calendar::Month) };
    let day = NaiveDate::from_ymd_opt(year, month, digits(day, 2)?)?;
    parts.next().is_none().then_some(Calendar::Day(day))
}

/// Whether a text begins with a year that is not in [`YEARS`]: `0000`, `12023-01` or `-0044`.
fn has_other_year(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let year = unsigned.find(|c: char| !c.is_ascii_digit()).map_or(unsigned, |end| &unsigned[..end]);
    let follows = &unsigned[year.len()..];
    let is_year = follows.is_empty() || follows.starts_with('-');
    // Longer numbers are more likely a compact date or a Unix time than a year.
    is_year && ((4..=6).contains(&year.len()) && (unsigned.len() < text.len() || year.len() > 4) || year == "0000")
}

fn unit(date: Calendar, zone: Tz) -> Option<(Timestamp, Timestamp)> {
    let (first, next) = match date {
        Calendar::Year(year) => (NaiveDate::from_yo_opt(year, 1)?, NaiveDate::from_yo_opt(year + 1, 1)?),
        Calendar::Month(first) => (first, first.checked_add_months(Months::new(1))?),
        Calendar::Day(day) => (day, day.checked_add_days(Days::new(1))?),
    };
    Some((start_of_day(first, zone).max(FIRST), start_of_day(next, zone).min(LAST)))
}

/// Parses a time with an optional offset, and says how long it lasts: a minute, or nothing if it has seconds.
fn moment(day: NaiveDate, text: &str, zone: Tz) -> Option<(Timestamp, TimeDelta)> {
    let (clock, offset) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => (text[..at].trim_end(), Some(offset(&text[at..])?)),
        None => (text, None),
    };
    let mut parts = clock.split(':');
    let (hour, minute) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let second = parts.next();
    if parts.next().is_some() {
        return None;
    }
    let (second, micros) = second.map_or(Some((0, 0)), seconds)?;
    let width = if clock.len() > "14:30".len() { TimeDelta::zero() } else { TimeDelta::minutes(1) };
    // A leap second counts as the second after it.
    let leap = TimeDelta::seconds(i64::from(second == 60));
    let time = NaiveTime::from_hms_micro_opt(hour, minute, second.min(59), micros)?;
    let local: NaiveDateTime = day.and_time(time).checked_add_signed(leap)?;
    let at = match offset {
        Some(offset) => offset.from_local_datetime(&local).single()?.to_utc(),
        None => local_time(local, zone),
    };
    Some((at, width))
}

/// Parses `05` or `05.123456`. The fraction is cut to microseconds.
fn seconds(text: &str) -> Option<(u32, u32)> {
    let Some((whole, fraction)) = text.split_once(['.', ',']) else {
        return Some((digits(text, 2).filter(|second| *second <= 60)?, 0));
    };
    if fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let micros = fraction.bytes().chain(std::iter::repeat(b'0')).take(6).fold(0, |n, b| n * 10 + u32::from(b - b'0'));
    Some((digits(whole, 2).filter(|second| *second <= 60)?, micros))
}

/// Parses `Z`, `+02:00`, `+0200` or `+02`.
fn offset(text: &str) -> Option<FixedOffset> {
    if matches!(text, "Z" | "z") {
        return FixedOffset::east_opt(0);
    }
    let (sign, rest) = text.split_at_checked(1)?;
    let (hours, minutes) = match rest.len() {
        2 => (rest, "00"),
        4 => rest.split_at_checked(2)?,
        _ => rest.split_once(':')?,
    };
    let minutes = digits(minutes, 2).filter(|minutes| *minutes < 60)?;
    let seconds = i32::try_from(digits(hours, 2)? * 3600 + minutes * 60).ok()?;
    FixedOffset::east_opt(if sign == "-" { -seconds } else { seconds })
}

/// A number of exactly `length` digits.
fn digits(text: &str, length: usize) -> Option<u32> {
    (text.len() == length && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
