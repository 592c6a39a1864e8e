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
    pub fn asked(&self) -> Option<TimeFilterRow> {
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

/// 1 in the period, 0 at its own length away from it. Rules have no time, and facts only if they have a date.
fn closeness(hit: &Hit, first: Timestamp, last: Timestamp) -> f64 {
    match hit.memory_type {
        MemoryType::Rule => 0.0,
        MemoryType::Fact => match &hit.info.dates {
            Some(dates) => f64::from(u8::from(dates.overlaps(first, last))),
            None => 0.0,
        },
        MemoryType::Episode => {
            let at = hit.info.occurred_at.unwrap_or(hit.created_at);
            let width = (last - first).as_seconds_f64().max(86_400.0);
            let away = (first - at).max(at - last).as_seconds_f64().max(0.0);
            (1.0 - away / width).max(0.0)
        }
    }
}
