//! One call of a tool: the arguments that mean the same everywhere, read once.

use butler_domain::event::Origin;
use butler_domain::validate::{self, Invalid};
use butler_domain::{TenantId, Timestamp, limits};
use butler_store::{Session, WriteContext};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{Caller, Memory, fields};

/// Accepted by every tool and kept out of each tool's own arguments.
const REQUEST_CONTEXT: &str = "request_context";
const TENANT_ID: &str = "tenant_id";
const IDEMPOTENCY_KEY: &str = "idempotency_key";
/// A name this similar to an unknown one is probably what was meant.
const NEAR: f64 = 0.7;

/// For whom, by whom and when.
#[derive(Debug, Clone)]
pub struct Call {
    pub tenant: TenantId,
    pub origin: Origin,
    pub now: Timestamp,
    /// The caller's name for this request: asked again under the same name, a store tool answers as before and writes nothing.
    pub idempotency_key: Option<String>,
}

impl Call {
    /// A call by the program itself, for instance a worker.
    pub fn internal(memory: &Memory, tenant: TenantId, actor: impl Into<String>) -> Self {
        let origin = Origin { actor: Some(actor.into()), request_id: None };
        Self { tenant, origin, now: memory.now(), idempotency_key: None }
    }

    /// The context of a write that this call makes.
    pub(crate) fn write<'a>(&'a self, session: &'a mut Session) -> WriteContext<'a> {
        WriteContext { session, tenant: &self.tenant, now: self.now, origin: &self.origin }
    }

    /// Takes what is common out of the arguments.
    pub(crate) fn take(memory: &Memory, caller: &Caller, arguments: &mut Map<String, Value>) -> Result<Self, Invalid> {
        let context = match arguments.remove(REQUEST_CONTEXT) {
            Some(value) => validate::object(REQUEST_CONTEXT, &value)?,
            None => Map::new(),
        };
        let argument = name(TENANT_ID, arguments.remove(TENANT_ID))?;
        let in_context = name("request_context.tenant_id", context.get(TENANT_ID).cloned())?;
        if let (Some(argument), Some(in_context)) = (&argument, &in_context)
            && argument != in_context
        {
            let message = format!("{argument:?} differs from request_context.tenant_id {in_context:?}");
            return Err(Invalid::new(TENANT_ID, message).hint("give it once"));
        }
        let tenant = caller.resolve(argument.or(in_context))?;
        let actor = caller.actor.clone().unwrap_or_else(|| memory.butler().to_string());
        let origin = Origin { actor: Some(actor), request_id: request_id(&context)? };
        let idempotency_key = key("request_context.idempotency_key", context.get(IDEMPOTENCY_KEY))?;
        Ok(Self { tenant, origin, now: memory.now(), idempotency_key })
    }

    /// The key may also be an argument of its own.
    pub(crate) fn keyed_by(mut self, argument: Option<&Value>) -> Result<Self, Invalid> {
        let argument = key(IDEMPOTENCY_KEY, argument)?;
        if let (Some(argument), Some(in_context)) = (&argument, &self.idempotency_key)
            && argument != in_context
        {
            let message = format!("{argument:?} differs from request_context.idempotency_key {in_context:?}");
            return Err(Invalid::new(IDEMPOTENCY_KEY, message).hint("give it once"));
        }
        self.idempotency_key = argument.or(self.idempotency_key);
        Ok(self)
    }
}

fn name(field: &str, value: Option<Value>) -> Result<Option<TenantId>, Invalid> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => Ok(Some(TenantId::new(validate::string(field, &value)?)?)),
    }
}

fn key(field: &str, value: Option<&Value>) -> Result<Option<String>, Invalid> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            validate::required_text(field, validate::string(field, value)?, limits::IDEMPOTENCY_KEY_BYTES).map(Some)
        }
    }
}

/// Read leniently once more for the answer to a call that failed.
pub(crate) fn request_id_of(arguments: &Map<String, Value>) -> Option<String> {
    let context = validate::object(REQUEST_CONTEXT, arguments.get(REQUEST_CONTEXT)?).ok()?;
    request_id(&context).ok()?
}

/// Some callers number their requests.
fn request_id(context: &Map<String, Value>) -> Result<Option<String>, Invalid> {
    const FIELD: &str = "request_context.request_id";
    match context.get("request_id") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(value) => {
            validate::required_text(FIELD, validate::string(FIELD, value)?, limits::REQUEST_ID_BYTES).map(Some)
        }
    }
}

/// A tool's own arguments: other names for the same thing are accepted, unknown ones are not.
pub(crate) fn parse<T: DeserializeOwned>(
    mut arguments: Map<String, Value>,
    aliases: &[(&str, &str)],
) -> Result<T, Invalid> {
    for (alias, real) in aliases {
        if let Some(value) = arguments.remove(*alias) {
            arguments.entry(*real).or_insert(value);
        }
    }
    let known = fields::of::<T>();
    if let Some(unknown) = arguments.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(unknown_argument(unknown, known));
    }
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        // the structs hold plain values, which validation turns into types; what can fail here is a missing one
        let text = error.to_string();
        let field = text.split('`').nth(1).unwrap_or("arguments");
        if text.starts_with("missing field") {
            Invalid::new(field, "is required")
        } else {
            Invalid::new("arguments", text)
        }
    })
}

fn unknown_argument(given: &str, known: &[&str]) -> Invalid {
    let all = known.iter().copied().chain([REQUEST_CONTEXT]);
    let similar = all.clone().map(|name| (strsim::jaro_winkler(given, name), name));
    let hint = match similar.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((score, nearest)) if score >= NEAR => format!("did you mean {nearest}?"),
        _ => format!("valid are {}", all.collect::<Vec<_>>().join(", ")),
    };
    Invalid::new(given, "is not an argument of this tool").hint(hint)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Input {
        memory_type: Value,
        limit: Option<Value>,
    }

    fn parsed(arguments: Value) -> Result<Input, Invalid> {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        parse(arguments, &[("type", "memory_type")])
    }

    #[test]
    fn an_unknown_argument_names_the_nearest_valid_one() {
        let error = parsed(json!({"memory_type": "fact", "limmit": 3})).unwrap_err();
        assert_eq!(error.to_string(), "limmit: is not an argument of this tool");
        assert_eq!(error.hint.as_deref(), Some("did you mean limit?"));
        let error = parsed(json!({"memory_type": "fact", "zzz": 3})).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("valid are memory_type, limit, request_context"));
    }

    #[test]
    fn a_missing_argument_is_named_and_null_counts_as_left_out() {
        assert_eq!(parsed(json!({})).unwrap_err().to_string(), "memory_type: is required");
        assert!(parsed(json!({"memory_type": "fact", "limit": null})).unwrap().limit.is_none());
    }

    #[test]
    fn type_is_an_alias_of_memory_type_which_wins() {
        assert_eq!(parsed(json!({"type": "fact"})).unwrap().memory_type, json!("fact"));
        assert_eq!(parsed(json!({"type": "fact", "memory_type": "rule"})).unwrap().memory_type, json!("rule"));
    }
}
