//! The options that name a time, the same for several commands.

use serde_json::{Value, json};

/// The time that a question is about.
#[derive(Debug, Clone, clap::Args)]
pub struct TimeOptions {
    /// What was true then: a year, month, day or time [default: now]
    #[arg(long, value_name = "DATE")]
    valid_at: Option<String>,
    /// What was believed then
    #[arg(long, value_name = "DATE")]
    as_of: Option<String>,
    /// Only what was said, stored or happened since then; also how long ago: 7d, 12h
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Only what was said, stored or happened until then
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
}

impl TimeOptions {
    /// Adds the options to the arguments of a tool.
    pub fn add_to(self, arguments: &mut Value) {
        for (name, value) in
            [("valid_at", self.valid_at), ("as_of", self.as_of), ("since", self.since), ("until", self.until)]
        {
            arguments[name] = json!(value);
        }
    }
}
