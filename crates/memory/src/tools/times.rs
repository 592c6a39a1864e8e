//! Arguments that tell a time, which several tools have.

use butler_domain::Timestamp;
use butler_domain::times::{StatedDates, TimeFilter};
use butler_domain::validate::{self, Invalid};
use serde_json::Value;

use crate::Memory;
use crate::times::{DateTexts, TimeFilterTexts};

/// The time that a question is about.
pub struct TimeArguments<'a> {
    pub valid_at: &'a Option<Value>,
    pub as_of: &'a Option<Value>,
    pub since: &'a Option<Value>,
    pub until: &'a Option<Value>,
}

impl TimeArguments<'_> {
    pub fn read(&self, memory: &Memory, now: Timestamp) -> Result<TimeFilter, Invalid> {
        let (valid_at, as_of) = (text("valid_at", self.valid_at)?, text("as_of", self.as_of)?);
        let (since, until) = (text("since", self.since)?, text("until", self.until)?);
        let texts = TimeFilterTexts {
            valid_at: valid_at.as_deref(),
            as_of: as_of.as_deref(),
            since: since.as_deref(),
            until: until.as_deref(),
        };
        memory.time_filter(now, texts)
    }
}

/// When a fact is true.
pub struct Dates<'a> {
    pub valid_from: &'a Option<Value>,
    pub valid_to: &'a Option<Value>,
    pub observed_at: &'a Option<Value>,
}

impl Dates<'_> {
    pub fn read(&self, memory: &Memory, now: Timestamp) -> Result<StatedDates, Invalid> {
        let (from, to) = (text("valid_from", self.valid_from)?, text("valid_to", self.valid_to)?);
        let observed = text("observed_at", self.observed_at)?;
        let texts =
            DateTexts { valid_from: from.as_deref(), valid_to: to.as_deref(), observed_at: observed.as_deref() };
        memory.stated(now, texts)
    }
}

/// A date as text. A model may write a year as a number.
pub fn text(field: &str, value: &Option<Value>) -> Result<Option<String>, Invalid> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(value) => Ok(Some(validate::string(field, value)?.to_owned())),
    }
}
