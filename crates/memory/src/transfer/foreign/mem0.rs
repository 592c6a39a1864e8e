//! mem0's files: a JSON list, an object with `results` or `memories`, or one memory per line.

use butler_domain::Permanence;
use serde_json::{Map, Value};

use super::{Parsed, ParsedFact, unique_predicate};

pub(super) fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(items)) => items.iter().for_each(|item| add_memory(item, 1, &mut parsed)),
        Ok(Value::Object(map)) => {
            match ["results", "memories", "data"].iter().find_map(|key| map.get(*key)?.as_array()) {
                Some(items) => items.iter().for_each(|item| add_memory(item, 1, &mut parsed)),
                None => add_memory(&Value::Object(map), 1, &mut parsed),
            }
        }
        Ok(_) => parsed.problems.push((1, "is neither a list nor an object".to_owned())),
        Err(_) => {
            for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
                match serde_json::from_str(line) {
                    Ok(item) => add_memory(&item, number, &mut parsed),
                    Err(error) => parsed.problems.push((number, format!("is not JSON: {error}"))),
                }
            }
        }
    }
    parsed
}

fn add_memory(item: &Value, line: u64, parsed: &mut Parsed) {
    let text = |key: &str| item[key].as_str().filter(|text| !text.trim().is_empty());
    let Some(content) = ["memory", "text", "content", "data"].iter().find_map(|key| text(key)) else {
        return parsed.problems.push((line, "has no memory; expected one of memory, text, content, data".to_owned()));
    };
    let subject = ["user_id", "agent_id", "run_id"].iter().find_map(|key| text(key)).unwrap_or("user");
    let list = item["categories"].as_array().into_iter().flatten();
    let tags = list.filter_map(|tag| Some(tag.as_str()?.to_owned())).chain(["mem0".to_owned()]).collect();
    let mut metadata = Map::new();
    for key in ["id", "created_at", "updated_at", "agent_id", "run_id", "metadata"] {
        if !item[key].is_null() {
            metadata.insert(format!("mem0_{key}"), item[key].clone());
        }
    }
    parsed.facts.push(ParsedFact {
        line,
        subject: subject.to_owned(),
        predicate: unique_predicate("memory", content),
        content: content.to_owned(),
        object: None,
        permanence: Permanence::Standard,
        tags,
        metadata,
    });
}
