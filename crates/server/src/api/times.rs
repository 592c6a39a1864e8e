//! The parameters that name the period of a question.

use butler_domain::times::Asked;
use butler_memory::times::AskedTexts;
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

impl TimeQuery {
    pub const fn is_given(&self) -> bool {
        self.valid_at.is_some() || self.as_of.is_some() || self.since.is_some() || self.until.is_some()
    }

    pub fn read(&self, memory: &Memory, call: &Call) -> Result<Asked, ApiError> {
        let texts = AskedTexts {
            valid_at: self.valid_at.as_deref(),
            as_of: self.as_of.as_deref(),
            since: self.since.as_deref(),
            until: self.until.as_deref(),
        };
        Ok(memory.asked(call.now, texts)?)
    }
}
