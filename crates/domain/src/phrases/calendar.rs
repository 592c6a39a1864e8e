//! Windows of the calendar, as seen at one moment in one zone.

use chrono::{Datelike, Days, Months, NaiveDate, TimeDelta, Weekday};
use chrono_tz::Tz;

use super::words::{Part, Unit};
use crate::clock::Timestamp;
use crate::dates::start_of_day;

/// The numbers that can be a year. Others are more likely a count.
pub(super) const YEARS: std::ops::RangeInclusive<i32> = 1900..=2100;

/// First day and length of the feasts: Christmas, Christmas Eve, Christmas Day, New Year's Eve, New Year's Day.
const FEASTS: [(u32, u32, u64); 5] = [(12, 24, 3), (12, 24, 1), (12, 25, 1), (12, 31, 1), (1, 1, 1)];

pub(super) fn is_year(year: i32) -> bool {
    YEARS.contains(&year)
}

/// A window with both ends. `to` is the first moment after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub from: Timestamp,
    pub to: Timestamp,
}

/// First day of a month and of the next.
pub(super) fn month_bounds(year: i32, month: u32) -> Option<(NaiveDate, NaiveDate)> {
    let first = NaiveDate::from_ymd_opt(year, month, 1)?;
    Some((first, first.checked_add_months(Months::new(1))?))
}

/// Which occurrence of something that recurs every year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occurrence {
    /// The latest that is over.
    Last,
    /// The one that is now, or the one of this year.
    This,
    /// The first that has not begun.
    Next,
    /// The latest that has begun.
    Latest,
}

pub(super) struct Calendar {
    pub now: Timestamp,
    pub today: NaiveDate,
    pub zone: Tz,
}

impl Calendar {
    pub fn new(now: Timestamp, zone: Tz) -> Self {
        Self { now, today: now.with_timezone(&zone).date_naive(), zone }
    }

    /// The days from `from` to the day before `to`.
    pub fn days(&self, from: NaiveDate, to: NaiveDate) -> Option<Span> {
        let sensible = (1..=9999).contains(&from.year()) && (1..=9999).contains(&to.year()) && from < to;
        sensible.then(|| Span { from: start_of_day(from, self.zone), to: start_of_day(to, self.zone) })
    }

    pub fn day(&self, day: NaiveDate) -> Option<Span> {
        self.days(day, day.checked_add_days(Days::new(1))?)
    }

    pub fn day_offset(&self, days: i32) -> Option<Span> {
        self.day(shift(self.today, i64::from(days))?)
    }

    pub fn months(&self, year: i32, month: u32, count: u32) -> Option<Span> {
        let first = NaiveDate::from_ymd_opt(year, month, 1)?;
        self.days(first, first.checked_add_months(Months::new(count))?)
    }

    pub fn years(&self, year: i32, count: u32) -> Option<Span> {
        self.months(year, 1, 12 * count)
    }

    pub fn feast(&self, year: i32, index: u32) -> Option<Span> {
        let (month, day, length) = *FEASTS.get(index as usize)?;
        let first = NaiveDate::from_ymd_opt(year, month, day)?;
        self.days(first, first.checked_add_days(Days::new(length))?)
    }

    /// An occurrence of what `of_year` gives for each year.
    pub fn yearly(&self, occurrence: Occurrence, of_year: impl Fn(i32) -> Option<Span>) -> Option<Span> {
        let year = self.today.year();
        let mut spans = (year - 2..=year + 2).filter_map(&of_year);
        match occurrence {
            Occurrence::Last => spans.rfind(|span| span.to <= self.now),
            Occurrence::Latest => spans.rfind(|span| span.from <= self.now),
            Occurrence::Next => spans.find(|span| span.from > self.now),
            Occurrence::This => {
                spans.find(|span| span.from <= self.now && self.now < span.to).or_else(|| of_year(year))
            }
        }
    }

    pub fn weekday(&self, occurrence: Occurrence, weekday: u32) -> Option<Span> {
        let today = self.today.weekday().num_days_from_monday();
        let since = i64::from((today + 7 - weekday) % 7);
        let offset = match occurrence {
            Occurrence::Latest => -since,
            Occurrence::Last => {
                if since == 0 {
                    -7
                } else {
                    -since
                }
            }
            Occurrence::This => i64::from(weekday) - i64::from(today),
            Occurrence::Next => 7 - since,
        };
        self.day(shift(self.today, offset)?)
    }

    /// The whole unit that is `offset` units from the current one.
    pub fn unit(&self, unit: Unit, offset: i32) -> Option<Span> {
        let monday = self.today.week(Weekday::Mon).checked_first_day()?;
        let monday = shift(monday, i64::from(offset) * 7)?;
        match unit {
            Unit::Week => self.days(monday, shift(monday, 7)?),
            Unit::Weekend => self.days(shift(monday, 5)?, shift(monday, 7)?),
            Unit::Month => {
                let first = shift_months(self.today.with_day(1)?, offset)?;
                self.days(first, shift_months(first, 1)?)
            }
            Unit::Year => self.years(self.today.year() + offset, 1),
            Unit::Minute | Unit::Hour | Unit::Day => None,
        }
    }

    /// The last (`forward`: next) `count` units, up to now (from now).
    pub fn rolling(&self, count: u32, unit: Unit, forward: bool) -> Option<Span> {
        let count = i32::try_from(count).ok().filter(|count| *count > 0)?;
        let signed = if forward { count } else { -count };
        let other = match seconds(unit) {
            Some(seconds) => self.now.checked_add_signed(TimeDelta::seconds(i64::from(signed) * seconds))?,
            None => self.day(self.add(unit, signed)?).map(|day| if forward { day.to } else { day.from })?,
        };
        Some(if forward { Span { from: self.now, to: other } } else { Span { from: other, to: self.now } })
    }

    /// The window around the moment that is `offset` units from now. It is as wide as the unit.
    pub fn around(&self, offset: i32, unit: Unit) -> Option<Span> {
        if let Some(seconds) = seconds(unit) {
            let middle = self.now.checked_add_signed(TimeDelta::seconds(i64::from(offset) * seconds))?;
            let half = TimeDelta::seconds(seconds / 2);
            return Some(Span { from: middle - half, to: middle + half });
        }
        let middle = self.add(unit, offset)?;
        match unit {
            Unit::Week => self.days(shift(middle, -3)?, shift(middle, 4)?),
            Unit::Month => self.days(shift(middle, -15)?, shift(middle, 16)?),
            Unit::Year => self.days(shift_months(middle, -6)?, shift_months(middle, 6)?),
            Unit::Weekend => None,
            Unit::Day | Unit::Hour | Unit::Minute => self.day(middle),
        }
    }

    /// A third of a year, month or decade. Other spans have no parts.
    pub fn part(&self, span: Span, part: Part) -> Option<Span> {
        let first = span.from.with_timezone(&self.zone).date_naive();
        let end = span.to.with_timezone(&self.zone).date_naive();
        let (second, third) = match (end - first).num_days() {
            28..=31 => (shift(first, 10)?, shift(first, 20)?),
            365 | 366 => (shift_months(first, 4)?, shift_months(first, 8)?),
            3652 | 3653 => (shift_months(first, 48)?, shift_months(first, 84)?),
            _ => return None,
        };
        match part {
            Part::Early => self.days(first, second),
            Part::Middle => self.days(second, third),
            Part::Late => self.days(third, end),
        }
    }

    fn add(&self, unit: Unit, count: i32) -> Option<NaiveDate> {
        match unit {
            Unit::Week | Unit::Weekend => shift(self.today, i64::from(count) * 7),
            Unit::Month => shift_months(self.today, count),
            Unit::Year => shift_months(self.today, count.checked_mul(12)?),
            Unit::Day | Unit::Hour | Unit::Minute => shift(self.today, i64::from(count)),
        }
    }
}

/// The length of a unit that is shorter than a day.
fn seconds(unit: Unit) -> Option<i64> {
    match unit {
        Unit::Minute => Some(60),
        Unit::Hour => Some(3600),
        _ => None,
    }
}

fn shift(day: NaiveDate, days: i64) -> Option<NaiveDate> {
    day.checked_add_signed(TimeDelta::try_days(days)?)
}

fn shift_months(day: NaiveDate, months: i32) -> Option<NaiveDate> {
    let count = Months::new(months.unsigned_abs());
    if months < 0 { day.checked_sub_months(count) } else { day.checked_add_months(count) }
}
