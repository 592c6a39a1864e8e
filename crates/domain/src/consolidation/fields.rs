//! Reads the fields of one action. Every problem is reported with its location.

use uuid::Uuid;

use super::actions::{Confirmation, NewEntity, NewFact, NewRule, UpdatedFact};
use super::errors::Errors;
use super::json::Json;
use crate::dates::{GivenDate, check_interval};
use crate::ids::{EpisodeId, FactId};
use crate::kinds::{EntityType, Permanence};
use crate::limits;
use crate::resolve::entity_name;
use crate::times::GivenTexts;
use crate::validate::{self, Invalid};

const MIN_IMPORTANCE: f64 = 1.0;

/// The fields of one action.
pub(super) struct Fields<'a> {
    /// The location in the answer, such as `new_facts[2]`; errors begin with it.
    pub path: String,
    pub entries: &'a [(String, Json)],
    pub errors: &'a mut Errors,
}

impl<'a> Fields<'a> {
    pub fn new_fact(&mut self) -> Option<NewFact> {
        // All fields are checked before the function returns, so that one run reports every problem.
        let (subject, predicate, content) = self.triple();
        Some(NewFact {
            object: self.object(),
            permanence: self.permanence(),
            importance: self.importance(),
            tags: self.tags(),
            dates: self.dates(),
            episode_ids: self.episode_ids(),
            subject: subject?,
            predicate: predicate?,
            content: content?,
        })
    }

    pub fn updated_fact(&mut self) -> Option<UpdatedFact> {
        let target_id = self.id("target_id").map(FactId);
        let (subject, predicate, content) = self.triple();
        Some(UpdatedFact {
            permanence: self.permanence(),
            importance: self.importance(),
            tags: self.tags(),
            dates: self.dates(),
            episode_ids: self.episode_ids(),
            target_id: target_id?,
            subject: subject?,
            predicate: predicate?,
            content: content?,
        })
    }

    pub fn new_entity(&mut self) -> Option<NewEntity> {
        let name = if self.get("name").is_some() { "name" } else { "canonical_name" };
        let name = self.text(name, limits::ENTITY_NAME_BYTES)?;
        let name = self.checked(entity_name(&format!("{}.name", self.path), &name));
        let mut aliases = self.strings("aliases", |this, field, text| this.checked(entity_name(field, text)));
        aliases.iter_mut().for_each(|aliases| aliases.truncate(limits::ALIASES));
        let entity_type = match self.get("type").or_else(|| self.get("entity_type")) {
            Some(Json::String(text)) => text.trim().to_lowercase().parse().unwrap_or(EntityType::Other),
            _ => EntityType::Other,
        };
        if name.as_deref().is_some_and(|name| matches!(name.to_lowercase().as_str(), "user" | "me" | "i")) {
            self.problem("name", "stands for the owner and is no name");
            return None;
        }
        Some(NewEntity { name: name?, entity_type, aliases: aliases.unwrap_or_default() })
    }

    pub fn new_rule(&mut self) -> Option<NewRule> {
        let content = self.text("content", limits::CONTENT_BYTES);
        Some(NewRule {
            permanence: self.permanence(),
            tags: self.tags().unwrap_or_default(),
            episode_ids: self.episode_ids(),
            content: content?,
        })
    }

    /// Reads a plain id, as specified, or an object with an id, which can also name its episodes.
    pub fn confirmation(&mut self, item: &Json) -> Option<Confirmation> {
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

    /// Most facts relate to no other entity; models then leave it out or write an empty text.
    fn object(&mut self) -> Option<String> {
        match self.get("object")? {
            Json::String(text) if text.trim().is_empty() => None,
            _ => self.text("object", limits::ENTITY_NAME_BYTES),
        }
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

    /// A date that is none, or an end before the start, is left out; the fact may still be worth keeping.
    fn dates(&mut self) -> GivenTexts {
        let (from, to) = (self.date("valid_from"), self.date("valid_to"));
        let observed_at = self.date("observed_at").map(|date| date.text);
        if let Err(why) = check_interval(from.as_ref(), to.as_ref()) {
            self.problem("valid_to", format_args!("{why}; the dates are left out"));
            return GivenTexts { observed_at, ..GivenTexts::default() };
        }
        GivenTexts { valid_from: from.map(|date| date.text), valid_to: to.map(|date| date.text), observed_at }
    }

    /// In which time zone does not matter here: the text is kept.
    fn date(&mut self, name: &str) -> Option<GivenDate> {
        let text = match self.get(name)? {
            Json::String(text) if text.trim().is_empty() => return None,
            Json::String(text) => text.clone(),
            Json::Number(number) => number.to_string(),
            other => {
                self.problem(name, format_args!("must be a date, not {}", describe(other)));
                return None;
            }
        };
        GivenDate::parse(&text, chrono_tz::UTC)
            .map_err(|why| self.problem(name, format_args!("{why}; it is left out")))
            .ok()
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

/// Names the type of a value.
pub(super) fn describe(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}
