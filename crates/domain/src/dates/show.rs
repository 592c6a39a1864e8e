//! Shows a date in a line of the context.

use chrono::{Datelike, NaiveDate};
use chrono_tz::Tz;

use super::parse::{Calendar, calendar};
use crate::clock::Timestamp;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Shows a date with the precision of the text it was given as: `2023`, `Mar 2024` or `1 Dec 2026`. Without a text it
/// is a day in `zone`.
pub fn brief(at: Timestamp, text: Option<&str>, zone: Tz) -> String {
    // A year, month or day is shown as given: in another zone its first moment may lie in the day before.
    match text.and_then(|text| calendar(text.trim())) {
        Some(Calendar::Year(year)) => format!("{year:04}"),
        Some(Calendar::Month(first)) => format!("{} {:04}", month_name(first), first.year()),
        Some(Calendar::Day(day)) => show_day(day),
        None => show_day(at.with_timezone(&zone).date_naive()),
    }
}

fn show_day(day: NaiveDate) -> String {
    format!("{} {} {:04}", day.day(), month_name(day), day.year())
}

fn month_name(day: NaiveDate) -> &'static str {
    MONTHS[day.month0() as usize]
}
