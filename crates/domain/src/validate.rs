//! Validates the arguments of a call and converts them to domain types. An error names the argument, the reason and,
//! where possible, a valid alternative. Later code relies on these checks. Validated text contains no NUL.

mod collections;
mod numbers;
mod times;

use std::str::FromStr;

use serde_json::Value;
use uuid::Uuid;

use crate::kinds::UnknownName;
use crate::limits;
use crate::secrets::Redactor;
use crate::tenant::NameError;
use crate::text;

pub use collections::{aliases, metadata, object, predicates, small_object, tags};
pub use numbers::{hops, importance, limit, min_confidence, number, token_budget, whole_number};
pub use times::{plausible_time, time};

/// An invalid argument. The call wrote nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct Invalid {
    /// The argument's name, with the path inside it, such as `tags[1]`.
    pub field: String,
    pub message: String,
    /// What the caller can do instead.
    pub hint: Option<String>,
}

impl Invalid {
    /// An error without a hint. The message is the rest of a sentence that begins with the field.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into(), hint: None }
    }

    /// Adds a hint to the error.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// An error that says which type was expected and what was given instead.
    pub fn wrong_type(field: &str, expected: &str, given: &Value) -> Self {
        Self::new(field, format!("must be {expected}, not {}", describe(given)))
            .hint(format!("give {field} as {expected}"))
    }
}

impl From<NameError> for Invalid {
    fn from(error: NameError) -> Self {
        let field = match &error {
            NameError::Empty(what) | NameError::Control(what) | NameError::TooLong { what, .. } => *what,
        };
        let hint = match &error {
            NameError::Empty(_) => format!("give a name, or leave {field} out where it is optional"),
            NameError::Control(_) => "use printable characters only".to_owned(),
            NameError::TooLong { .. } => "use a shorter name".to_owned(),
        };
        Self::new(field, error.to_string()).hint(hint)
    }
}

/// Describes a value in an error message: its type, and its text if that is short.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => format!("the boolean {b}"),
        Value::Number(n) => format!("the number {n}"),
        Value::String(s) if s.chars().count() <= 40 => format!("the string {s:?}"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// The text of a JSON string.
pub fn string<'a>(field: &str, value: &'a Value) -> Result<&'a str, Invalid> {
    value.as_str().ok_or_else(|| Invalid::wrong_type(field, "a string", value))
}

/// A text of at most `max_bytes` that is not blank. Only NUL is removed from it.
pub fn required_text(field: &str, raw: &str, max_bytes: usize) -> Result<String, Invalid> {
    let text = text::strip_nul(raw);
    if text.trim().is_empty() {
        return Err(Invalid::new(field, "must not be empty").hint(format!("write the text into {field}")));
    }
    if text.len() > max_bytes {
        let message = format!("is {} bytes long; at most {max_bytes} are allowed", text.len());
        return Err(Invalid::new(field, message).hint(format!("shorten {field} to {max_bytes} bytes")));
    }
    Ok(text)
}

/// The caller's name for its request or session, without secrets: events, logs and traces contain it.
pub fn label(field: &str, raw: &str, max_bytes: usize, redactor: &Redactor) -> Result<String, Invalid> {
    required_text(field, &redactor.redact(raw).text, max_bytes)
}

/// The content of a memory, unchanged except for NUL.
pub fn content(raw: &str) -> Result<String, Invalid> {
    required_text("content", raw, limits::CONTENT_BYTES)
        .map_err(|e| if raw.len() > limits::CONTENT_BYTES { e.hint("split it into several memories") } else { e })
}

/// A fact's subject, trimmed: subject and predicate form the key by which a fact supersedes another.
pub fn subject(raw: &str) -> Result<String, Invalid> {
    one_line("subject", raw, limits::SUBJECT_BYTES)
}

/// A fact's predicate, trimmed like the [`subject`].
pub fn predicate(raw: &str) -> Result<String, Invalid> {
    one_line("predicate", raw, limits::PREDICATE_BYTES)
}

fn one_line(field: &str, raw: &str, max_bytes: usize) -> Result<String, Invalid> {
    let text = text::without_control(&text::strip_nul(raw));
    required_text(field, text.trim(), max_bytes)
}

/// The reason of a mark or a forget; `None` if it is blank.
pub fn reason(raw: &str) -> Result<Option<String>, Invalid> {
    if text::strip_nul(raw).trim().is_empty() {
        return Ok(None);
    }
    required_text("reason", raw, limits::REASON_BYTES).map(Some)
}

/// A search query with normalised whitespace, cut to the longest one allowed, because its beginning shows the topic. An
/// empty query is valid and finds nothing. Also returns whether it was cut.
pub fn query(raw: &str) -> (String, bool) {
    let mut query = text::single_spaced(raw);
    let cut = query.len() > limits::QUERY_BYTES;
    query.truncate(query.floor_char_boundary(limits::QUERY_BYTES));
    (query, cut)
}

/// True or false, also as text.
pub fn flag(field: &str, value: &Value) -> Result<bool, Invalid> {
    let named = |text: &str| match text.trim().to_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    };
    let flag = value.as_bool().or_else(|| value.as_str().and_then(named));
    flag.ok_or_else(|| Invalid::wrong_type(field, "true or false", value))
}

/// Whether an optional argument counts as omitted: null, or a blank text.
pub fn is_omitted(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text::strip_nul(text).trim().is_empty(),
        _ => false,
    }
}

/// A UUID in any of its usual spellings.
pub fn uuid(field: &str, raw: &str) -> Result<Uuid, Invalid> {
    Uuid::from_str(raw.trim()).map_err(|_| {
        let shown: String = raw.chars().take(60).collect();
        Invalid::new(field, format!("{shown:?} is not a UUID"))
            .hint("ids look like 0190b3c4-7a5e-7f00-8000-000000000000")
    })
}

/// A memory as a caller names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdOrEnd {
    Id(Uuid),
    /// The end of an id, as a line of a context block shows it: at least four hexadecimal digits, without hyphens.
    End(String),
}

/// A UUID, or the end of one, with or without the brackets of a context line.
pub fn id_or_end(field: &str, raw: &str) -> Result<IdOrEnd, Invalid> {
    let text = raw.trim().trim_start_matches('[').trim_end_matches(']');
    let end: String = text.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
    if (4..32).contains(&end.len()) && end.chars().all(|c| c.is_ascii_hexdigit()) {
        return Ok(IdOrEnd::End(end));
    }
    uuid(field, text).map(IdOrEnd::Id)
}

/// The session's UUID. Null and blank strings mean that there is no session.
pub fn session_id(value: &Value) -> Result<Option<Uuid>, Invalid> {
    if is_omitted(value) {
        return Ok(None);
    }
    uuid("session_id", string("session_id", value)?).map(Some)
}

/// A value of one of the enumerations in [`kinds`](crate::kinds). Case, hyphens and a plural are accepted, as in `Facts`
/// and `anti-pattern`. The error lists the valid names.
pub fn one_of<T: FromStr<Err = UnknownName>>(field: &str, raw: &str) -> Result<T, Invalid> {
    let name = raw.trim();
    let plain = name.to_lowercase().replace(['-', ' '], "_");
    let singular = plain.strip_suffix('s').unwrap_or(&plain);
    let parsed = name.parse::<T>().or_else(|error| plain.parse().or_else(|_| singular.parse()).map_err(|_| error));
    parsed.map_err(|error| {
        let hint = format!("use one of: {}", error.valid.join(", "));
        Invalid::new(field, error.to_string()).hint(hint)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::kinds::Permanence;

    #[test]
    fn empty_content_subject_and_predicate_are_rejected() {
        for rejected in [content(" \n\0"), subject(""), predicate("\0")] {
            assert_eq!(rejected.unwrap_err().message, "must not be empty");
        }
    }

    #[test]
    fn oversized_content_is_rejected_with_its_size() {
        let error = content(&"x".repeat(limits::CONTENT_BYTES + 1)).unwrap_err();
        assert_eq!(error.to_string(), "content: is 1048577 bytes long; at most 1048576 are allowed");
        assert!(error.hint.is_some());
        assert!(content(&"x".repeat(limits::CONTENT_BYTES)).is_ok());
    }

    #[test]
    fn subject_is_trimmed_but_content_is_kept_as_written() {
        assert_eq!(subject(" user\0 ").unwrap(), "user");
        assert_eq!(content("  two\n lines\0 ").unwrap(), "  two\n lines ");
    }

    #[test]
    fn a_blank_session_id_is_none_and_a_malformed_one_is_an_error() {
        assert_eq!(session_id(&json!(null)), Ok(None));
        assert_eq!(session_id(&json!("  ")), Ok(None));
        let id = Uuid::from_u128(7);
        assert_eq!(session_id(&json!(id.to_string())), Ok(Some(id)));
        assert_eq!(session_id(&json!("nope")).unwrap_err().to_string(), "session_id: \"nope\" is not a UUID");
        assert_eq!(session_id(&json!(5)).unwrap_err().message, "must be a string, not the number 5");
    }

    #[test]
    fn invalid_permanence_rejected_listing_the_valid_levels() {
        let error = one_of::<Permanence>("permanence", "forever").unwrap_err();
        for level in Permanence::NAMES {
            assert!(error.message.contains(level), "{error}");
        }
        assert_eq!(one_of::<Permanence>("permanence", "stable"), Ok(Permanence::Stable));
    }

    #[test]
    fn a_query_may_be_empty_and_a_long_one_is_cut() {
        assert_eq!(query(" \0 "), (String::new(), false));
        assert!(!query(&"q".repeat(limits::QUERY_BYTES)).1);
        let (cut, was_cut) = query(&"é".repeat(limits::QUERY_BYTES));
        assert_eq!((cut.len(), was_cut), (limits::QUERY_BYTES, true));
    }

    #[test]
    fn a_name_is_accepted_in_other_spellings_and_an_unknown_one_lists_the_valid_ones() {
        use crate::kinds::{Maturity, MemoryType};
        for name in ["fact", "Fact", " FACTS "] {
            assert_eq!(one_of::<MemoryType>("types", name), Ok(MemoryType::Fact));
        }
        assert_eq!(one_of::<Maturity>("maturity", "Anti-Pattern"), Ok(Maturity::AntiPattern));
        let error = one_of::<MemoryType>("types", "thought").unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("use one of: episode, fact, rule"));
    }

    #[test]
    fn flags_may_be_text() {
        assert_eq!((flag("f", &json!("True")), flag("f", &json!(false))), (Ok(true), Ok(false)));
        assert!(flag("f", &json!("yes")).is_err() && flag("f", &json!(1)).is_err());
    }

    #[test]
    fn a_blank_reason_is_none() {
        assert_eq!(reason(" \0"), Ok(None));
        assert_eq!(reason("late"), Ok(Some("late".to_owned())));
        assert!(reason(&"r".repeat(limits::REASON_BYTES + 1)).is_err());
    }

    proptest! {
        #[test]
        fn validated_text_contains_no_nul(raw in "[a-z\\x00 ]{0,20}") {
            for text in [content(&raw), subject(&raw), predicate(&raw), Ok(query(&raw).0)].into_iter().flatten() {
                prop_assert!(!text.contains('\0'));
            }
        }
    }
}
