//! `GET|POST /api/tokens`, `DELETE /api/tokens/{id}`, `POST /api/tokens/{id}/rotate`: the access tokens of this server. A
//! caller with a token sees, creates and revokes only tokens of its own tenant and, if it is limited to one butler, for
//! that butler; it rotates only itself and the tokens it made.

use std::str::FromStr;

use axum::http::StatusCode;
use butler_domain::event::Origin;
use butler_domain::validate::Invalid;
use butler_domain::{TenantId, Timestamp, limits};
use butler_host::access::{self, Lifetime, Right, Rights, Rotation, TokenRow, hash_token, new_token};
use butler_host::host::token_changes::{self, NewSecret, homes};
use butler_host::host::tokens;
use butler_memory::tool::ErrorCode;
use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::envelope::{List, Meta, Single};
use super::error::ApiError;
use super::facts::IdPath;
use super::operation::{Operation, RequestContext, Verb};

/// For a longer lifetime, say that the token never expires.
const MAX_EXPIRY_DAYS: i64 = limits::DAYS;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TokenItem {
    pub id: Uuid,
    /// Null for a metrics token, which covers all tenants.
    pub tenant: Option<String>,
    /// The only butler that the token may use; null if it may use all.
    pub butler: Option<String>,
    pub name: String,
    pub rights: Vec<String>,
    /// `active`, `expired` or `revoked`.
    pub state: &'static str,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    /// The token that created this one. Revoking that token revokes this one too. Null if no token created it.
    pub parent_id: Option<Uuid>,
    /// When the token got its current secret; null if that was when it was created.
    pub rotated_at: Option<Timestamp>,
    /// Until when the secret before the last rotation still works; null if it does not.
    pub grace_until: Option<Timestamp>,
}

fn item(row: TokenRow, now: Timestamp) -> TokenItem {
    TokenItem {
        id: row.id,
        tenant: row.of_tenant().map(ToString::to_string),
        state: row.state(now),
        parent_id: row.parent,
        rotated_at: row.rotated_at(),
        grace_until: row.grace_until(now),
        butler: row.butler,
        name: row.name,
        rights: row.rights,
        created_at: row.created_at,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        last_used_at: row.last_used_at,
    }
}

/// The tokens that the caller may see. A token for all butlers is stored in each of their databases and returned once.
async fn visible(ctx: &RequestContext) -> Result<(Vec<TokenRow>, Vec<String>), ApiError> {
    let replies = ctx.each(None, |memory| async move { Ok(tokens::list(memory.db()).await?) }).await?;
    let rows = token_changes::each_once(replies.parts.into_iter().flat_map(|(_, rows)| rows));
    Ok((rows.into_iter().filter(|row| ctx.access.may_manage(row)).collect(), replies.unavailable))
}

/// The token with this id and all tokens that the caller may see.
async fn find(ctx: &RequestContext, id: Uuid) -> Result<(TokenRow, Vec<TokenRow>), ApiError> {
    let (rows, unavailable) = visible(ctx).await?;
    match rows.iter().find(|row| row.id == id) {
        Some(row) => Ok((row.clone(), rows)),
        None if unavailable.is_empty() => Err(ApiError::not_found(format!("there is no token with id {id}"))
            .hint("GET /api/tokens lists the tokens that you may manage")),
        None => Err(ApiError::unavailable(format!(
            "there is no token with id {id} in the butlers that responded; no response from {}",
            unavailable.join(", ")
        ))),
    }
}

/// Who makes a change of tokens.
fn origin(ctx: &RequestContext) -> Origin {
    Origin { actor: Some(ctx.actor()), request_id: ctx.request_id.clone() }
}

pub struct ListTokens;

impl Operation for ListTokens {
    type Path = ();
    type Query = ();
    type Body = ();
    type Answer = List<TokenItem>;

    const ID: &'static str = "listTokens";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/tokens";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "List the tokens and their rights, without the token values.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, (): (), (): (), (): ()) -> Result<Self::Answer, ApiError> {
        let (rows, unavailable) = visible(&ctx).await?;
        Ok(List::complete(rows.into_iter().map(|row| item(row, ctx.now)).collect(), unavailable))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// The purpose of the token: one line of at most 100 characters. No other live token of the tenant and butler may have
    /// the same name.
    name: Option<String>,
    /// Any of `read`, `write` and `admin`, or only `metrics`, which covers all tenants. Default: `read` and `write`.
    rights: Option<Vec<String>>,
    /// The only butler that the token may use. Default: all butlers.
    butler: Option<String>,
    /// The lifetime of the token: a number followed by s, m, h, d, w or y, such as `90d`, or `never`. Default:
    /// `default_token_lifetime` of the server, otherwise never. A token created with another token expires no later than
    /// that one.
    expires: Option<String>,
    /// The lifetime of the token in days, instead of `expires`.
    #[schemars(range(min = 1, max = MAX_EXPIRY_DAYS))]
    expires_days: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CreatedToken {
    #[serde(flatten)]
    pub item: TokenItem,
    /// The token value. It is returned only here and cannot be retrieved later.
    pub token: String,
}

pub struct CreateToken;

impl Operation for CreateToken {
    type Path = ();
    type Query = ();
    type Body = NewToken;
    type Answer = Single<CreatedToken>;

    const ID: &'static str = "createToken";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/tokens";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "Create a token for the tenant. Once a token exists, every request requires one.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, (): (), (): (), body: NewToken) -> Result<Self::Answer, ApiError> {
        let token = new_token()?;
        // A caller restricted to one butler creates only tokens for that butler.
        let butler = body.butler.clone().or_else(|| ctx.access.butler.clone());
        let rights = rights(&ctx, body.rights.as_deref())?;
        let metrics = rights.iter().any(|right| right == Right::Metrics.as_str());
        if butler.is_some() && metrics {
            return Err(Invalid::new("butler", "cannot be set, because metrics cover all butlers").into());
        }
        let name = access::token_name(body.name.as_deref().unwrap_or_default());
        let row = TokenRow {
            id: butler_domain::ids::new_id(ctx.now),
            // Metrics belong to no tenant.
            tenant: if metrics { TenantId::default() } else { ctx.tenant.clone() },
            butler: butler.clone(),
            name: name.map_err(|problem| Invalid::new("name", problem))?,
            hash: hash_token(&token),
            rights,
            created_at: ctx.now,
            expires_at: expiry(&ctx, &body)?,
            revoked_at: None,
            last_used_at: None,
            parent: ctx.access.token,
            rotation: None,
        };
        let butlers = ctx.butlers(butler.as_deref())?;
        ctx.api.host.remember_tokens()?;
        let unavailable = token_changes::create(&butlers, &origin(&ctx), &row).await?;
        reload_tokens(&ctx).await;
        Ok(Single { data: CreatedToken { item: item(row, ctx.now), token }, meta: Meta::new(unavailable) })
    }
}

/// Loads the changed tokens at once, so that the change applies before the response. If this fails, the databases'
/// notifications deliver the change a moment later.
async fn reload_tokens(ctx: &RequestContext) {
    for butler in ctx.api.host.butlers() {
        if let Err(error) = tokens::load(&ctx.api.host, &butler).await {
            tracing::warn!(%error, butler = butler.name.as_str(), "cannot reload the changed tokens at once");
        }
    }
}

/// The rights of the new token, which may not exceed the caller's.
fn rights(ctx: &RequestContext, given: Option<&[String]>) -> Result<Vec<String>, ApiError> {
    let given = given.map_or_else(|| "read,write".to_owned(), |names| names.join(","));
    let rights = Rights::from_str(&given).map_err(|problem| Invalid::new("rights", problem))?;
    for right in rights.iter() {
        ctx.access.require(right)?;
    }
    Ok(rights.iter().map(|right| right.as_str().to_owned()).collect())
}

/// The expiry of the new token, which may not be later than that of the caller's token.
fn expiry(ctx: &RequestContext, body: &NewToken) -> Result<Option<Timestamp>, ApiError> {
    let requested = match (body.expires.as_deref(), body.expires_days) {
        (None, None) => None,
        (Some(text), None) => Some(
            Lifetime::from_str(text).map_err(|problem| Invalid::new("expires", format!("is {text:?}; {problem}")))?,
        ),
        (None, Some(days)) if (1..=MAX_EXPIRY_DAYS).contains(&days) => Some(Lifetime::For(TimeDelta::days(days))),
        (None, Some(days)) => {
            return Err(Invalid::new("expires_days", format!("is {days}; allowed are 1 to {MAX_EXPIRY_DAYS}")).into());
        }
        (Some(_), Some(_)) => {
            return Err(Invalid::new("expires_days", "cannot be combined with expires").into());
        }
    };
    let host = &ctx.api.host;
    let own = ctx.access.token.and_then(|token| host.keyring().expiry(token));
    Ok(access::expiry(ctx.now, requested, host.server().default_token_lifetime(), own))
}

pub struct RevokeToken;

impl Operation for RevokeToken {
    type Path = IdPath;
    type Query = ();
    type Body = ();
    type Answer = Single<TokenItem>;

    const ID: &'static str = "revokeToken";
    const VERB: Verb = Verb::Delete;
    const PATH: &'static str = "/api/tokens/{id}";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str =
        "Revoke a token and all tokens it made. This takes effect immediately and cannot be undone.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, path: IdPath, (): (), (): ()) -> Result<Self::Answer, ApiError> {
        let (mut row, _) = find(&ctx, path.id).await?;
        let butlers = homes(&ctx.butlers(None)?, &row);
        let done = token_changes::revoke(&butlers, &origin(&ctx), ctx.now, row.id).await?;
        reload_tokens(&ctx).await;
        row.revoked_at = row.revoked_at.or(Some(ctx.now));
        Ok(Single { data: item(row, ctx.now), meta: Meta::new(done.unreachable) })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRotation {
    /// How long the old secret still works: a number followed by s, m, h, d, w or y, such as `1h`. Default: it stops
    /// working immediately.
    grace: Option<String>,
}

pub struct RotateToken;

impl Operation for RotateToken {
    type Path = IdPath;
    type Query = ();
    type Body = TokenRotation;
    type Answer = Single<CreatedToken>;

    const ID: &'static str = "rotateToken";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/tokens/{id}/rotate";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str =
        "Give a token a new secret. It keeps its id, name, rights, expiry and the tokens it made.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, path: IdPath, (): (), body: TokenRotation) -> Result<Self::Answer, ApiError> {
        let grace = access::grace(body.grace.as_deref().unwrap_or("0"));
        let grace = grace.map_err(|problem| Invalid::new("grace", problem))?;
        let (mut row, all) = find(&ctx, path.id).await?;
        if !ctx.access.may_rotate(&row, &all) {
            let message = "a token may rotate only itself and the tokens that it made";
            return Err(ApiError::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, message)
                .hint(format!("on the server's machine, run: butler token rotate {}", row.id)));
        }
        let token = new_token()?;
        let secret = NewSecret { hash: hash_token(&token), grace_until: ctx.now + grace };
        let butlers = homes(&ctx.butlers(None)?, &row);
        let unavailable = token_changes::rotate(&butlers, &origin(&ctx), ctx.now, row.id, secret).await?;
        reload_tokens(&ctx).await;
        row.rotation = Some(Rotation { at: ctx.now, previous_hash: row.hash, previous_until: secret.grace_until });
        row.hash = secret.hash;
        Ok(Single { data: CreatedToken { item: item(row, ctx.now), token }, meta: Meta::new(unavailable) })
    }
}
