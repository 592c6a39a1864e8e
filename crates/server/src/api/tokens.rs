//! `GET|POST /api/tokens`, `DELETE /api/tokens/{id}`: the access tokens of this server. A caller with a token sees and
//! creates only tokens of its own tenant.

use std::collections::BTreeMap;
use std::str::FromStr;

use butler_domain::validate::Invalid;
use butler_domain::{Timestamp, validate};
use butler_host::access::{Right, Rights, new_token};
use butler_store::tokens::{self, TokenRow};
use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::envelope::{List, Meta, Single};
use super::error::ApiError;
use super::facts::IdPath;
use super::operation::{Operation, RequestContext, Verb};

/// A longer text is a description, not a name.
const MAX_NAME_BYTES: usize = 256;
/// A hundred years. For a longer lifetime, leave the expiry out.
const MAX_EXPIRY_DAYS: i64 = 36_500;

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
}

fn item(row: TokenRow, now: Timestamp) -> TokenItem {
    let state = match (row.revoked_at, row.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(end)) if end <= now => "expired",
        _ => "active",
    };
    TokenItem {
        id: row.id,
        tenant: row.of_tenant().map(ToString::to_string),
        butler: row.butler,
        name: row.name,
        rights: row.rights,
        state,
        created_at: row.created_at,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        last_used_at: row.last_used_at,
    }
}

/// The tokens that the caller may see. A token for all butlers is stored in each of their databases and returned once.
async fn visible(ctx: &RequestContext) -> Result<(Vec<TokenRow>, Vec<String>), ApiError> {
    let replies = ctx
        .each(None, |memory| async move {
            let mut conn = memory.db().owner().await?;
            Ok(tokens::list(&mut conn).await?)
        })
        .await?;
    let mut found: BTreeMap<Uuid, TokenRow> = BTreeMap::new();
    for row in replies.parts.into_iter().flat_map(|(_, rows)| rows) {
        let known = found.entry(row.id).or_insert_with(|| row.clone());
        known.revoked_at = known.revoked_at.or(row.revoked_at);
        known.last_used_at = known.last_used_at.max(row.last_used_at);
    }
    let own = |row: &TokenRow| ctx.restricted_to().is_none_or(|tenant| row.of_tenant() == Some(tenant));
    Ok((found.into_values().filter(own).collect(), replies.unavailable))
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
    /// The purpose of the token.
    name: Option<String>,
    /// Any of `read`, `write` and `admin`, or only `metrics`, which covers all tenants. Default: `read` and `write`.
    rights: Option<Vec<String>>,
    /// The only butler that the token may use. Default: all butlers.
    butler: Option<String>,
    /// Days until the token expires. Default: never. A token created with another token expires no later than that one.
    #[schemars(range(min = 1, max = 36_500))]
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
        let token = new_token().map_err(|error| ApiError::unavailable(error.to_string()))?;
        // A caller restricted to one butler creates only tokens for that butler.
        let butler = body.butler.clone().or_else(|| ctx.access.butler.clone());
        let rights = rights(&ctx, body.rights.as_deref())?;
        if butler.is_some() && rights.iter().any(|right| right == tokens::METRICS) {
            return Err(Invalid::new("butler", "cannot be set, because metrics cover all butlers").into());
        }
        let row = TokenRow {
            id: butler_domain::ids::new_id(ctx.now),
            tenant: ctx.tenant.clone(),
            butler: butler.clone(),
            name: name(body.name.as_deref())?,
            hash: tokens::hash(&token),
            rights,
            created_at: ctx.now,
            expires_at: expiry(&ctx, body.expires_days)?,
            revoked_at: None,
            last_used_at: None,
        };
        let new = &row;
        let replies = ctx
            .each(butler.as_deref(), |memory| async move {
                let mut conn = memory.db().owner().await?;
                Ok(tokens::create(&mut conn, new).await?)
            })
            .await?;
        reload_tokens(&ctx).await;
        let data = CreatedToken { item: item(row, ctx.now), token };
        Ok(Single { data, meta: Meta { unavailable: replies.unavailable } })
    }
}

/// Loads the changed tokens at once, so that the change applies before the response. If this fails, the databases'
/// notifications deliver the change a moment later.
async fn reload_tokens(ctx: &RequestContext) {
    for butler in ctx.api.host.butlers() {
        if let Err(error) = butler_host::host::tokens::load(&ctx.api.host, &butler).await {
            tracing::warn!(%error, butler = butler.name.as_str(), "cannot reload the changed tokens at once");
        }
    }
}

fn name(given: Option<&str>) -> Result<String, ApiError> {
    match given.map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => Ok(validate::required_text("name", name, MAX_NAME_BYTES)?),
        None => Ok(String::new()),
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
fn expiry(ctx: &RequestContext, days: Option<i64>) -> Result<Option<Timestamp>, ApiError> {
    let own = ctx.access.token.and_then(|token| ctx.api.host.keyring().expiry(token));
    match days {
        None => Ok(own),
        Some(days) if (1..=MAX_EXPIRY_DAYS).contains(&days) => {
            let requested = ctx.now + TimeDelta::days(days);
            Ok(Some(own.map_or(requested, |own| own.min(requested))))
        }
        Some(days) => {
            Err(Invalid::new("expires_days", format!("is {days}; allowed are 1 to {MAX_EXPIRY_DAYS}")).into())
        }
    }
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
    const SUMMARY: &'static str = "Revoke a token. This takes effect immediately and cannot be undone.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, path: IdPath, (): (), (): ()) -> Result<Self::Answer, ApiError> {
        let (rows, _) = visible(&ctx).await?;
        let row = rows.into_iter().find(|row| row.id == path.id);
        let mut row = row.ok_or_else(|| ApiError::not_found(format!("there is no token with id {}", path.id)))?;
        let now = ctx.now;
        let replies = ctx
            .each(None, |memory| async move {
                let mut conn = memory.db().owner().await?;
                Ok(tokens::revoke(&mut conn, path.id, now).await?)
            })
            .await?;
        reload_tokens(&ctx).await;
        row.revoked_at = row.revoked_at.or(Some(now));
        Ok(Single { data: item(row, now), meta: Meta { unavailable: replies.unavailable } })
    }
}
