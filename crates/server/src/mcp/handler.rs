//! MCP's methods over a butler's tools.

use std::sync::Arc;

use axum::http::request::Parts;
use butler_domain::limits;
use butler_host::access::{Access, Right};
use butler_host::butler::Butler;
use butler_host::env;
use butler_host::host::Host;
use butler_host::module::HostTool;
use butler_host::profile::Profile;
use butler_host::session::SESSION_HEADER;
use butler_memory::tool::{Answer, ErrorCode, ToolCall, ToolError, ToolSpec};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, CustomRequest, CustomResult, ErrorData, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, Reference, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value, json};

use super::{prompts, resources};

/// Lists change only when the program restarts, so clients need not request them again and again.
const LIST_TTL_MS: u64 = 300_000;

/// One butler's tools, resources and prompts.
#[derive(Clone)]
pub struct Handler {
    host: Arc<Host>,
    butler: Arc<Butler>,
    /// The caller of stdio. Over HTTP each request has its own.
    access: Option<Access>,
    profile: Profile,
    /// Built once: schemas are large, and some clients list the tools again and again.
    tools: Arc<[(Tool, Right)]>,
    instructions: Arc<str>,
}

impl Handler {
    pub fn new(host: Arc<Host>, butler: Arc<Butler>, access: Option<Access>, profile: Profile) -> Self {
        let offered = || butler.tools().iter().map(|tool| &**tool.spec()).filter(|spec| profile.offers(spec));
        let tools: Arc<[(Tool, Right)]> = offered().map(|spec| (describe(spec), spec.right)).collect();
        let instructions = super::instructions::of(offered()).into();
        Self { host, butler, access, profile, tools, instructions }
    }

    /// The butler's tool with this name, even if the profile does not offer it.
    pub(super) fn tool(&self, name: &str) -> Option<&dyn HostTool> {
        self.butler.tools().get(name).map(|tool| &**tool)
    }

    pub(super) async fn call(
        &self,
        access: &Access,
        tool: &dyn HostTool,
        arguments: Map<String, Value>,
    ) -> Result<Answer, ToolError> {
        let call = ToolCall::parse(tool.spec(), access.caller.clone(), arguments, self.host.redactor());
        self.host.call(&self.butler, access.rights, tool, call).await
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let name = format!("butler-{}", self.butler.name);
        let mut implementation = Implementation::new(name, env!("CARGO_PKG_VERSION")).with_title("Butler Memory");
        if let Some(description) = &self.butler.config.file.butler.description {
            implementation = implementation.with_description(description);
        }
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities).with_server_info(implementation).with_instructions(&*self.instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // A tool that the caller may not call would only mislead its model.
        let rights = self.access(&context)?.rights;
        self.host.note_agent();
        let tools = self.tools.iter().filter(|(_, right)| rights.include(*right)).map(|(tool, _)| tool.clone());
        let listed = ListToolsResult::with_all_items(tools.collect());
        Ok(listed.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let access = self.access(&context)?;
        let tool = self.tool(&request.name).ok_or_else(|| self.unknown_tool(&request.name))?;
        if !self.profile.offers(tool.spec()) {
            return Err(self.not_offered(&request.name));
        }
        let mut arguments = request.arguments.unwrap_or_default();
        if let Some(session) = self.session(&context) {
            name_session(&mut arguments, session);
        }
        match self.call(access, tool, arguments).await {
            Ok(answer) => Ok(succeeded(answer).into()),
            Err(error) => Ok(failed(&error).into()),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = ListResourcesResult::with_all_items(resources::list(self.butler.name.as_str()));
        Ok(listed.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let listed = ListResourceTemplatesResult::with_all_items(resources::templates());
        Ok(listed.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let mut read = resources::read(self, self.access(&context)?, &request.uri).await?;
        // The content belongs to this caller, and the next call may change it.
        read.ttl_ms = Some(0);
        read.cache_scope = Some(CacheScope::Private);
        Ok(read.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listed = ListPromptsResult::with_all_items(prompts::list());
        Ok(listed.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let access = self.access(&context)?;
        if !access.rights.include(Right::Read) {
            let message = format!("prompts need the right `read`; the token has {}", access.rights);
            return Err(ErrorData::invalid_params(message, None));
        }
        let memory = self.butler.memory().await;
        let arguments = request.arguments.unwrap_or_default();
        Ok(prompts::get(&request.name, &arguments, access, memory.as_deref()).await?.into())
    }

    /// Handles unknown methods, and known methods with invalid parameters, which the library also reports here.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(invalid_request(&request.method))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let known: Vec<&str> = match (&request.r#ref, request.argument.name.as_str()) {
            (Reference::Resource(at), "butler") if at.uri == resources::CONTEXT => vec![self.butler.name.as_str()],
            (Reference::Resource(at), "type") if at.uri == resources::ONE => resources::TYPES.to_vec(),
            _ => Vec::new(),
        };
        let begun = known.into_iter().filter(|value| value.starts_with(&request.argument.value)).map(str::to_owned);
        let completion = CompletionInfo::with_all_values(begun.collect());
        completion.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().map(|(tool, _)| tool).find(|tool| tool.name == name).cloned()
    }
}

impl Handler {
    /// The access of the request, or that of stdio. A request without one did not pass authentication.
    fn access<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> Result<&'a Access, ErrorData> {
        let brought = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Access>());
        brought
            .or(self.access.as_ref())
            .ok_or_else(|| ErrorData::internal_error("this request was not checked for access", None))
    }

    /// The session of the caller, which `butler run` passes in a header, or to `butler mcp` in the environment.
    fn session(&self, context: &RequestContext<RoleServer>) -> Option<String> {
        let header = context.extensions.get::<Parts>().and_then(|parts| parts.headers.get(SESSION_HEADER));
        let session = match header {
            Some(value) => value.to_str().ok().map(str::to_owned),
            None => self.access.as_ref().and_then(|_| env::var(env::SESSION_ID)?.into_string().ok()),
        };
        session.filter(|session| !session.is_empty() && session.len() <= limits::SESSION_ID_BYTES)
    }

    fn not_offered(&self, name: &str) -> ErrorData {
        let profile = self.profile.as_str();
        ErrorData::invalid_params(format!("{name} is not offered by the profile {profile:?}"), None)
    }

    fn unknown_tool(&self, name: &str) -> ErrorData {
        let known = self.tools.iter().map(|(tool, _)| &*tool.name);
        let nearest = known
            .map(|known| (strsim::damerau_levenshtein(name, known), known))
            .filter(|(slips, _)| *slips <= name.len() / 3)
            .min();
        let hint = nearest.map_or_else(
            || "tools/list lists the available tools".to_owned(),
            |(_, known)| format!("did you mean {known}?"),
        );
        ErrorData::invalid_params(format!("unknown tool {name:?}; {hint}"), None)
    }
}

/// The error for a request with an unknown method or with invalid parameters.
pub(super) fn invalid_request(method: &str) -> ErrorData {
    let Some((_, shape)) = METHODS.iter().find(|(known, _)| *known == method) else {
        return ErrorData::new(
            rmcp::model::ErrorCode::METHOD_NOT_FOUND,
            format!("there is no method {method:?}"),
            None,
        );
    };
    let hint = format!("params is {shape}");
    ErrorData::invalid_params(format!("the params of {method} cannot be read; {hint}"), Some(json!({"hint": hint})))
}

/// The methods whose parameters can be invalid, and what they expect.
const METHODS: [(&str, &str); 6] = [
    ("initialize", "{\"protocolVersion\": …, \"capabilities\": {…}, \"clientInfo\": {\"name\": …, \"version\": …}}"),
    ("tools/call", "{\"name\": the tool's name, \"arguments\": an object}"),
    ("tools/list", "{\"cursor\": a text}, or left out"),
    ("resources/read", "{\"uri\": a text}"),
    ("prompts/get", "{\"name\": the prompt's name, \"arguments\": an object}"),
    ("completion/complete", "{\"ref\": {…}, \"argument\": {\"name\": …, \"value\": …}}"),
];

fn describe(spec: &ToolSpec) -> Tool {
    let hints = spec.annotations;
    Tool::new(spec.name, spec.description, Arc::new(spec.input_schema.clone()))
        .with_title(spec.title)
        .with_raw_output_schema(Arc::new(spec.brief_output_schema()))
        .with_annotations(
            ToolAnnotations::new()
                .read_only(hints.read_only)
                .destructive(hints.destructive)
                .idempotent(hints.idempotent)
                .open_world(hints.open_world),
        )
}

/// Adds the session to a call that does not name one.
fn name_session(arguments: &mut Map<String, Value>, session: String) {
    let context = arguments.entry("request_context").or_insert_with(|| json!({}));
    if let Value::Object(context) = context {
        context.entry("session_id").or_insert(Value::String(session));
    }
}

/// Structured content for programs, and shorter text for models whose clients show only text.
fn succeeded(answer: Answer) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(answer.as_text())]);
    result.structured_content = Some(Value::Object(answer.structured));
    result
}

/// Text only, because some clients validate structured content against the output schema even for errors.
fn failed(error: &ToolError) -> CallToolResult {
    let hint = error.hint.as_deref().unwrap_or_else(|| default_hint(error.code));
    let mut body = json!({"error": error.code, "message": error.message, "hint": hint});
    if let Some(request_id) = &error.request_id {
        body["request_id"] = json!(request_id);
    }
    CallToolResult::error(vec![ContentBlock::text(body.to_string())])
}

/// The hint for an error that has none of its own.
fn default_hint(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::InvalidArgument => {
            "nothing was written; change the argument that the message names, or leave it out"
        }
        ErrorCode::NotFound => "search for it with memory_search or entity_resolve",
        ErrorCode::Conflict | ErrorCode::InvalidState => "check the current state first; nothing was written",
        ErrorCode::Unavailable => "try again in a moment; `butler doctor` shows the cause",
        ErrorCode::Forbidden | ErrorCode::Internal => {
            "the server's log has the details; `butler doctor` shows the cause"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model reads this list in every session, so every byte counts.
    #[test]
    fn the_list_of_tools_is_small() {
        let specs: Vec<_> = butler_memory::tools().iter().map(|tool| Arc::clone(tool.spec())).collect();
        for (profile, kilobytes) in [(Profile::Full, 40), (Profile::Core, 12)] {
            let tools: Vec<Tool> =
                specs.iter().filter(|spec| profile.offers(spec)).map(|spec| describe(spec)).collect();
            let listed = ListToolsResult::with_all_items(tools).with_ttl_ms(LIST_TTL_MS);
            let size = json!(listed.with_cache_scope(CacheScope::Private)).to_string().len();
            assert!(size <= kilobytes * 1024, "{profile:?}: {size} bytes");
        }
    }

    #[test]
    fn what_a_model_needs_of_a_tool_is_listed() {
        for tool in butler_memory::tools() {
            let listed = json!(describe(tool.spec()));
            assert!(listed["description"].as_str().is_some_and(|text| text.len() > 60), "{listed}");
            for (name, argument) in listed["inputSchema"]["properties"].as_object().unwrap() {
                assert!(argument["description"].is_string() && argument["type"].is_string(), "{name}: {argument}");
            }
            let output = listed["outputSchema"].as_object().unwrap();
            assert_eq!(output["type"], "object");
            let known = Value::Object(tool.spec().output_schema.clone());
            for name in output.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
                assert!(known["properties"].get(name).is_some(), "{name}");
            }
        }
    }
}
