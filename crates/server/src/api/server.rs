//! `GET /api/server`: what this server is, for pages that adapt to it.

use butler_domain::Timestamp;
use butler_host::access::Right;
use butler_memory::CallerTenant;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::answer::One;
use super::error::ApiError;
use super::operation::{Asked, Operation, Verb};

#[derive(Debug, Serialize, JsonSchema)]
pub struct ServerView {
    pub version: &'static str,
    /// The server's own time: what decays and expires is reckoned by it.
    pub now: Timestamp,
    /// Whether requests need a bearer token.
    pub auth_required: bool,
    /// What this caller may do: `read`, `write`, `admin`, `metrics`.
    pub rights: Vec<&'static str>,
    pub tenant: String,
    /// Whether this caller may name another tenant.
    pub tenant_selectable: bool,
    /// The one butler this caller may use; null: all.
    pub butler: Option<String>,
    /// The token this caller uses; null without one.
    pub token_id: Option<Uuid>,
    /// Whether any butler has an LLM: without one consolidation only counts.
    pub runtime_configured: bool,
    pub mcp_endpoint: &'static str,
}

pub struct GetServer;

impl Operation for GetServer {
    type Path = ();
    type Query = ();
    type Body = ();
    type Answer = One<ServerView>;

    const ID: &'static str = "getServer";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/server";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "Version, who asks, and what they may do.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, (): (), (): (), (): ()) -> Result<Self::Answer, ApiError> {
        let access = &asked.access;
        let mut runtime_configured = false;
        for butler in asked.butlers(None)? {
            let memory = butler.memory().await;
            runtime_configured |= memory.is_some_and(|memory| memory.runtime().is_some());
        }
        Ok(One::of(ServerView {
            version: env!("CARGO_PKG_VERSION"),
            now: asked.now,
            auth_required: asked.api.host.keyring().any(),
            rights: access.rights.iter().map(Right::as_str).collect(),
            tenant: asked.tenant.to_string(),
            tenant_selectable: access.caller.tenant == CallerTenant::Trusted,
            butler: access.butler.clone(),
            token_id: access.token,
            runtime_configured,
            mcp_endpoint: "/mcp",
        }))
    }
}
