//! The two times of a memory: when something is true, and when it was believed.

use chrono::SecondsFormat;
use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::dates::{GivenDate, brief, check_interval};

/// When a fact is true and when its source said so, as stated. Each may be unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct StatedDates {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// The first moment at which it is no longer true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_at: Option<Timestamp>,
    /// The same as they were given.
    #[serde(rename = "dates", skip_serializing_if = "Option::is_none")]
    pub given: Option<GivenTexts>,
    /// Dates of the fact it corrects that are no longer known.
    #[serde(rename = "removed_dates", skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<DateField>,
}

/// A date that a correction can remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DateField {
    ValidFrom,
    ValidTo,
}

/// Dates in the precision in which they were given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenTexts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_at: Option<String>,
}

impl StatedDates {
    /// The error is a whole sentence about `valid_to`.
    pub fn new(from: Option<GivenDate>, to: Option<GivenDate>, observed: Option<GivenDate>) -> Result<Self, String> {
        let valid_to = check_interval(from.as_ref(), to.as_ref())?;
        if from.is_none() && to.is_none() && observed.is_none() {
            return Ok(Self::default());
        }
        Ok(Self {
            valid_from: from.as_ref().map(|date| date.at),
            valid_to,
            observed_at: observed.as_ref().map(|date| date.at),
            given: Some(GivenTexts {
                valid_from: from.map(|date| date.text),
                valid_to: to.map(|date| date.text),
                observed_at: observed.map(|date| date.text),
            }),
            removed: Vec::new(),
        })
    }

    /// Whether no date was stated.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// When a fact is true: what was stated, and what follows from the other statements of its key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct FactDates {
    pub valid_from: Option<Timestamp>,
    pub valid_to: Option<Timestamp>,
    pub observed_at: Option<Timestamp>,
    pub given: Option<GivenTexts>,
    /// `None`: since ever, as far as anybody knows.
    pub holds_from: Option<Timestamp>,
    /// `None`: it still holds.
    pub holds_to: Option<Timestamp>,
    /// Whether it holds at no time, because another fact took its place.
    #[serde(default)]
    pub never: bool,
}

/// The dates of a fact as answers show them, in the precision in which they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownDates {
    /// Since when it is true, if that was stated: a year, month, day or time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<String>,
    /// The first moment at which it is no longer true: as stated, or where the next value begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<String>,
    /// When the source said it, if that was stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_at: Option<String>,
}

impl FactDates {
    fn text(&self, of: impl Fn(&GivenTexts) -> Option<&String>, at: Option<Timestamp>) -> Option<String> {
        let given = self.given.as_ref().and_then(of).cloned();
        at.map(|at| given.unwrap_or_else(|| at.to_rfc3339_opts(SecondsFormat::AutoSi, true)))
    }

    /// The end to show: the stated one, or an earlier one where another value begins.
    fn end(&self) -> Option<Timestamp> {
        if self.never { self.valid_to } else { self.holds_to.or(self.valid_to) }
    }

    fn end_text(&self) -> Option<&str> {
        let stated = self.given.as_ref()?.valid_to.as_deref()?;
        (self.end() == self.valid_to).then_some(stated)
    }

    /// The dates in the form that answers show. Stated texts keep their precision.
    pub fn shown(&self) -> ShownDates {
        let end = self.end();
        ShownDates {
            valid_from: self.text(|given| given.valid_from.as_ref(), self.valid_from),
            valid_to: match self.end_text() {
                Some(text) => Some(text.to_owned()),
                None => end.map(|at| at.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
            },
            observed_at: self.given.as_ref().and_then(|given| given.observed_at.clone()),
        }
    }

    /// What a line of a context says about it: "since 2023", "until Mar 2024", "from 1 Dec 2026".
    pub fn brief(&self, now: Timestamp, zone: Tz) -> Option<String> {
        let start = self.valid_from.map(|at| {
            let text = self.given.as_ref().and_then(|given| given.valid_from.as_deref());
            (if at > now { "from" } else { "since" }, brief(at, text, zone))
        });
        let end = self.end().map(|at| ("until", brief(at, self.end_text(), zone)));
        let words: Vec<String> = start.into_iter().chain(end).map(|(word, date)| format!("{word} {date}")).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// Whether it is true at some time between the two moments, as far as a date is known for it.
    pub fn overlaps(&self, first: Timestamp, last: Timestamp) -> bool {
        !self.never
            && (self.holds_from.is_some() || self.holds_to.is_some())
            && self.holds_from.is_none_or(|from| from <= last)
            && self.holds_to.is_none_or(|to| to > first)
    }
}

/// The time that a question is about. Each part may be left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimeFilter {
    /// What was true at some time within it.
    pub valid_at: Option<GivenDate>,
    /// What was believed then.
    pub as_of: Option<Timestamp>,
    /// What was said, stored or happened from then on.
    pub since: Option<Timestamp>,
    /// What was said, stored or happened before then.
    pub until: Option<Timestamp>,
}

impl TimeFilter {
    /// Whether the question names no time.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it asks for what was true or believed at some time, and not for what is known now.
    pub const fn has_moment(&self) -> bool {
        self.valid_at.is_some() || self.as_of.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> GivenDate {
        GivenDate::parse(text, chrono_tz::UTC).unwrap()
    }

    fn dates(from: Option<&str>, to: Option<&str>) -> FactDates {
        let stated = StatedDates::new(from.map(date), to.map(date), None).unwrap();
        FactDates {
            valid_from: stated.valid_from,
            valid_to: stated.valid_to,
            given: stated.given,
            holds_from: stated.valid_from,
            holds_to: stated.valid_to,
            ..FactDates::default()
        }
    }

    #[test]
    fn a_line_says_since_when_until_when_or_from_when() {
        let now = date("2026-11-17").at;
        let said = |from, to| dates(from, to).brief(now, chrono_tz::UTC);
        assert_eq!(said(Some("2023"), None).as_deref(), Some("since 2023"));
        assert_eq!(said(None, Some("2024-03")).as_deref(), Some("until Mar 2024"));
        assert_eq!(said(Some("2026-12-01"), None).as_deref(), Some("from 1 Dec 2026"));
        assert_eq!(said(Some("2020"), Some("2024-03")).as_deref(), Some("since 2020 until Mar 2024"));
        assert_eq!(said(None, None), None);
    }

    #[test]
    fn the_end_is_where_another_value_began_if_that_is_earlier() {
        let mut cut = dates(Some("2020"), Some("2030"));
        assert_eq!(cut.shown().valid_to.as_deref(), Some("2030"));
        cut.holds_to = Some(date("2024-05-01").at);
        assert_eq!(cut.shown().valid_to.as_deref(), Some("2024-05-01T00:00:00Z"));
        assert_eq!(cut.shown().valid_from.as_deref(), Some("2020"));
    }

    #[test]
    fn only_a_fact_with_a_date_lies_in_a_window() {
        let (first, last) = (date("2021").at, date("2021").last());
        assert!(dates(Some("2020"), None).overlaps(first, last));
        assert!(dates(None, Some("2021-06")).overlaps(first, last));
        assert!(!dates(Some("2022"), None).overlaps(first, last));
        assert!(!FactDates::default().overlaps(first, last));
    }
}
