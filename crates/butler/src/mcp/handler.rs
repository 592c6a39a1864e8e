//! MCP's methods over a butler's tools.

use std::sync::Arc;

use axum::http::request::Parts;
use memory::tool::{Answer, ToolError, ToolSpec};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};

use crate::access::{Access, Right};
use crate::butler::Butler;
use crate::host::Host;

/// One butler's tools.
#[derive(Clone)]
pub struct Handler {
    host: Arc<Host>,
    butler: Arc<Butler>,
    /// Of stdio's one caller; over HTTP each request brings its own.
    access: Option<Access>,
    /// Described once: a schema is large, and some clients ask for all of them again and again.
    tools: Arc<[Tool]>,
    instructions: Arc<str>,
}

impl Handler {
    pub fn new(host: Arc<Host>, butler: Arc<Butler>, access: Option<Access>) -> Self {
        let tools = butler.tools().iter().map(|tool| describe(tool.spec())).collect();
        let instructions = super::instructions::of(butler.tools()).into();
        Self { host, butler, access, tools, instructions }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let name = format!("butler-{}", self.butler.name);
        let mut implementation = Implementation::new(name, env!("CARGO_PKG_VERSION")).with_title("Butler Memory");
        if let Some(description) = &self.butler.config.file.butler.description {
            implementation = implementation.with_description(description);
        }
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(implementation)
            .with_instructions(&*self.instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let access = self.access(&context)?;
        let Some(tool) = self.butler.tools().get(&request.name) else {
            return Err(self.unknown_tool(&request.name));
        };
        if let Err(error) = allowed(access, tool.spec()) {
            return Ok(failed(&error).into());
        }
        let arguments = request.arguments.unwrap_or_default();
        match self.host.call(&self.butler, &request.name, &access.caller, arguments).await {
            Some(Ok(answer)) => Ok(succeeded(answer).into()),
            Some(Err(error)) => Ok(failed(&error).into()),
            None => Err(self.unknown_tool(&request.name)),
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }
}

impl Handler {
    /// The request's own, or stdio's. A request without any did not come through the door.
    fn access<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> Result<&'a Access, ErrorData> {
        let brought = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Access>());
        brought
            .or(self.access.as_ref())
            .ok_or_else(|| ErrorData::internal_error("this request was not checked for access", None))
    }

    fn unknown_tool(&self, name: &str) -> ErrorData {
        let known = self.butler.tools().iter().map(|tool| tool.spec().name);
        let nearest = known
            .map(|known| (strsim::damerau_levenshtein(name, known), known))
            .filter(|(slips, _)| *slips <= name.len() / 3)
            .min();
        let hint = nearest.map_or_else(
            || "tools/list names those there are".to_owned(),
            |(_, known)| format!("did you mean {known}?"),
        );
        ErrorData::invalid_params(format!("unknown tool {name:?}; {hint}"), None)
    }
}

/// A tool error, not a protocol error: a model reads it and tells the user.
fn allowed(access: &Access, tool: &ToolSpec) -> Result<(), ToolError> {
    let needed = Right::needed_by(tool);
    if access.rights.include(needed) {
        return Ok(());
    }
    let message = format!("{} needs the right `{needed}`; the token has {}", tool.name, access.rights);
    Err(ToolError { hint: Some(needed.remedy()), ..ToolError::new("forbidden", message) })
}

fn describe(spec: &ToolSpec) -> Tool {
    let hints = spec.annotations;
    Tool::new(spec.name, spec.description, Arc::new(spec.input_schema.clone()))
        .with_title(spec.title)
        .with_raw_output_schema(Arc::new(spec.output_schema.clone()))
        .with_annotations(
            ToolAnnotations::with_title(spec.title)
                .read_only(hints.read_only)
                .destructive(hints.destructive)
                .idempotent(hints.idempotent)
                .open_world(hints.open_world),
        )
}

/// Structured for programs, and the same as text for models whose clients show only text.
fn succeeded(answer: Answer) -> CallToolResult {
    let structured = Value::Object(answer.structured);
    let text = answer.text.unwrap_or_else(|| structured.to_string());
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    result
}

/// Text alone: some clients hold structured content against the output schema even when it is an error.
fn failed(error: &ToolError) -> CallToolResult {
    let mut body = json!({"error": error.code, "message": error.message});
    if let Some(hint) = &error.hint {
        body["hint"] = json!(hint);
    }
    if let Some(request_id) = &error.request_id {
        body["request_id"] = json!(request_id);
    }
    CallToolResult::error(vec![ContentBlock::text(body.to_string())])
}
