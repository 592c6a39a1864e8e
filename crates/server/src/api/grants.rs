//! `GET /api/grants`, `DELETE /api/grants/{id}`: what people allowed OAuth clients. The access token of a grant is the token
//! with the same id, so the rules of `/api/tokens` apply.

use butler_domain::Timestamp;
use butler_domain::event::Origin;
use butler_host::access::Right;
use butler_host::host::{token_changes, tokens};
use butler_host::oauth::{Grant, list_grants};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::envelope::{List, Meta, Single};
use super::error::ApiError;
use super::facts::IdPath;
use super::operation::{Operation, RequestContext, Verb};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GrantItem {
    pub id: Uuid,
    /// The id under which the client registered, or the address of the document that describes it.
    pub client_id: String,
    /// The name that the client gave itself.
    pub client_name: String,
    /// Where the browser went after the consent.
    pub redirect_uri: String,
    pub tenant: String,
    pub butler: String,
    pub rights: Vec<String>,
    /// `active`, `expired` or `revoked`.
    pub state: &'static str,
    pub created_at: Timestamp,
    /// Until when the client may refresh its access. Each refresh extends it.
    pub expires_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
}

fn item(grant: Grant, now: Timestamp) -> GrantItem {
    GrantItem {
        id: grant.id,
        state: grant.state(now),
        client_id: grant.client_id,
        client_name: grant.client_name,
        redirect_uri: grant.redirect_uri,
        tenant: grant.tenant.to_string(),
        butler: grant.butler,
        rights: grant.rights,
        created_at: grant.created_at,
        expires_at: grant.expires_at,
        revoked_at: grant.revoked_at,
        last_used_at: grant.last_used_at,
    }
}

/// The grants that the caller may see: those of its tenant and, if it is limited to one butler, of that butler.
async fn visible(ctx: &RequestContext) -> Result<(Vec<Grant>, Vec<String>), ApiError> {
    let replies = ctx.each(None, |memory| async move { Ok(list_grants(memory.db()).await?) }).await?;
    let mut grants: Vec<Grant> = replies.parts.into_iter().flat_map(|(_, grants)| grants).collect();
    grants.retain(|grant| ctx.access.may_manage_grant(&grant.tenant, &grant.butler));
    Ok((grants, replies.unavailable))
}

pub struct ListGrants;

impl Operation for ListGrants {
    type Path = ();
    type Query = ();
    type Body = ();
    type Answer = List<GrantItem>;

    const ID: &'static str = "listGrants";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/grants";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "List what people allowed OAuth clients.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, (): (), (): (), (): ()) -> Result<Self::Answer, ApiError> {
        let (grants, unavailable) = visible(&ctx).await?;
        Ok(List::complete(grants.into_iter().map(|grant| item(grant, ctx.now)).collect(), unavailable))
    }
}

pub struct RevokeGrant;

impl Operation for RevokeGrant {
    type Path = IdPath;
    type Query = ();
    type Body = ();
    type Answer = Single<GrantItem>;

    const ID: &'static str = "revokeGrant";
    const VERB: Verb = Verb::Delete;
    const PATH: &'static str = "/api/grants/{id}";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "Revoke what an OAuth client was allowed. This takes effect immediately.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, path: IdPath, (): (), (): ()) -> Result<Self::Answer, ApiError> {
        let (grants, unavailable) = visible(&ctx).await?;
        let Some(mut grant) = grants.into_iter().find(|grant| grant.id == path.id) else {
            let message = format!("there is no grant with id {}", path.id);
            return Err(match unavailable.first() {
                None => ApiError::not_found(message).hint("GET /api/grants lists the grants that you may manage"),
                Some(butler) => ApiError::unavailable(format!("{message}, but butler {butler:?} did not respond")),
            });
        };
        let origin = Origin { actor: Some(ctx.actor()), request_id: ctx.request_id.clone() };
        let butler = ctx.api.host.butler(Some(&grant.butler))?;
        let done = token_changes::revoke(std::slice::from_ref(&butler), &origin, ctx.now, grant.id).await?;
        if let Err(error) = tokens::load(&ctx.api.host, &butler).await {
            // The database's notification delivers the change a moment later.
            tracing::warn!(%error, butler = butler.name.as_str(), "cannot reload the revoked grant at once");
        }
        grant.revoked_at = grant.revoked_at.or(Some(ctx.now));
        Ok(Single { data: item(grant, ctx.now), meta: Meta::new(done.unreachable) })
    }
}
