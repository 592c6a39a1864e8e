//! Redacts the texts of a JSON value, which is how text comes in: as arguments, bodies and records.

use serde_json::{Map, Value};

use super::Redactor;

/// A shorter number is no card number.
const CARD_DIGITS: usize = 13;

impl Redactor {
    /// Redacts every text in a value, and the names in it. Returns how many secrets were replaced.
    pub fn redact_json(&self, value: &mut Value) -> usize {
        match value {
            Value::String(text) => self.redact_text(text),
            Value::Array(items) => items.iter_mut().map(|item| self.redact_json(item)).sum(),
            Value::Object(object) => self.redact_object(object),
            Value::Number(number) => {
                let mut text = number.to_string();
                let found = if text.len() < CARD_DIGITS { 0 } else { self.redact_text(&mut text) };
                if found > 0 {
                    *value = Value::String(text);
                }
                found
            }
            Value::Null | Value::Bool(_) => 0,
        }
    }

    /// Redacts every text in an object. The name of a text can show that it is a secret, as in `{"password": "…"}`; for
    /// the content of a fact this is its predicate.
    pub fn redact_object(&self, object: &mut Map<String, Value>) -> usize {
        let predicate = object.get("predicate").and_then(Value::as_str).map(str::to_owned);
        let mut found = 0;
        for (key, value) in object.iter_mut() {
            found += match value {
                Value::String(text) => {
                    let name = predicate.as_ref().filter(|_| key == "content").unwrap_or(key);
                    self.redact_named(name, text)
                }
                other => self.redact_json(other),
            };
        }
        if object.keys().any(|key| self.redact(key).found > 0) {
            let entries = std::mem::take(object).into_iter().map(|(mut key, value)| {
                found += self.redact_text(&mut key);
                (key, value)
            });
            *object = entries.collect();
        }
        found
    }

    /// Redacts a text that has a name, which may be what shows that it is a secret.
    pub fn redact_named(&self, name: &str, text: &mut String) -> usize {
        let found = self.redact_text(text);
        if !self.scanner.is_some_and(|scanner| scanner.has_anchor(name)) {
            return found;
        }
        // Only the name is new, so only secrets at the start of the text can be new.
        let name = format!("{name}=");
        let pair = format!("{name}{text}");
        let redacted = self.redact(&pair);
        match redacted.text.strip_prefix(&name) {
            Some(rest) if redacted.found > 0 => {
                rest.clone_into(text);
                found + redacted.found
            }
            _ => found,
        }
    }

    /// Redacts a text in place. Returns how many secrets were replaced.
    pub fn redact_text(&self, text: &mut String) -> usize {
        let redacted = self.redact(text);
        let found = redacted.found;
        if found > 0 {
            *text = redacted.text.into_owned();
        }
        found
    }
}
