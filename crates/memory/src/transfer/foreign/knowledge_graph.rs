//! The MCP knowledge-graph server's `memory.jsonl`: entities with observations, and relations between them.

use butler_domain::{EntityType, Permanence};
use serde_json::{Map, Value};

use super::{Parsed, ParsedFact, unique_predicate};

pub(super) fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    let items = items(text, &mut parsed);
    for (line, item) in items {
        if let Some((from, to, kind)) = relation(&item) {
            let object = Some(to.trim().to_owned());
            parsed.facts.push(ParsedFact { object, ..fact(line, from, kind.to_owned(), to) });
        } else if let Some(name) = item["name"].as_str().filter(|name| !name.trim().is_empty()) {
            let name = name.trim();
            parsed.entities.push((name.to_owned(), entity_type(item["entityType"].as_str().unwrap_or_default())));
            for observation in item["observations"].as_array().into_iter().flatten() {
                match observation.as_str() {
                    Some(text) => parsed.facts.push(fact(line, name, unique_predicate("observation", text), text)),
                    None => parsed.problems.push((line, "an observation is not a string".to_owned())),
                }
            }
        } else {
            parsed.problems.push((line, "is neither an entity nor a relation".to_owned()));
        }
    }
    parsed
}

/// One item per line, or one object with both lists, like the answer of the server's `read_graph`.
fn items(text: &str, parsed: &mut Parsed) -> Vec<(u64, Value)> {
    if let Ok(Value::Object(map)) = serde_json::from_str::<Value>(text)
        && let Some(entities) = map.get("entities").and_then(Value::as_array)
    {
        let relations = map.get("relations").and_then(Value::as_array).into_iter().flatten();
        return entities.iter().chain(relations).map(|item| (1, item.clone())).collect();
    }
    let mut items = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(item) => items.push((number, item)),
            Err(error) => parsed.problems.push((number, format!("is not JSON: {error}"))),
        }
    }
    items
}

fn relation(item: &Value) -> Option<(&str, &str, &str)> {
    Some((item["from"].as_str()?, item["to"].as_str()?, item["relationType"].as_str()?))
}

fn fact(line: u64, subject: &str, predicate: String, content: &str) -> ParsedFact {
    ParsedFact {
        line,
        subject: subject.trim().to_owned(),
        predicate,
        content: content.to_owned(),
        object: None,
        permanence: Permanence::Standard,
        tags: vec!["mcp-memory".to_owned()],
        metadata: Map::new(),
    }
}

fn entity_type(name: &str) -> EntityType {
    match name.to_lowercase().as_str() {
        "person" | "people" | "human" | "user" | "contact" => EntityType::Person,
        "organization" | "organisation" | "company" | "team" | "institution" => EntityType::Organization,
        "place" | "location" | "city" | "country" => EntityType::Place,
        _ => EntityType::Other,
    }
}
