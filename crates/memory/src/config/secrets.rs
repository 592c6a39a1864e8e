use butler_domain::secrets::Redactor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::InvalidValue;

/// What happens to secrets in text that comes in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SecretsConfig {
    /// Whether keys, tokens, passwords and card numbers become marks such as `[redacted: aws key]` before a text is
    /// stored, embedded or logged.
    pub redact: bool,
    /// More secrets to redact, each with a `name` for the mark and a `pattern`, a regular expression. If a pattern has a
    /// group, only the group is replaced.
    pub patterns: Vec<SecretPattern>,
}

/// A configured kind of secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretPattern {
    pub name: String,
    pub pattern: String,
}

impl Default for SecretsConfig {
    fn default() -> Self {
        Self { redact: true, patterns: Vec::new() }
    }
}

impl SecretsConfig {
    /// What all butlers of a process redact together, for text whose butler is not known yet.
    pub fn of_all<'a>(configs: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Self { redact: false, patterns: Vec::new() };
        for config in configs.into_iter().filter(|config| config.redact) {
            all.redact = true;
            let new = config.patterns.iter().filter(|pattern| !all.patterns.contains(pattern)).cloned();
            all.patterns.extend(new.collect::<Vec<_>>());
        }
        all
    }

    /// Compiles the patterns, also if redaction is off, so that an invalid one is always reported.
    pub fn redactor(&self) -> Result<Redactor, InvalidValue> {
        let pairs: Vec<_> = self.patterns.iter().map(|of| (of.name.clone(), of.pattern.clone())).collect();
        let redactor = Redactor::with(&pairs).map_err(|problem| InvalidValue {
            key: "secrets.patterns".to_owned(),
            problem: format!("has an invalid entry: {problem}"),
        })?;
        Ok(if self.redact { redactor } else { Redactor::off() })
    }
}
