//! One call of a tool, parsed once where it enters the process.

use std::sync::Arc;

use butler_domain::event::Origin;
use butler_domain::secrets::Redactor;
use butler_domain::validate::{self, Invalid};
use butler_domain::{Source, TenantId, limits};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{Right, ToolSpec};
use crate::{Call, Caller, Memory};

/// Every tool accepts it, and no tool sees it among its own arguments.
pub(super) const REQUEST_CONTEXT: &str = "request_context";
pub(super) const IDEMPOTENCY_KEY: &str = "idempotency_key";
const TENANT_ID: &str = "tenant_id";
const SOURCE: &str = "source";

/// A call on its way to the tool.
#[derive(Clone)]
pub struct ToolCall {
    pub spec: Arc<ToolSpec>,
    pub caller: Caller,
    pub request_id: Option<String>,
    pub session_id: Option<String>,
    pub idempotency_key: Option<String>,
    /// What the caller says about where the text comes from, which can only lower its trust.
    source: Source,
    /// The tool's own arguments, not yet parsed.
    pub arguments: Map<String, Value>,
    /// Whose memory the call works on, or what is wrong with the arguments that every tool accepts. The tool reports
    /// the error, so that such a call is counted and traced like every other one.
    tenant: Result<TenantId, Invalid>,
}

impl ToolCall {
    /// Takes the arguments that every tool accepts out of `arguments`, and replaces the secrets in them.
    pub fn parse(spec: &Arc<ToolSpec>, caller: Caller, arguments: Map<String, Value>, redactor: &Redactor) -> Self {
        let mut call = Self {
            spec: Arc::clone(spec),
            caller,
            request_id: None,
            session_id: None,
            idempotency_key: None,
            source: Source::Person,
            arguments,
            tenant: Ok(TenantId::default()),
        };
        call.tenant = call.take_common(redactor);
        call
    }

    fn take_common(&mut self, redactor: &Redactor) -> Result<TenantId, Invalid> {
        let context = match self.arguments.remove(REQUEST_CONTEXT) {
            Some(value) => validate::object(REQUEST_CONTEXT, &value)?,
            None => Map::new(),
        };
        // First, so that an error in another argument names the request as well.
        self.request_id = label(&context, "request_id", limits::REQUEST_ID_BYTES, redactor)?;
        self.session_id = label(&context, "session_id", limits::SESSION_ID_BYTES, redactor)?;
        if let Some(value) = context.get(SOURCE).filter(|value| !validate::is_omitted(value)) {
            self.source =
                validate::one_of("request_context.source", validate::string("request_context.source", value)?)?;
        }
        let tenant = once(
            TENANT_ID,
            tenant(TENANT_ID, self.arguments.remove(TENANT_ID).as_ref())?,
            tenant("request_context.tenant_id", context.get(TENANT_ID))?,
        )?;
        let tenant = self.caller.resolve(tenant)?;
        // A tool that does not know the argument rejects it by name.
        let argument = if self.spec.takes_idempotency_key { self.arguments.remove(IDEMPOTENCY_KEY) } else { None };
        self.idempotency_key = once(
            IDEMPOTENCY_KEY,
            key(IDEMPOTENCY_KEY, argument.as_ref(), redactor)?,
            key("request_context.idempotency_key", context.get(IDEMPOTENCY_KEY), redactor)?,
        )?;
        Ok(tenant)
    }

    /// Whether this call is a decision for persons, and the caller may be an agent: it has no token.
    pub fn lacks_person(&self) -> bool {
        self.spec.only_persons_change && self.changes() && !self.caller.is_person()
    }

    /// The right that the caller's token needs for this call.
    pub fn right(&self) -> Right {
        if self.changes() { self.spec.changing_right } else { self.spec.right }
    }

    /// Whether the argument `action` is one that needs the higher right.
    fn changes(&self) -> bool {
        // Spellings of a name are accepted, so all but an exact match needs the higher right.
        let reads = self
            .arguments
            .get("action")
            .is_none_or(|action| self.spec.reading_actions.contains(&action.as_str().unwrap_or_default()));
        !self.spec.reading_actions.is_empty() && !reads
    }

    /// Whether the call is safe to retry when its outcome is unknown.
    pub fn is_safe_to_retry(&self) -> bool {
        self.spec.annotations.read_only || (self.spec.takes_idempotency_key && self.idempotency_key.is_some())
    }

    /// For whom, by whom and when the use case works.
    pub(super) fn context(&self, memory: &Memory) -> Result<Call, Invalid> {
        let actor = self.caller.actor.clone().unwrap_or_else(|| memory.butler().to_string());
        Ok(Call {
            tenant: self.tenant.clone()?,
            origin: Origin { actor: Some(actor), request_id: self.request_id.clone() },
            now: memory.now(),
            session: self.session_id.clone(),
            idempotency_key: self.idempotency_key.clone(),
            source: self.caller.source.lowered_to(self.source),
        })
    }
}

/// The value of an argument that may stand among the arguments or in `request_context`.
fn once<T: PartialEq + std::fmt::Debug>(
    field: &str,
    argument: Option<T>,
    in_context: Option<T>,
) -> Result<Option<T>, Invalid> {
    if let (Some(argument), Some(in_context)) = (&argument, &in_context)
        && argument != in_context
    {
        let message = format!("{argument:?} differs from request_context.{field} {in_context:?}");
        return Err(Invalid::new(field, message).hint("give it once"));
    }
    Ok(argument.or(in_context))
}

fn tenant(field: &str, value: Option<&Value>) -> Result<Option<TenantId>, Invalid> {
    match value.filter(|value| !validate::is_omitted(value)) {
        None => Ok(None),
        Some(value) => Ok(Some(TenantId::new(validate::string(field, value)?)?)),
    }
}

fn key(field: &str, value: Option<&Value>, redactor: &Redactor) -> Result<Option<String>, Invalid> {
    match value.filter(|value| !validate::is_omitted(value)) {
        None => Ok(None),
        Some(value) => {
            let key = validate::required_text(field, validate::string(field, value)?, limits::IDEMPOTENCY_KEY_BYTES)?;
            let is_secret = redactor.redact(&key).found > 0;
            // The mark would be the same for different keys.
            Ok(Some(if is_secret { Uuid::new_v5(&Uuid::NAMESPACE_OID, key.as_bytes()).to_string() } else { key }))
        }
    }
}

/// A label in `request_context`. A number is accepted as well: some callers number their requests.
fn label(
    context: &Map<String, Value>,
    name: &str,
    max_bytes: usize,
    redactor: &Redactor,
) -> Result<Option<String>, Invalid> {
    let field = format!("{REQUEST_CONTEXT}.{name}");
    match context.get(name).filter(|value| !validate::is_omitted(value)) {
        None => Ok(None),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(value) => validate::label(&field, validate::string(&field, value)?, max_bytes, redactor).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: &str, arguments: Value) -> ToolCall {
        let tools = crate::tools();
        let tool = tools.iter().find(|known| known.spec().name == tool).expect("a tool");
        let Value::Object(arguments) = arguments else { panic!("an object") };
        ToolCall::parse(tool.spec(), Caller::trusted(), arguments, &Redactor::standard())
    }

    #[test]
    fn the_common_arguments_are_taken_out_of_the_tool_s_own() {
        let context = json!({"request_id": 7, "session_id": "s-1", "tenant_id": "ann", "idempotency_key": "k"});
        let call = call("memory_store_rule", json!({"content": "Ask first", "request_context": context}));
        assert_eq!((call.request_id.as_deref(), call.idempotency_key.as_deref()), (Some("7"), Some("k")));
        assert_eq!(call.session_id.as_deref(), Some("s-1"));
        assert_eq!(call.tenant, Ok(TenantId::new("ann").unwrap()));
        assert_eq!(Value::Object(call.arguments), json!({"content": "Ask first"}));
    }

    #[test]
    fn an_invalid_common_argument_is_kept_for_the_tool_to_report() {
        let call = call("memory_stats", json!({"request_context": {"request_id": "r", "tenant_id": 3}}));
        assert_eq!(call.request_id.as_deref(), Some("r"), "the error names the request");
        assert_eq!(call.tenant.unwrap_err().field, "request_context.tenant_id");
    }

    #[test]
    fn the_request_id_and_the_key_follow_the_configured_patterns() {
        let tools = crate::tools();
        let spec = tools.iter().map(crate::tool::Tool::spec).find(|spec| spec.name == "memory_store_rule").unwrap();
        let given = json!({"idempotency_key": "badge 123", "request_context": {"request_id": "badge 123"}});
        let arguments = given.as_object().unwrap().clone();
        let redactor = Redactor::with(&[("badge".to_owned(), "badge [0-9]+".to_owned())]).unwrap();
        let call = ToolCall::parse(spec, Caller::trusted(), arguments, &redactor);
        assert_eq!(call.request_id.as_deref(), Some("[redacted: badge]"));
        assert!(call.idempotency_key.is_some_and(|key| !key.contains("123") && key.len() == 36));
    }

    #[test]
    fn an_action_that_changes_needs_admin_however_it_is_spelled() {
        for action in ["resolve", "Resolve", " resolve", "resolves", "reopen", "List", "anything"] {
            assert_eq!(call("memory_conflicts", json!({ "action": action })).right(), Right::Admin, "{action}");
        }
        assert_eq!(call("memory_conflicts", json!({"action": ["resolve"]})).right(), Right::Admin);
        assert_eq!(call("memory_conflicts", json!({"action": "list"})).right(), Right::Read);
        assert_eq!(call("memory_conflicts", json!({})).right(), Right::Read);
        assert_eq!(call("memory_store_rule", json!({"action": "x"})).right(), Right::Write);
        for (action, right) in
            [("list", Right::Read), ("search", Right::Read), ("register", Right::Write), ("x", Right::Write)]
        {
            assert_eq!(call("memory_predicates", json!({ "action": action })).right(), right, "{action}");
        }
    }

    #[test]
    fn a_call_is_safe_to_retry_if_it_reads_or_its_key_is_honoured() {
        let keyed = json!({"request_context": {"idempotency_key": "k"}});
        assert!(call("memory_stats", json!({})).is_safe_to_retry());
        assert!(!call("memory_store_rule", json!({"content": "c"})).is_safe_to_retry());
        assert!(call("memory_store_rule", json!({"content": "c", "idempotency_key": "k"})).is_safe_to_retry());
        assert!(call("memory_store_rule", keyed.clone()).is_safe_to_retry());
        assert!(!call("memory_mark_helpful", keyed).is_safe_to_retry(), "each call counts, key or not");
    }

    #[test]
    fn a_tool_without_keys_leaves_one_to_its_check_for_unknown_arguments() {
        let call = call("memory_forget", json!({"idempotency_key": "k"}));
        assert!(call.idempotency_key.is_none() && call.arguments.contains_key(IDEMPOTENCY_KEY));
    }
}
