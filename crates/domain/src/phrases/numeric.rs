//! Tokens with digits: dates, ordinals, decades, quarters and plain numbers.

use chrono::{Days, NaiveDate, TimeDelta};
use chrono_tz::Tz;

use super::calendar::{Span, YEARS, is_year, month_bounds};
use crate::dates::{GivenDate, start_of_day};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number(u32),
    /// `5th`, or `1er` in French.
    Ordinal(u32),
    Decade(i32),
    /// `90s`, which is a decade only after an article.
    ShortDecade(i32),
    Quarter(u32),
    /// A date that stands by itself.
    Date(Span),
    /// A date that is also a plausible number of another kind, unless a word before it says otherwise.
    LikelyDate(Span),
    /// A date only after a preposition.
    PossibleDate(Span),
    /// Looks like a date, but has no single meaning.
    Unclear(&'static str),
    /// A dash between two words, which means "to".
    Dash,
    Opaque,
}

/// The kind of a token. Text without a digit is a word.
pub(super) fn numeric(text: &str, zone: Tz) -> Kind {
    if !text.bytes().any(|b| b.is_ascii_digit()) {
        return Kind::Word;
    }
    // No form is longer than a range of two days.
    if !text.is_ascii() && !text.contains(['–', '’', 'º']) || text.len() > 40 {
        return if text.starts_with(char::is_alphabetic) { Kind::Word } else { Kind::Opaque };
    }
    let text = text.strip_suffix("'s").or(text.strip_suffix("’s")).unwrap_or(text);
    if let Some(number) = number(text) {
        return number;
    }
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return quarter(text).map_or(Kind::Word, Kind::Quarter);
    }
    suffixed(text)
        .or_else(|| iso(text, zone))
        .or_else(|| separated(text, zone))
        .or_else(|| years(text, zone))
        .unwrap_or(Kind::Opaque)
}

fn number(text: &str) -> Option<Kind> {
    let is_number = text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| if text.len() <= 4 { text.parse().map_or(Kind::Opaque, Kind::Number) } else { Kind::Opaque })
}

fn quarter(text: &str) -> Option<u32> {
    let number: u32 = text.strip_prefix(['q', 'Q'])?.parse().ok()?;
    (1..=4).contains(&number).then_some(number)
}

/// `5th`, `1990s`, `90s`, `1990er`.
fn suffixed(text: &str) -> Option<Kind> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits <= 4)?;
    let (number, suffix) = (text[..digits].parse::<u32>().ok()?, &text[digits..]);
    match suffix.to_lowercase().as_str() {
        "st" | "nd" | "rd" | "th" | "er" | "º" if number <= 31 => Some(Kind::Ordinal(number)),
        "s" | "er" | "ern" if number % 10 == 0 => match i32::try_from(number).ok()? {
            year if YEARS.contains(&year) => Some(Kind::Decade(year)),
            year @ 20..=90 => Some(Kind::ShortDecade(1900 + year)),
            _ => None,
        },
        _ => None,
    }
}

/// ISO 8601: a month, a day, a time, or a range such as `2023-01..2023-06`.
fn iso(text: &str, zone: Tz) -> Option<Kind> {
    let parse = |text: &str| {
        let date = GivenDate::parse(text, zone).ok().filter(|_| text.len() >= 7)?;
        is_year(text.get(..4)?.parse().ok()?).then_some(date)
    };
    for separator in ["...", "..", "/", "–"] {
        if let Some((from, to)) = text.split_once(separator) {
            let (from, to) = (parse(from)?, parse(to)?);
            return (from.at < to.end).then_some(Kind::Date(Span { from: from.at, to: to.end }));
        }
    }
    let date = parse(text)?;
    // A window cannot be empty, so an instant lasts a second.
    let span = Span { from: date.at, to: if date.end > date.at { date.end } else { date.at + TimeDelta::seconds(1) } };
    Some(if text.len() == 7 { Kind::LikelyDate(span) } else { Kind::Date(span) })
}

/// `05.03.2023`, `25/12/2023`, `2023/03/05`, `03/2023`.
fn separated(text: &str, zone: Tz) -> Option<Kind> {
    let separator = text.chars().find(|c| matches!(c, '.' | '/' | '-'))?;
    let parts: Vec<&str> = text.split(separator).collect();
    if parts.iter().any(|part| !matches!(part.len(), 1 | 2 | 4) || !part.bytes().all(|b| b.is_ascii_digit())) {
        return None;
    }
    let number = |i: usize| parts.get(i).and_then(|part| part.parse::<u32>().ok()).unwrap_or(0);
    let year = |i: usize| i32::try_from(number(i)).ok().filter(|year| is_year(*year) && parts[i].len() == 4);
    if parts.len() == 2 && separator == '/' {
        let (from, to) = month_bounds(year(1)?, number(0))?;
        return Some(Kind::LikelyDate(Span { from: start_of_day(from, zone), to: start_of_day(to, zone) }));
    }
    if parts.len() != 3 {
        return None;
    }
    if separator == '/'
        && let Some(year) = year(0)
    {
        return day(year, number(1), number(2), zone).map(Kind::Date);
    }
    let (year, first, second) = (year(2)?, number(0), number(1));
    if separator == '.' {
        let span = day(year, second, first, zone)?;
        let padded = parts[0].len() == 2 && parts[1].len() == 2;
        // 1.2.2023 may be a version.
        return Some(if padded || first > 12 { Kind::LikelyDate(span) } else { Kind::PossibleDate(span) });
    }
    match (day(year, second, first, zone), day(year, first, second, zone)) {
        (Some(a), Some(b)) if a != b => {
            Some(Kind::Unclear("the day and the month could be swapped; write it as 2023-03-05"))
        }
        (Some(span), _) | (None, Some(span)) => Some(Kind::Date(span)),
        (None, None) => None,
    }
}

fn day(year: i32, month: u32, day: u32, zone: Tz) -> Option<Span> {
    let day = NaiveDate::from_ymd_opt(year, month, day)?;
    Some(Span { from: start_of_day(day, zone), to: start_of_day(day.checked_add_days(Days::new(1))?, zone) })
}

/// `2019-2021`.
fn years(text: &str, zone: Tz) -> Option<Kind> {
    let (from, to) = text.split_once(['-', '–'])?;
    let year = |text: &str| text.parse::<i32>().ok().filter(|year| text.len() == 4 && is_year(*year));
    let (from, to) = (year(from)?, year(to)?);
    let first = |year| NaiveDate::from_yo_opt(year, 1).map(|day| start_of_day(day, zone));
    Some(Kind::PossibleDate(Span { from: first(from)?, to: first(to + 1)? })).filter(|_| from < to)
}
