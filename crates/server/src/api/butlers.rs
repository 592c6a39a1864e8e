//! `GET /api/butlers`: who is there, what for, and how they are. What a router reads.

use butler_host::access::Right;
use schemars::JsonSchema;
use serde::Serialize;

use super::answer::Many;
use super::error::ApiError;
use super::operation::{Asked, Operation, Verb};

#[derive(Debug, Serialize, JsonSchema)]
pub struct ButlerItem {
    pub name: String,
    pub description: Option<String>,
    /// Where its tools are, on this server.
    pub mcp_endpoint: String,
    /// `ready`, `starting`, `unavailable` or `disabled` (its memory module is left out).
    pub health: &'static str,
    /// Why it is not ready.
    pub problem: Option<String>,
    pub hint: Option<String>,
    /// Whether `/mcp` without a name is this one.
    pub first: bool,
    /// Whether it has an LLM for consolidation.
    pub runtime: Option<String>,
    pub tools: usize,
}

pub struct ListButlers;

impl Operation for ListButlers {
    type Path = ();
    type Query = ();
    type Body = ();
    type Answer = Many<ButlerItem>;

    const ID: &'static str = "listButlers";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/butlers";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "The butlers of this server: name, description, MCP endpoint, health.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, (): (), (): (), (): ()) -> Result<Self::Answer, ApiError> {
        let host = &asked.api.host;
        let butlers = host.butlers();
        let missing = crate::http::readiness(host).await;
        let mut items = Vec::new();
        for (at, butler) in butlers.iter().enumerate() {
            if asked.access.may_use(butler.name.as_str()).is_err() {
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
                first: at == 0,
                runtime: memory.and_then(|memory| memory.runtime().map(|runtime| runtime.describe())),
                tools: butler.tools().iter().count(),
                name,
            });
        }
        let away = items.iter().filter(|item| item.health == "unavailable").map(|item| item.name.clone()).collect();
        Ok(Many::whole(items, away))
    }
}
