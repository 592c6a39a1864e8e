//! `GET /api/server`: the server's version and the caller's rights, so that the dashboard can adapt to them.

use butler_domain::Timestamp;
use butler_host::access::{Right, TokenState};
use butler_memory::CallerTenant;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::envelope::Single;
use super::error::ApiError;
use super::operation::{Operation, RequestContext, Verb};

#[derive(Debug, Serialize, JsonSchema)]
pub struct ServerView {
    pub version: &'static str,
    /// The server's clock, by which memories decay and expire.
    pub now: Timestamp,
    /// Whether requests need a bearer token.
    pub auth_required: bool,
    /// The caller's rights: `read`, `write`, `admin`, `metrics`.
    pub rights: Vec<&'static str>,
    pub tenant: String,
    /// Whether the caller may select another tenant.
    pub tenant_selectable: bool,
    /// The only butler that the caller may use; null if it may use all.
    pub butler: Option<String>,
    /// Id of the token that the caller uses; null without a token.
    pub token_id: Option<Uuid>,
    /// Whether any butler has an LLM. Without one, consolidation is a dry run.
    pub runtime_configured: bool,
    pub mcp_endpoint: &'static str,
    /// When an agent last connected to any butler over MCP; null if none ever did, and for a token.
    pub agent_seen_at: Option<Timestamp>,
    /// The flags with which a command on the server's machine works on the same butlers, such as ` --data-dir '/data'`.
    /// Null without the right `admin`, and for a token.
    pub cli_flags: Option<String>,
}

pub struct GetServer;

impl Operation for GetServer {
    type Path = ();
    type Query = ();
    type Body = ();
    type Answer = Single<ServerView>;

    const ID: &'static str = "getServer";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/server";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "Get the server's version and the caller's tenant and rights.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), (): (), (): ()) -> Result<Self::Answer, ApiError> {
        let access = &ctx.access;
        let mut runtime_configured = false;
        for butler in ctx.butlers(None)? {
            let memory = butler.memory().await;
            runtime_configured |= memory.is_some_and(|memory| memory.runtime().is_some());
        }
        // A token belongs to one tenant. What concerns the machine or all tenants is none of its business.
        let sees_server = ctx.restricted_to().is_none();
        Ok(Single::new(ServerView {
            version: env!("CARGO_PKG_VERSION"),
            now: ctx.now,
            auth_required: ctx.api.host.token_state() != TokenState::None,
            rights: access.rights.iter().map(Right::as_str).collect(),
            tenant: ctx.tenant.to_string(),
            tenant_selectable: access.caller.tenant == CallerTenant::Trusted,
            butler: access.butler.clone(),
            token_id: access.token,
            runtime_configured,
            mcp_endpoint: "/mcp",
            agent_seen_at: sees_server.then(|| ctx.api.host.agent_seen_at()).flatten(),
            cli_flags: (sees_server && access.rights.admin).then(|| ctx.api.host.options().cli_flags()),
        }))
    }
}
