//! `GET /api/butlers`: the butlers with their purpose, endpoint and health, for people and for programs that route
//! requests to butlers.

use butler_host::access::Right;
use schemars::JsonSchema;
use serde::Serialize;

use super::envelope::List;
use super::error::ApiError;
use super::operation::{Operation, RequestContext, Verb};

#[derive(Debug, Serialize, JsonSchema)]
pub struct ButlerItem {
    pub name: String,
    pub description: Option<String>,
    /// Path of the butler's MCP endpoint on this server.
    pub mcp_endpoint: String,
    /// `ready`, `starting`, `unavailable` or `disabled` (the memory module is not enabled).
    pub health: &'static str,
    /// Why the butler is not ready.
    pub problem: Option<String>,
    pub hint: Option<String>,
    /// Whether `/mcp` leads to this butler.
    pub first: bool,
    /// The LLM used for consolidation; null if none is configured.
    pub runtime: Option<String>,
    /// Number of MCP tools.
    pub tools: usize,
}

pub struct ListButlers;

impl Operation for ListButlers {
    type Path = ();
    type Query = ();
    type Body = ();
    type Answer = List<ButlerItem>;

    const ID: &'static str = "listButlers";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/butlers";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "List the butlers of this server with description, MCP endpoint and health.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), (): (), (): ()) -> Result<Self::Answer, ApiError> {
        let host = &ctx.api.host;
        let butlers = host.butlers();
        let missing = crate::http::readiness(host).await;
        let mut items = Vec::new();
        for (index, butler) in butlers.iter().enumerate() {
            if ctx.access.may_use(butler.name.as_str()).is_err() {
                continue;
            }
            let name = butler.name.to_string();
            let own = missing.iter().find(|missing| missing.butler.as_deref() == Some(name.as_str()));
            let problem = own.or_else(|| missing.iter().find(|missing| missing.butler.is_none()));
            let memory = butler.memory().await;
            let health = match problem {
                _ if !butler.config.file.modules.memory.enabled => "disabled",
                Some(problem) if problem.what == "startup" && memory.is_none() => "starting",
                Some(_) => "unavailable",
                None => "ready",
            };
            items.push(ButlerItem {
                mcp_endpoint: format!("/butlers/{name}/mcp"),
                description: butler.config.file.butler.description.clone(),
                health,
                problem: problem.map(|problem| problem.message.clone()),
                hint: problem.and_then(|problem| problem.hint.clone()),
                first: index == 0,
                runtime: memory.and_then(|memory| memory.runtime().map(|runtime| runtime.describe())),
                tools: butler.tools().iter().count(),
                name,
            });
        }
        let unavailable =
            items.iter().filter(|item| item.health == "unavailable").map(|item| item.name.clone()).collect();
        Ok(List::complete(items, unavailable))
    }
}
