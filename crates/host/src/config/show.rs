//! The effective configuration: every setting with its value and its origin.

use butler_memory::config::RetrievalConfig;
use serde::Serialize;
use serde_json::Value;

use super::mask::mask;
use super::roster::ButlerConfig;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    Default,
    File,
    Env,
    Flag,
}

impl Origin {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Env => "env",
            Self::Flag => "flag",
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Setting {
    pub key: String,
    pub value: Value,
    pub origin: Origin,
}

/// Every setting of a butler with its effective value. Passwords are masked.
pub fn settings(butler: &ButlerConfig) -> Result<Vec<Setting>, serde_json::Error> {
    let mut file = butler.file.clone();
    file.butler.name = Some(butler.name.clone());
    let limit = &mut file.modules.memory.retrieval.default_limit;
    *limit = Some(limit.unwrap_or(RetrievalConfig::DEFAULT_LIMIT));
    let mut found = Vec::new();
    flatten(serde_json::to_value(&file)?, String::new(), &mut |key, value| {
        let origin = if butler.set.contains(&key) { Origin::File } else { Origin::Default };
        found.push(Setting { key, value, origin });
    });
    Ok(found)
}

fn flatten(value: Value, path: String, found: &mut impl FnMut(String, Value)) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = if path.is_empty() { key } else { format!("{path}.{key}") };
                flatten(value, path, found);
            }
        }
        Value::String(text) => found(path, Value::String(mask(&text))),
        other => found(path, other),
    }
}
