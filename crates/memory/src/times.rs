//! Reads dates that a caller gives: when a fact is true, and the time that a question is about.

use butler_domain::Timestamp;
use butler_domain::dates::GivenDate;
use butler_domain::times::{StatedDates, TimeFilter};
use butler_domain::validate::Invalid;
use chrono::TimeDelta;
use chrono_tz::Tz;

use crate::Memory;

/// The time that a question is about, as the caller gave it.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeFilterTexts<'a> {
    pub valid_at: Option<&'a str>,
    pub as_of: Option<&'a str>,
    pub since: Option<&'a str>,
    pub until: Option<&'a str>,
}

/// When a fact is true, as the caller gave it.
#[derive(Debug, Clone, Copy, Default)]
pub struct DateTexts<'a> {
    pub valid_from: Option<&'a str>,
    pub valid_to: Option<&'a str>,
    pub observed_at: Option<&'a str>,
}

impl Memory {
    /// The time zone of dates that name none: `schedule.time_zone`.
    pub fn zone(&self) -> Tz {
        self.config().schedule.time_zone.parse().unwrap_or(chrono_tz::UTC)
    }

    /// Reads the time that a question is about. A blank text counts as omitted.
    pub fn time_filter(&self, now: Timestamp, texts: TimeFilterTexts<'_>) -> Result<TimeFilter, Invalid> {
        let valid_at = self.date("valid_at", texts.valid_at)?;
        let as_of = self.date("as_of", texts.as_of)?;
        if let Some(date) = as_of.as_ref().filter(|date| date.at > now) {
            let future = Invalid::new("as_of", format!("is {:?}, which is in the future", date.text));
            return Err(future.hint("to ask about the future, use valid_at"));
        }
        let since = self.moment("since", texts.since, now)?;
        let until = self.moment("until", texts.until, now)?;
        let (since, until) = (since.map(|date| date.at), until.map(|date| date.end));
        if since.zip(until).is_some_and(|(since, until)| until <= since) {
            return Err(Invalid::new("until", "is not after since").hint("swap them, or omit one"));
        }
        Ok(TimeFilter { valid_at, as_of: as_of.map(|date| date.last().min(now)), since, until })
    }

    /// Reads a moment in the past: a date, or how long ago.
    pub fn since(&self, now: Timestamp, field: &str, text: Option<&str>) -> Result<Option<Timestamp>, Invalid> {
        match self.moment(field, text, now)? {
            Some(date) if date.at > now => {
                Err(Invalid::new(field, format!("is {:?}, which is in the future", date.text)))
            }
            date => Ok(date.map(|date| date.at)),
        }
    }

    /// Reads when a fact is true.
    pub fn stated(&self, now: Timestamp, texts: DateTexts<'_>) -> Result<StatedDates, Invalid> {
        let from = self.date("valid_from", texts.valid_from)?;
        let to = self.date("valid_to", texts.valid_to)?;
        let observed = self.past("observed_at", texts.observed_at, now)?;
        StatedDates::new(from, to, observed).map_err(|problem| {
            Invalid::new("valid_to", problem).hint("it is the first moment at which the fact is no longer true")
        })
    }

    /// Reads when an episode happened.
    pub fn occurred(&self, now: Timestamp, text: Option<&str>) -> Result<Option<Timestamp>, Invalid> {
        Ok(self.past("occurred_at", text, now)?.map(|date| date.at))
    }

    /// A date that is not in the future.
    fn past(&self, field: &str, text: Option<&str>, now: Timestamp) -> Result<Option<GivenDate>, Invalid> {
        let date = self.date(field, text)?;
        match date {
            // Clocks of two machines differ a little.
            Some(date) if date.at > now + TimeDelta::minutes(5) => {
                Err(Invalid::new(field, format!("is {:?}, which is in the future", date.text))
                    .hint("leave it out for something that happens now"))
            }
            date => Ok(date),
        }
    }

    fn date(&self, field: &str, text: Option<&str>) -> Result<Option<GivenDate>, Invalid> {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
        GivenDate::parse(text, self.zone()).map(Some).map_err(|problem| Invalid::new(field, problem.to_string()))
    }

    /// A date, or how long ago: `12h`, `7d`, `2w`.
    fn moment(&self, field: &str, text: Option<&str>, now: Timestamp) -> Result<Option<GivenDate>, Invalid> {
        match text.and_then(|text| ago(text, now)) {
            Some(at) => Ok(Some(GivenDate::instant(at))),
            None => self
                .date(field, text)
                .map_err(|invalid| invalid.hint("give a date, or how long ago: \"12h\", \"7d\" or \"2w\"")),
        }
    }
}

/// How long ago: a number and a unit.
fn ago(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    let unit = text.chars().last()?;
    let number: i64 = text[..text.len() - unit.len_utf8()].trim().parse().ok()?;
    let span = match unit {
        'm' => TimeDelta::try_minutes(number),
        'h' => TimeDelta::try_hours(number),
        'd' => TimeDelta::try_days(number),
        'w' => TimeDelta::try_weeks(number),
        _ => None,
    }?;
    now.checked_sub_signed(span).filter(|_| number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_ago_is_a_number_and_a_unit() {
        let now: Timestamp = "2026-11-17T10:00:00Z".parse().unwrap();
        let at = |text: &str| ago(text, now).map(|at| at.to_rfc3339());
        assert_eq!(at("7d").as_deref(), Some("2026-11-10T10:00:00+00:00"));
        assert_eq!(at(" 2w ").as_deref(), Some("2026-11-03T10:00:00+00:00"));
        assert_eq!(at("12h").as_deref(), Some("2026-11-16T22:00:00+00:00"));
        for text in ["2026", "d", "-3d", "0d", "7x", "", "7é", "999999999999999999d"] {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
