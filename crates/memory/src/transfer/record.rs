//! Parses and validates one line of an export file, which is untrusted input.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use butler_domain::fact::UNLINKED_OBJECT;
use butler_domain::secrets::Redactor;
use butler_domain::text::{fact_search_text, fact_text, strip_nul, without_control};
use butler_domain::{Source, Timestamp, Verdict};
use butler_domain::{conflicts, limits, validate};
use butler_store::conflicts::FoundBy;
use butler_store::transfer::Kind;
use serde::Deserialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::ModelName;
use crate::conflicts::Resolution;
use crate::trust::held_for;

/// A line of a file with its number, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub number: u64,
    pub text: String,
}

const FACT_TIMES: [&str; 10] = [
    "created_at",
    "last_referenced_at",
    "last_confirmed_at",
    "valid_from",
    "valid_to",
    "observed_at",
    "holds_from",
    "holds_to",
    "placed_at",
    "ended_at",
];

/// A validated line, ready to be inserted.
#[derive(Debug)]
pub(super) struct Record {
    /// The number of the line in the file.
    pub line: u64,
    pub kind: Kind,
    pub row: Map<String, Value>,
    /// The text to embed, if the line is a memory without a vector of the current model.
    pub to_embed: Option<String>,
    /// How many secrets were redacted.
    pub redacted: usize,
}

/// Parses a line. The error says what is wrong with it.
pub(super) fn read(line: &Line, model: &ModelName, redactor: &Redactor) -> Result<Record, String> {
    let value: Value = serde_json::from_str(&line.text).map_err(|error| format!("is not JSON: {error}"))?;
    let Value::Object(mut row) = without_nul(value) else { return Err("is not a JSON object".to_owned()) };
    let embedding = row.remove("embedding");
    let redacted = redactor.redact_object(&mut row);
    clean_names(&mut row);
    let kind = row.remove("type").unwrap_or_default();
    let kind: Kind = serde_json::from_value(kind.clone()).map_err(|_| format!("has the unknown type {kind}"))?;
    if kind.has_id() {
        let id = row.get("id").and_then(Value::as_str).and_then(|id| Uuid::parse_str(id).ok());
        let id = id.ok_or_else(|| format!("is a {} without a valid id", kind.as_str()))?;
        row.insert("id".to_owned(), id.to_string().into());
    }
    check_values(kind, &row)?;
    let mut to_embed = None;
    if kind.is_memory() {
        let text = text_of(kind, &row)?;
        // The vector of a text with a secret describes the secret too.
        match embedding.filter(|_| redacted == 0).and_then(|embedding| vector(&embedding, model)) {
            Some(vector) => set_vector(&mut row, &vector, model),
            None => to_embed = Some(text.clone()),
        }
        let object = row.get("metadata").and_then(|metadata| metadata[UNLINKED_OBJECT].as_str());
        let words = fact_search_text(&text, object.filter(|_| kind == Kind::Fact));
        row.insert("search_text".to_owned(), words.into());
    }
    let is_untrusted = |row: &Map<String, Value>| row.get("metadata").is_some_and(|data| data["source"] == "untrusted");
    if kind == Kind::Episode && !row.contains_key("source") && is_untrusted(&row) {
        row.insert("source".to_owned(), Source::Untrusted.as_str().into());
        let content = row.get("content").and_then(Value::as_str).unwrap_or_default();
        if let Some(reasons) = held_for(Source::Untrusted, content) {
            row.insert("held_for".to_owned(), reasons);
        }
    }
    // Older documents call a retracted fact forgotten.
    if kind == Kind::Fact && row.get("validity").and_then(Value::as_str) == Some("forgotten") {
        row.insert("validity".to_owned(), "retracted".into());
    }
    Ok(Record { line: line.number, kind, row, to_embed, redacted })
}

/// Checks the times and numbers of a row. PostgreSQL also reads texts such as `infinity` and `NaN`, which the program
/// cannot work with.
fn check_values(kind: Kind, row: &Map<String, Value>) -> Result<(), String> {
    let times: &[&str] = match kind {
        Kind::Predicate | Kind::Entity => &["created_at", "updated_at"],
        Kind::Episode => {
            &["created_at", "occurred_at", "expires_at", "last_referenced_at", "next_consolidation_retry_at"]
        }
        Kind::Fact => &FACT_TIMES,
        Kind::Rule => {
            &["created_at", "last_applied_at", "last_evaluated_at", "last_confirmed_at", "last_referenced_at"]
        }
        Kind::RuleApplication => &["applied_at"],
        Kind::Merge => &["merged_at", "undone_at"],
        Kind::Proposal => &["created_at", "decided_at"],
        Kind::Tombstone => &["created_at", "suppressed_at", "allowed_at"],
        Kind::Link | Kind::Event => &["created_at"],
    };
    let given = |name: &str| row.get(name).filter(|value| !value.is_null());
    for name in times {
        if let Some(value) = given(name) {
            validate::time(name, value).map_err(|invalid| invalid.to_string())?;
        }
    }
    for belief in given("beliefs").and_then(Value::as_array).into_iter().flatten() {
        for name in ["believed_from", "believed_to", "holds_from", "holds_to"] {
            if let Some(value) = belief.get(name).filter(|value| !value.is_null()) {
                validate::time(name, value).map_err(|invalid| format!("beliefs: {invalid}"))?;
            }
        }
    }
    for conflict in given("conflicts").and_then(Value::as_array).into_iter().flatten() {
        check_conflict(conflict).map_err(|problem| format!("conflicts: {problem}"))?;
    }
    let time = |name: &str| given(name)?.as_str()?.parse::<Timestamp>().ok();
    if kind == Kind::Fact && time("valid_from").zip(time("valid_to")).is_some_and(|(from, to)| from >= to) {
        return Err("valid_to: is not after valid_from".to_owned());
    }
    if kind == Kind::Fact && given("dates").is_some_and(|dates| !dates.is_object()) {
        return Err("dates: is not an object".to_owned());
    }
    if kind == Kind::Proposal {
        check_proposal(row)?;
    }
    for name in ["importance", "confidence", "decay_rate", "effectiveness_score"] {
        if let Some(value) = given(name) {
            validate::number(name, value, 0.0, f64::MAX).map_err(|invalid| invalid.to_string())?;
        }
    }
    Ok(())
}

fn check_conflict(conflict: &Value) -> Result<(), String> {
    /// A row of `conflicts`.
    #[derive(Deserialize)]
    struct Row {
        #[serde(rename = "id")]
        _id: Uuid,
        fact_a: Uuid,
        fact_b: Uuid,
        #[serde(rename = "kind")]
        _kind: conflicts::Kind,
        #[serde(rename = "why")]
        _why: conflicts::ConflictReason,
        #[serde(rename = "score")]
        _score: Option<f64>,
        #[serde(rename = "found_by")]
        _found_by: FoundBy,
        state: String,
        resolution: Option<Resolution>,
        verdict: Option<Verdict>,
    }
    let row: Row = serde_json::from_value(conflict.clone()).map_err(|error| error.to_string())?;
    let resolved = row.state == "resolved";
    let whole = resolved == row.resolution.is_some() && resolved == conflict["resolved_at"].is_string();
    let judged = row.verdict.is_some();
    let whole = whole && judged == conflict["reason"].is_string() && judged == conflict["judged_at"].is_string();
    if row.fact_a >= row.fact_b || !(resolved || row.state == "open") || !whole {
        return Err("is not a conflict of two facts".to_owned());
    }
    validate::time("found_at", &conflict["found_at"]).map_err(|invalid| invalid.to_string())?;
    if resolved {
        validate::time("resolved_at", &conflict["resolved_at"]).map_err(|invalid| invalid.to_string())?;
    }
    if judged {
        validate::time("judged_at", &conflict["judged_at"]).map_err(|invalid| invalid.to_string())?;
    }
    Ok(())
}

/// What a proposal would store must be readable, or nobody could list the others.
fn check_proposal(row: &Map<String, Value>) -> Result<(), String> {
    let memory = row.get("memory").and_then(Value::as_object).ok_or("memory: is not an object")?;
    if !memory.get("content").is_some_and(Value::is_string) {
        return Err("memory.content: is not a text".to_owned());
    }
    let ids = ["entity_id", "object_entity_id", "source_episode_id", "replaces"].map(|name| memory.get(name));
    let lists = [memory.get("derived_from")].into_iter().flatten().filter_map(Value::as_array).flatten();
    let bad = |id: &Value| !id.is_null() && id.as_str().is_none_or(|id| Uuid::parse_str(id).is_err());
    match ids.into_iter().flatten().chain(lists).find(|id| bad(id)) {
        Some(id) => Err(format!("memory: {id} is not an id")),
        None => Ok(()),
    }
}

/// The text that is embedded and indexed for a memory. Checks the same length limits as tool calls.
fn text_of(kind: Kind, row: &Map<String, Value>) -> Result<String, String> {
    let field = |name: &str, max_bytes: usize| match row.get(name).and_then(Value::as_str) {
        None => Err(format!("{name} is missing")),
        Some(text) if text.trim().is_empty() => Err(format!("{name} is empty")),
        Some(text) if text.len() > max_bytes => {
            Err(format!("{name} is {} bytes long; at most {max_bytes} are allowed", text.len()))
        }
        Some(text) => Ok(text),
    };
    let content = field("content", limits::CONTENT_BYTES)?;
    if kind != Kind::Fact {
        return Ok(content.to_owned());
    }
    let subject = field("subject", limits::SUBJECT_BYTES)?;
    Ok(fact_text(subject, field("predicate", limits::PREDICATE_BYTES)?, content))
}

/// The vector, if the current model produced it; vectors of different models are not comparable.
fn vector(embedding: &Value, model: &ModelName) -> Option<Vec<f32>> {
    if embedding["model"] != model.model.as_str() || embedding["version"] != model.version.as_str() {
        return None;
    }
    let bytes = STANDARD.decode(embedding["f32"].as_str()?).ok()?;
    let numbers: Vec<f32> =
        bytes.chunks_exact(4).map(|four| f32::from_be_bytes([four[0], four[1], four[2], four[3]])).collect();
    (numbers.len() == model.dimensions && bytes.len() % 4 == 0 && numbers.iter().all(|n| n.is_finite()))
        .then_some(numbers)
}

pub(super) fn set_vector(row: &mut Map<String, Value>, vector: &[f32], model: &ModelName) {
    // `to_string` gives the shortest text that parses to the same number.
    let numbers: Vec<String> = vector.iter().map(f32::to_string).collect();
    row.insert("vector".to_owned(), format!("[{}]", numbers.join(",")).into());
    row.insert("model".to_owned(), model.model.clone().into());
    row.insert("model_version".to_owned(), model.version.clone().into());
}

/// Removes control characters from names, as for tool calls.
fn clean_names(row: &mut Map<String, Value>) {
    const NAMES: [&str; 9] =
        ["subject", "predicate", "canonical_name", "aliases", "scope", "butler", "source_butler", "tags", "relation"];
    let clean = |value: &mut Value| {
        if let Value::String(name) = value {
            *name = without_control(name).trim().to_owned();
        }
    };
    for name in NAMES {
        match row.get_mut(name) {
            Some(Value::Array(names)) => names.iter_mut().for_each(clean),
            Some(value) => clean(value),
            None => {}
        }
    }
}

/// Removes NUL characters, which PostgreSQL rejects in text and JSON.
fn without_nul(value: Value) -> Value {
    match value {
        Value::String(text) if text.contains('\0') => Value::String(strip_nul(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(without_nul).collect()),
        Value::Object(map) => map.into_iter().map(|(key, value)| (strip_nul(&key), without_nul(value))).collect(),
        other => other,
    }
}
