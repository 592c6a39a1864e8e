//! Converts the text of an answer to actions. It accepts any text and keeps every valid action in it.

use std::collections::HashSet;

use uuid::Uuid;

use super::actions::{Confirmation, ConsolidationResult, NewFact, NewRule, UpdatedFact};
use super::echo::{PromptText, without_prompt};
use super::extract::{AnswerObject, find_objects};
use super::json::Json;
use crate::ids::{EpisodeId, FactId};
use crate::kinds::Permanence;
use crate::limits;
use crate::validate::{self, Invalid};

/// The parse error of a text without any JSON object. The specification fixes the wording.
pub const NO_JSON: &str = "No JSON block found in consolidation output";
const KEYS: [&str; 4] = ["new_facts", "updated_facts", "new_rules", "confirmations"];
/// A batch has at most 50 episodes; a model that returns more actions than this repeats itself.
const MAX_ACTIONS: usize = 1000;
/// Enough to diagnose an answer. Without a limit a malformed answer of ten megabytes would list millions of problems.
const MAX_ERRORS: usize = 100;
const MIN_IMPORTANCE: f64 = 1.0;
const DEFAULT_IMPORTANCE: f64 = 5.0;

/// Parses a text that is not an answer to a prompt.
pub fn parse(output: &str) -> ConsolidationResult {
    parse_answer(output, "")
}

/// Parses an answer to `prompt`. JSON copied from the prompt is ignored.
pub fn parse_answer(output: &str, prompt: &str) -> ConsolidationResult {
    let output = &without_prompt(output, prompt);
    let prompt = PromptText::new(prompt);
    let mut errors = Errors::default();
    let mut result = ConsolidationResult::default();
    let mut seen: Vec<&str> = Vec::new();
    let objects = find_objects(output, &KEYS);
    if objects.is_empty() {
        errors.push(NO_JSON.to_owned());
    }
    for (number, object) in objects.into_iter().enumerate() {
        let source = output.get(object.start..object.end);
        if object.has_actions() && source.is_some_and(|source| prompt.contains(source)) {
            errors.push(format!("the JSON block at byte {} is copied from the prompt; left out", object.start));
            result.dropped += 1;
            continue;
        }
        for (at, repair) in &object.repairs {
            errors.push(format!("syntax: {repair} at byte {at} (repaired)"));
        }
        if object.cut_off {
            errors.push("syntax: the output was cut off; incomplete actions are left out".to_owned());
            result.dropped += 1;
        }
        if !object.recognised {
            errors.push(format!("the JSON object has none of the keys {}", KEYS.join(", ")));
        }
        result.answered |= object.recognised;
        // The first block that has a list wins: a later one may be a quotation rather than a correction.
        let new_keys: Vec<&str> = KEYS.into_iter().filter(|key| object.has(key) && !seen.contains(key)).collect();
        if number > 0 {
            errors.push(describe_extra_object(&object, &new_keys));
        }
        for (key, value) in object.entries.into_iter().filter(|(key, _)| new_keys.contains(&key.as_str())) {
            collect(&mut result, &key, value, &mut errors);
        }
        seen.extend(new_keys);
    }
    result.parse_errors = errors.finish();
    result
}

impl AnswerObject {
    /// Whether a list is not empty. Empty lists in an answer are not evidence of copying from the prompt.
    fn has_actions(&self) -> bool {
        let is_empty = |value: &Json| match value {
            Json::Null => true,
            Json::Array(items) => items.is_empty(),
            _ => false,
        };
        self.entries.iter().any(|(key, value)| KEYS.contains(&key.as_str()) && !is_empty(value))
    }

    fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, _)| name == key)
    }
}

/// Reports which lists of a second or later JSON object are used.
fn describe_extra_object(object: &AnswerObject, used: &[&str]) -> String {
    let ignored: Vec<&str> = KEYS.into_iter().filter(|key| object.has(key) && !used.contains(key)).collect();
    let (at, used, ignored) = (object.start, used.join(", "), ignored.join(", "));
    match (used.is_empty(), ignored.is_empty()) {
        (false, true) => format!("another JSON block at byte {at}: {used} taken from it"),
        (false, false) => {
            format!(
                "another JSON block at byte {at}: {used} taken from it, {ignored} left out (already in an earlier block)"
            )
        }
        _ => format!("another JSON block at byte {at}: left out, {ignored} already in an earlier block"),
    }
}

#[derive(Default)]
struct Errors {
    list: Vec<String>,
    omitted: usize,
}

impl Errors {
    fn push(&mut self, error: String) {
        if self.list.len() < MAX_ERRORS { self.list.push(error) } else { self.omitted += 1 }
    }

    fn finish(mut self) -> Vec<String> {
        if self.omitted > 0 {
            self.list.push(format!("… and {} more problems", self.omitted));
        }
        self.list
    }
}

fn collect(result: &mut ConsolidationResult, key: &str, value: Json, errors: &mut Errors) {
    if !KEYS.contains(&key) {
        return;
    }
    let items = match value {
        Json::Array(items) => items,
        object @ Json::Object(_) => {
            errors.push(format!("{key}: an object where a list was expected; read as a list of one"));
            vec![object]
        }
        other => {
            // Some models write null for an empty list.
            result.dropped += usize::from(other != Json::Null);
            return errors.push(format!("{key}: must be a list, not {}", describe(&other)));
        }
    };
    let mut confirmed: HashSet<Uuid> = result.confirmations.iter().map(|c| c.id).collect();
    for (i, item) in items.iter().enumerate() {
        if result.action_count() >= MAX_ACTIONS {
            result.dropped += items.len() - i;
            return errors.push(format!("{key}[{i}]: more than {MAX_ACTIONS} actions; the rest is left out"));
        }
        let mut fields = match (item, key) {
            (Json::String(_), "confirmations") => Fields { path: format!("{key}[{i}]"), entries: &[], errors },
            (Json::Object(entries), _) => Fields { path: format!("{key}[{i}]"), entries, errors },
            (other, _) => {
                let expected = if key == "confirmations" { "a UUID string" } else { "an object" };
                errors.push(format!("{key}[{i}]: must be {expected}, not {}", describe(other)));
                result.dropped += 1;
                continue;
            }
        };
        let kept = match key {
            "new_facts" => fields.new_fact().map(|fact| result.new_facts.push(fact)),
            "updated_facts" => fields.updated_fact().map(|fact| result.updated_facts.push(fact)),
            "new_rules" => fields.new_rule().map(|rule| result.new_rules.push(rule)),
            // A repeated confirmation counts once.
            _ => fields.confirmation(item).map(|confirmation| {
                if confirmed.insert(confirmation.id) {
                    result.confirmations.push(confirmation);
                }
            }),
        };
        result.dropped += usize::from(kept.is_none());
    }
}

/// The fields of one action.
struct Fields<'a> {
    /// The location in the answer, such as `new_facts[2]`; errors begin with it.
    path: String,
    entries: &'a [(String, Json)],
    errors: &'a mut Errors,
}

impl<'a> Fields<'a> {
    fn new_fact(&mut self) -> Option<NewFact> {
        // All fields are checked before the function returns, so that one run reports every problem.
        let (subject, predicate, content) = self.triple();
        Some(NewFact {
            permanence: self.permanence().unwrap_or(Permanence::Standard),
            importance: self.importance().unwrap_or(DEFAULT_IMPORTANCE),
            tags: self.tags().unwrap_or_default(),
            episode_ids: self.episode_ids(),
            subject: subject?,
            predicate: predicate?,
            content: content?,
        })
    }

    fn updated_fact(&mut self) -> Option<UpdatedFact> {
        let target_id = self.id("target_id").map(FactId);
        let (subject, predicate, content) = self.triple();
        Some(UpdatedFact {
            permanence: self.permanence(),
            importance: self.importance(),
            tags: self.tags(),
            episode_ids: self.episode_ids(),
            target_id: target_id?,
            subject: subject?,
            predicate: predicate?,
            content: content?,
        })
    }

    fn new_rule(&mut self) -> Option<NewRule> {
        let content = self.text("content", limits::CONTENT_BYTES);
        Some(NewRule {
            permanence: self.permanence(),
            tags: self.tags().unwrap_or_default(),
            episode_ids: self.episode_ids(),
            content: content?,
        })
    }

    /// Reads a plain id, as specified, or an object with an id, which can also name its episodes.
    fn confirmation(&mut self, item: &Json) -> Option<Confirmation> {
        let id = match item {
            Json::String(text) => self.checked_uuid(&self.path.clone(), text),
            _ => {
                let names = ["id", "target_id", "memory_id", "fact_id", "rule_id"];
                let name = names.into_iter().find(|name| self.get(name).is_some()).unwrap_or("id");
                self.id(name)
            }
        };
        Some(Confirmation { episode_ids: self.episode_ids(), id: id? })
    }

    /// The value of a field. Of duplicate keys the last counts, and null counts as missing.
    fn get(&self, name: &str) -> Option<&'a Json> {
        self.entries.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value).filter(|v| **v != Json::Null)
    }

    fn problem(&mut self, name: &str, message: impl std::fmt::Display) {
        self.errors.push(format!("{}.{name}: {message}", self.path));
    }

    fn triple(&mut self) -> (Option<String>, Option<String>, Option<String>) {
        (
            self.text("subject", limits::SUBJECT_BYTES),
            self.text("predicate", limits::PREDICATE_BYTES),
            self.text("content", limits::CONTENT_BYTES),
        )
    }

    fn text(&mut self, name: &str, max_bytes: usize) -> Option<String> {
        let text = match self.get(name) {
            Some(Json::String(text)) => text.trim().to_owned(),
            // Accepts "content": 42.
            Some(Json::Number(number)) => {
                self.problem(name, "a number where text was expected; read as text");
                number.to_string()
            }
            Some(Json::Bool(value)) => {
                self.problem(name, "a boolean where text was expected; read as text");
                value.to_string()
            }
            Some(other) => {
                self.problem(name, format_args!("must be text, not {}", describe(other)));
                return None;
            }
            None => {
                self.problem(name, "missing");
                return None;
            }
        };
        self.checked(validate::required_text(&format!("{}.{name}", self.path), &text, max_bytes))
    }

    fn id(&mut self, name: &str) -> Option<Uuid> {
        match self.get(name) {
            Some(Json::String(text)) => self.checked_uuid(&format!("{}.{name}", self.path), text),
            Some(other) => {
                self.problem(name, format_args!("must be a UUID string, not {}", describe(other)));
                None
            }
            None => {
                self.problem(name, "missing");
                None
            }
        }
    }

    fn checked_uuid(&mut self, field: &str, text: &str) -> Option<Uuid> {
        self.checked(validate::uuid(field, text))
    }

    fn checked<T>(&mut self, result: Result<T, Invalid>) -> Option<T> {
        result.map_err(|invalid| self.errors.push(invalid.to_string())).ok()
    }

    fn permanence(&mut self) -> Option<Permanence> {
        let parsed = match self.get("permanence")? {
            Json::String(text) => text.trim().to_lowercase().parse().map_err(|e| format!("{e}")),
            other => Err(format!("must be text, not {}", describe(other))),
        };
        parsed.map_err(|why| self.problem("permanence", why)).ok()
    }

    /// Clamps a number that is out of range instead of rejecting it: a model that writes 12 means "very important".
    fn importance(&mut self) -> Option<f64> {
        let number = match self.get("importance")? {
            Json::Number(number) => Some(*number),
            Json::String(text) => text.trim().parse().ok().filter(|n: &f64| n.is_finite()),
            _ => None,
        };
        if number.is_none() {
            self.problem("importance", "must be a number; the default is used");
        }
        number.map(|n| n.clamp(MIN_IMPORTANCE, crate::scoring::MAX_IMPORTANCE))
    }

    fn tags(&mut self) -> Option<Vec<String>> {
        let mut tags = self.strings("tags", |this, field, text| {
            this.checked(validate::required_text(field, text.trim(), limits::TAG_BYTES))
        })?;
        if tags.len() > limits::TAGS {
            self.problem("tags", format_args!("{} tags; the first {} are kept", tags.len(), limits::TAGS));
            tags.truncate(limits::TAGS);
        }
        Some(tags)
    }

    fn episode_ids(&mut self) -> Vec<EpisodeId> {
        self.strings("episode_ids", |this, field, text| this.checked_uuid(field, text).map(EpisodeId))
            .unwrap_or_default()
    }

    fn strings<T>(&mut self, name: &str, read: impl Fn(&mut Self, &str, &str) -> Option<T>) -> Option<Vec<T>> {
        let items = match self.get(name)? {
            Json::Array(items) => items,
            other => {
                self.problem(name, format_args!("must be a list, not {}", describe(other)));
                return None;
            }
        };
        let mut out = Vec::new();
        for (i, item) in items.iter().enumerate() {
            match item {
                Json::String(text) => out.extend(read(self, &format!("{}.{name}[{i}]", self.path), text)),
                other => self.problem(&format!("{name}[{i}]"), format_args!("must be text, not {}", describe(other))),
            }
        }
        Some(out)
    }
}

fn describe(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}
