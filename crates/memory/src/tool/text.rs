//! The answer of a tool as text for a model: the useful keys first, four significant digits, and nothing that says
//! nothing. The structured answer stays exact.

use std::fmt::Write;

use serde_json::{Map, Value};

/// The keys that a model reads first, in this order. The others follow in alphabetical order.
const FIRST: [&str; 13] = [
    "note",
    "memory_type",
    "id",
    "subject",
    "predicate",
    "content",
    "maturity",
    "entity_name",
    "score",
    "confidence",
    "importance",
    "status",
    "error",
];
/// The parts of a result's score. They are in the text only if the caller asked for an explanation.
const SCORE_PARTS: [&str; 7] =
    ["similarity", "rank", "semantic_rank", "keyword_rank", "rrf_score", "relevance", "recency"];

/// Renders an answer as compact JSON.
pub(super) fn render(answer: &Map<String, Value>) -> String {
    let mut out = String::new();
    object(&mut out, answer);
    out
}

fn object(out: &mut String, map: &Map<String, Value>) {
    let mut entries: Vec<(&String, &Value)> =
        map.iter().filter(|(key, value)| says_something(map, key, value)).collect();
    let place = |key: &str| FIRST.iter().position(|first| *first == key).unwrap_or(FIRST.len());
    // The sort is stable, and a map is in alphabetical order.
    entries.sort_by_key(|(key, _)| place(key));
    out.push('{');
    for (number, (key, value)) in entries.into_iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        let _ = write!(out, "{}:", Value::from(key.as_str()));
        match value {
            Value::String(time) if key.ends_with("_at") => {
                let _ = write!(out, "{}", Value::from(whole_seconds(time)));
            }
            value => any(out, value),
        }
    }
    out.push('}');
}

fn any(out: &mut String, value: &Value) {
    match value {
        Value::Object(map) => object(out, map),
        Value::Array(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    out.push(',');
                }
                any(out, item);
            }
            out.push(']');
        }
        Value::Number(number) if number.is_f64() => {
            let _ = write!(out, "{}", four_digits(number.as_f64().unwrap_or_default()));
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

fn says_something(map: &Map<String, Value>, key: &str, value: &Value) -> bool {
    let is_hit = map.contains_key("score") && map.contains_key("memory_type") && !map.contains_key("explain");
    match key {
        _ if value.is_null() => false,
        "effective_confidence" => map.get("confidence") != Some(value),
        "scope" if is_hit => value != "global",
        // Rules have no importance of their own.
        "importance" if is_hit => map.contains_key("subject") || map["memory_type"] == "episode",
        _ => !(is_hit && SCORE_PARTS.contains(&key)),
    }
}

/// Rounds to four significant digits. `5.0` becomes `5`.
fn four_digits(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return 0.0;
    }
    format!("{number:.3e}").parse().unwrap_or(number)
}

/// A time without fractions of a second.
fn whole_seconds(time: &str) -> String {
    match time.split_once('.') {
        Some((seconds, rest)) if seconds.contains('T') => {
            format!("{seconds}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        _ => time.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn useful_keys_come_first_numbers_are_short_and_nothing_is_said_twice() {
        let answer = json!({"results": [{
            "confidence": 0.987_654_3, "content": "tea", "created_at": "2030-01-15T12:00:00.123456Z",
            "effective_confidence": 0.987_654_3, "id": "7", "importance": 5.0, "keyword_rank": 3, "memory_type": "fact",
            "recency": null, "scope": "global", "score": 0.000_012_345_6, "subject": "Ann", "predicate": "likes",
        }]});
        assert_eq!(
            render(answer.as_object().unwrap()),
            r#"{"results":[{"memory_type":"fact","id":"7","subject":"Ann","predicate":"likes","content":"tea","score":0.00001235,"confidence":0.9877,"importance":5,"created_at":"2030-01-15T12:00:00Z"}]}"#
        );
    }

    #[test]
    fn the_text_is_json_and_keeps_what_it_does_not_know() {
        let answer = json!({"a \"b\"": ["x\ny", 1, true, null, {"deep": {"n": 123_456.0}}], "effective_confidence": 0.5,
            "confidence": 0.7, "last_confirmed_at": null, "not_a_time_at": "1.5 T"});
        let text: Value = serde_json::from_str(&render(answer.as_object().unwrap())).unwrap();
        assert_eq!(text["a \"b\""], json!(["x\ny", 1, true, null, {"deep": {"n": 123_500}}]));
        assert_eq!((&text["effective_confidence"], &text["confidence"]), (&json!(0.5), &json!(0.7)));
        assert!(text.get("last_confirmed_at").is_none());
        assert_eq!(text["not_a_time_at"], "1.5 T");
    }
}
