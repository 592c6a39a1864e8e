//! The parameters that name the period of a question.

use butler_domain::Timestamp;
use butler_domain::times::TimeFilter;
use butler_memory::times::TimeFilterTexts;
use butler_memory::{Call, Memory};
use schemars::JsonSchema;
use serde::Deserialize;

use super::error::ApiError;

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct TimeQuery {
    /// What was true then: a year, month, day or time. Default: now.
    pub valid_at: Option<String>,
    /// What was believed then.
    pub as_of: Option<String>,
    /// Only what was said, stored or happened since then: a date, or how long ago (`7d`).
    pub since: Option<String>,
    /// Only what was said, stored or happened until then.
    pub until: Option<String>,
}

/// When something was said, stored or happened.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct SinceQuery {
    /// Only what was stored, created or happened since then: a date, or how long ago (`7d`).
    pub since: Option<String>,
    /// Only what was stored, created or happened until the end of that date.
    pub until: Option<String>,
}

impl SinceQuery {
    /// The first moment, and the first one that is too late.
    pub fn read(&self, memory: &Memory, call: &Call) -> Result<(Option<Timestamp>, Option<Timestamp>), ApiError> {
        let texts = TimeFilterTexts {
            since: self.since.as_deref(),
            until: self.until.as_deref(),
            ..TimeFilterTexts::default()
        };
        let time_filter = memory.time_filter(call.now, texts)?;
        Ok((time_filter.since, time_filter.until))
    }
}

impl TimeQuery {
    pub fn read(&self, memory: &Memory, call: &Call) -> Result<TimeFilter, ApiError> {
        let texts = TimeFilterTexts {
            valid_at: self.valid_at.as_deref(),
            as_of: self.as_of.as_deref(),
            since: self.since.as_deref(),
            until: self.until.as_deref(),
        };
        Ok(memory.time_filter(call.now, texts)?)
    }
}
