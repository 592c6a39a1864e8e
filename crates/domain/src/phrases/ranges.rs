//! Ranges of time, and lists of several times.

use chrono::{Datelike, NaiveDate, TimeDelta};

use super::calendar::Span;
use super::numeric::Kind;
use super::parser::{Meaning, Open, Parser, Point, RequiredContext};
use super::tokens::After;
use super::words::{Language, Sense};
use crate::clock::Timestamp;

const WEEKLY: &str = "may mean every week; give the dates";
const TWO_TIMES: &str = "names more than one time; ask for one at a time or for a range";
const REVERSED: &str = "ends before it begins";

impl Parser<'_> {
    /// "between 2019 and 2021", "from March to May 2023", "March to May 2023".
    pub fn range(&self, at: usize) -> Option<(usize, Meaning)> {
        let (from, joint) = match self.word(at, Sense::Between) {
            Some(from) => (from, Sense::And),
            None => (self.word(at, Sense::From).unwrap_or(at), Sense::To),
        };
        let left = self.point(from).or_else(|| self.day_number(from))?;
        let to = match self.word(left.end, joint).or_else(|| self.word_after_ordinal(left.end, joint)) {
            Some(to) => to,
            None if self.continues(left.end) && self.tokens[left.end].kind == Kind::Dash => left.end + 1,
            None => return None,
        };
        let right = self.point(to)?;
        // "from 5 to 2023"
        let is_day = right.span.is_ok_and(|span| span.to - span.from < TimeDelta::days(2));
        if matches!(left.open, Open::MonthDay(0, _)) && !is_day {
            return None;
        }
        let dated = matches!(left.open, Open::Month(_) | Open::MonthDay(..)) && right.open == Open::Nothing;
        if from == at && !dated && left.needs != RequiredContext::Nothing {
            return None;
        }
        // "5 to 10 may attend"
        if matches!(right.open, Open::MonthDay(..)) && self.is_verb(right.end - 1) {
            return None;
        }
        Some((right.end, self.between(left, right)))
    }

    /// Reads a word after the German ordinal "5.".
    fn word_after_ordinal(&self, at: usize, sense: Sense) -> Option<usize> {
        let ordinal = self.language == Language::German && self.number(at - 1).is_some();
        let ordinal = ordinal && self.tokens[at - 1].after == After::Dot;
        self.eat_anyway(at, |found| (ordinal && found == sense).then_some(())).map(|(end, ())| end)
    }

    /// The first day of "from 5 to 10 March": a number whose month comes later. The month is 0.
    fn day_number(&self, at: usize) -> Option<Point> {
        let at = self.skip(at, &[Sense::The, Sense::On]);
        let day = self.number(at).filter(|day| (1..=31).contains(day) && self.continues(at))?;
        Some(Point::unclear(at + 1, TWO_TIMES).needing(RequiredContext::On, Open::MonthDay(0, day)))
    }

    /// The window from one time to the end of another.
    fn between(&self, left: Point, right: Point) -> Meaning {
        if left.open == Open::Weekday || right.open == Open::Weekday {
            return Err(WEEKLY);
        }
        let end = right.span?;
        let last = end.from.with_timezone(&self.calendar.zone).date_naive();
        // "from March to May 2023" begins in 2023, and "from November to March 2023" in 2022.
        let before = |span: &Span| span.from <= end.from;
        let start = match left.open {
            Open::Month(month) => {
                let of_year = |year| self.calendar.months(year, month, 1);
                of_year(last.year()).filter(before).or_else(|| of_year(last.year() - 1))
            }
            Open::MonthDay(0, day) => self.calendar.day(last.with_day(day).ok_or(REVERSED)?),
            Open::MonthDay(month, day) => {
                let of_year = |year| self.calendar.day(NaiveDate::from_ymd_opt(year, month, day)?);
                of_year(last.year()).filter(before).or_else(|| of_year(last.year() - 1))
            }
            _ => Some(left.span?),
        };
        let start = start.ok_or(REVERSED)?;
        if start.from < end.to { Ok((Some(start.from), Some(end.to))) } else { Err(REVERSED) }
    }

    /// "in 2019 and 2021" names two times, and "in March and April 2023" a range.
    pub fn listed(&self, first: Point) -> Option<(usize, Meaning)> {
        let joint = self.word(first.end, Sense::And).or_else(|| self.word(first.end, Sense::Or))?;
        let second = self.point(joint).filter(|second| !self.is_verb(second.end - 1))?;
        let range = self.between(first, second).ok().filter(|(from, _)| {
            let next = from.and_then(|from| self.month_after(from));
            matches!(first.open, Open::Month(_)) && next == second.span.ok().map(|span| span.from)
        });
        Some((second.end, range.ok_or(TWO_TIMES)))
    }

    /// The end of the month that begins at a moment.
    fn month_after(&self, from: Timestamp) -> Option<Timestamp> {
        let first = from.with_timezone(&self.calendar.zone).date_naive();
        self.calendar.months(first.year(), first.month(), 1).map(|span| span.to)
    }
}
