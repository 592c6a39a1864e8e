//! The typed form of the JSON that the retrieval statement reports about each result.

use serde::Deserialize;
use serde_json::Value;

/// How a result was found. A key that is missing from the JSON, or that does not apply, is `None`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct MatchInfo {
    /// The path of the vector search, such as `exact`.
    pub vector: Option<String>,
    /// The number of index lists that the vector search probed.
    pub probes: Option<i64>,
    /// The path of the keyword search, such as `scan`.
    pub keyword: Option<String>,
    /// The parts of a deep score.
    pub deep: Option<Value>,
    /// The terms of the query that the memory contains.
    pub terms: Option<Vec<Option<String>>>,
    /// Set if the query names the memory's subject or entity: the number of memories that share it.
    pub named: Option<f64>,
}

impl MatchInfo {
    pub fn parse(info: &Value) -> Self {
        Self::deserialize(info).unwrap_or_default()
    }

    /// The deep score that the database computed. Only episodes have one.
    pub fn deep_score(&self) -> Option<f64> {
        self.deep.as_ref()?.get("score")?.as_f64()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_and_missing_keys_are_none() {
        let info = MatchInfo::parse(&json!({"vector": "exact", "probes": null, "terms": null, "named": 3}));
        assert_eq!(info, MatchInfo { vector: Some("exact".to_owned()), named: Some(3.0), ..MatchInfo::default() });
        assert_eq!(MatchInfo::parse(&Value::Null), MatchInfo::default());
        assert_eq!(MatchInfo::parse(&json!({"deep": {"score": 0.5}})).deep_score(), Some(0.5));
    }
}
