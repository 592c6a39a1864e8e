//! `[modules.memory.trust]`: what needs a person's approval.

use butler_domain::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which sources need a person's approval before what they say takes effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrustConfig {
    /// Facts from these sources are proposals until a person approves them: person, agent, session, import, untrusted.
    pub approve_facts: Vec<Source>,
    /// Rules from these sources are proposals until a person approves them.
    pub approve_rules: Vec<Source>,
}

impl Default for TrustConfig {
    fn default() -> Self {
        Self { approve_facts: vec![Source::Untrusted], approve_rules: vec![Source::Untrusted] }
    }
}
