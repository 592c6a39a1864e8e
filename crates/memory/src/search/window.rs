//! Words of time in a query: memories in or near that period get a boost.

use butler_domain::phrases::{self, Ignored, NamedEvent, Understood};
use butler_domain::{MemoryType, Timestamp};
use butler_store::search::TimeFilterRow;
use butler_store::times::EventDate;
use chrono::DateTime;
use chrono_tz::Tz;

use super::Hit;

/// A memory in the period scores half as much again: enough to pass others that match as well.
const BOOST: f64 = 0.5;
/// How much longer the boost of an episode lasts after the period than before it.
const TELLING: f64 = 2.0;
/// The years that a timestamp of the database can have.
const FIRST: Timestamp = DateTime::from_timestamp(-62_135_596_800, 0).expect("is in chrono's range");
const LAST: Timestamp = DateTime::from_timestamp(253_402_300_799, 0).expect("is in chrono's range");

/// The period that the words of a query name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TimeWords {
    pub understood: Understood,
    bounds: Option<(Timestamp, Timestamp)>,
}

impl TimeWords {
    pub fn new(query: &str, now: Timestamp, zone: Tz) -> Self {
        Self::of(phrases::understand(query, now, zone))
    }

    fn of(understood: Understood) -> Self {
        let bounds = understood.window.as_ref().map(|window| {
            let last = window.to.map_or(LAST, |to| to - chrono::TimeDelta::microseconds(1));
            (window.from.unwrap_or(FIRST), last)
        });
        Self { understood, bounds }
    }

    /// Adds the window of an event that the query names, or why it has none.
    pub fn with_event(self, event: &NamedEvent, date: EventDate, zone: Tz) -> Self {
        let mut understood = self.understood;
        let mut ignore = |reason: &str| {
            understood.ignored.push(Ignored { phrase: event.phrase.clone(), reason: reason.to_owned() });
        };
        match date {
            EventDate::Unknown => ignore("no fact tells when that was"),
            EventDate::Ambiguous => {
                ignore("several facts tell different dates; name the person or thing, or give the date")
            }
            EventDate::At(at, text) => understood.window = Some(event.window(at, text.as_deref(), zone)),
        }
        Self::of(understood)
    }

    /// The period in the form that the database reads.
    pub fn window(&self) -> Option<TimeFilterRow> {
        let (first, last) = self.bounds?;
        Some(TimeFilterRow { first: Some(first), last: Some(last), as_of: None, since: None, until: None })
    }

    /// Raises the scores of memories in the period and, less, of those near it.
    pub fn boost(&self, hits: &mut [Hit]) {
        let Some((first, last)) = self.bounds else { return };
        for hit in hits {
            hit.score *= 1.0 + BOOST * closeness(hit, first, last);
        }
    }
}

/// How close a memory is to the period, from 0 to 1. Rules have no time, and facts only if they have a date.
fn closeness(hit: &Hit, first: Timestamp, last: Timestamp) -> f64 {
    match hit.memory_type {
        MemoryType::Rule => 0.0,
        MemoryType::Fact => match &hit.info.dates {
            Some(dates) => f64::from(u8::from(dates.overlaps(first, last))),
            None => 0.0,
        },
        MemoryType::Episode => closeness_of(hit.info.occurred_at.unwrap_or(hit.created_at), first, last),
    }
}

/// 1 in the period. Before it, it falls to 0 at a distance of the period's length, and after it at [`TELLING`] times that,
/// because people tell what happened later. A period without a beginning or end counts as a day long.
fn closeness_of(at: Timestamp, first: Timestamp, last: Timestamp) -> f64 {
    const DAY: f64 = 86_400.0;
    let is_open = first == FIRST || last == LAST;
    let length = if is_open { DAY } else { (last - first).as_seconds_f64().max(DAY) };
    let (before, after) = ((first - at).as_seconds_f64(), (at - last).as_seconds_f64());
    let away = before.max(after / TELLING).max(0.0);
    (1.0 - away / length).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::{FIRST, LAST, Timestamp, closeness_of};

    fn day(number: i64) -> Timestamp {
        Timestamp::default() + chrono::TimeDelta::days(number)
    }

    #[test]
    fn closeness_falls_with_the_distance_and_more_slowly_after_the_period() {
        let of = |at| closeness_of(day(at), day(100), day(110));
        assert_eq!([of(100), of(105), of(110)], [1.0; 3]);
        assert_eq!([of(95), of(90), of(80)], [0.5, 0.0, 0.0], "before");
        assert_eq!([of(115), of(120), of(130), of(140)], [0.75, 0.5, 0.0, 0.0], "after");
    }

    #[test]
    fn a_moment_counts_as_a_day_long_and_so_does_an_open_period() {
        assert_eq!(closeness_of(day(101), day(100), day(100)), 0.5);
        assert_eq!(closeness_of(day(99), day(100), day(100)), 0.0);
        let since = |at| closeness_of(day(at), day(100), LAST);
        assert_eq!([since(98), since(100), since(9000)], [0.0, 1.0, 1.0]);
        let until = |at| closeness_of(day(at), FIRST, day(100));
        assert_eq!([until(-9000), until(100), until(101), until(102)], [1.0, 1.0, 0.5, 0.0]);
    }
}
