//! `GET|POST /api/tokens`, `DELETE /api/tokens/{id}`: who may talk to this server. A caller with a token sees and makes
//! those of its own tenant alone.

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

use super::answer::{Many, Meta, One};
use super::error::ApiError;
use super::facts::ById;
use super::operation::{Asked, Operation, Verb};

/// A name that is longer is a description put in the wrong field.
const NAME_BYTES: usize = 256;
/// What never ends needs no date.
const MOST_DAYS: i64 = 36_500;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TokenItem {
    pub id: Uuid,
    /// Null: no tenant's, for what is counted over all of them.
    pub tenant: Option<String>,
    /// Null: all butlers.
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

/// Those the caller may see, each once: one for all butlers stands in each of their databases.
async fn visible(asked: &Asked) -> Result<(Vec<TokenRow>, Vec<String>), ApiError> {
    let heard = asked
        .each(None, |memory| async move {
            let mut conn = memory.db().owner().await?;
            Ok(tokens::list(&mut conn).await?)
        })
        .await?;
    let mut found: BTreeMap<Uuid, TokenRow> = BTreeMap::new();
    for row in heard.parts.into_iter().flat_map(|(_, rows)| rows) {
        let known = found.entry(row.id).or_insert_with(|| row.clone());
        known.revoked_at = known.revoked_at.or(row.revoked_at);
        known.last_used_at = known.last_used_at.max(row.last_used_at);
    }
    let own = |row: &TokenRow| asked.bound().is_none_or(|tenant| row.of_tenant() == Some(tenant));
    Ok((found.into_values().filter(own).collect(), heard.unavailable))
}

pub struct ListTokens;

impl Operation for ListTokens {
    type Path = ();
    type Query = ();
    type Body = ();
    type Answer = Many<TokenItem>;

    const ID: &'static str = "listTokens";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/tokens";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "The tokens and what they allow; never a token itself.";
    const RIGHT: Right = Right::Admin;

    async fn run(asked: Asked, (): (), (): (), (): ()) -> Result<Self::Answer, ApiError> {
        let (rows, unavailable) = visible(&asked).await?;
        Ok(Many::whole(rows.into_iter().map(|row| item(row, asked.now)).collect(), unavailable))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// What it is for.
    name: Option<String>,
    /// Some of `read`, `write`, `admin`, or `metrics` alone, which is of all tenants; read and write if left out.
    rights: Option<Vec<String>>,
    /// The one butler it opens; all if left out.
    butler: Option<String>,
    /// When it ends; never if left out. A token that is made with a token ends with that one at the latest.
    #[schemars(range(min = 1, max = 36_500))]
    expires_days: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CreatedToken {
    #[serde(flatten)]
    pub item: TokenItem,
    /// The token itself: shown this once.
    pub token: String,
}

pub struct CreateToken;

impl Operation for CreateToken {
    type Path = ();
    type Query = ();
    type Body = Wanted;
    type Answer = One<CreatedToken>;

    const ID: &'static str = "createToken";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/tokens";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "Make a token for the tenant. As soon as there is one, every request needs one.";
    const RIGHT: Right = Right::Admin;

    async fn run(asked: Asked, (): (), (): (), body: Wanted) -> Result<Self::Answer, ApiError> {
        let token = new_token().map_err(|error| ApiError::unavailable(error.to_string()))?;
        // a caller that may use one butler gives no more away
        let butler = body.butler.clone().or_else(|| asked.access.butler.clone());
        let rights = rights(&asked, body.rights.as_deref())?;
        if butler.is_some() && rights.iter().any(|right| right == tokens::METRICS) {
            return Err(Invalid::new("butler", "metrics count all butlers: leave it out").into());
        }
        let row = TokenRow {
            id: butler_domain::ids::new_id(asked.now),
            tenant: asked.tenant.clone(),
            butler: butler.clone(),
            name: name(body.name.as_deref())?,
            hash: tokens::hash(&token),
            rights,
            created_at: asked.now,
            expires_at: expiry(&asked, body.expires_days)?,
            revoked_at: None,
            last_used_at: None,
        };
        let new = &row;
        let heard = asked
            .each(butler.as_deref(), |memory| async move {
                let mut conn = memory.db().owner().await?;
                Ok(tokens::create(&mut conn, new).await?)
            })
            .await?;
        count_now(&asked).await;
        let data = CreatedToken { item: item(row, asked.now), token };
        Ok(One { data, meta: Meta { unavailable: heard.unavailable } })
    }
}

/// The databases tell of the change in a moment; who asked for it here need not wait. Where this fails, they still do.
async fn count_now(asked: &Asked) {
    for butler in asked.api.host.butlers() {
        if let Err(error) = butler_host::host::tokens::load(&asked.api.host, &butler).await {
            tracing::warn!(%error, butler = butler.name.as_str(), "the changed tokens were not read at once");
        }
    }
}

fn name(given: Option<&str>) -> Result<String, ApiError> {
    match given.map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => Ok(validate::required_text("name", name, NAME_BYTES)?),
        None => Ok(String::new()),
    }
}

/// Nobody gives rights away that they do not have.
fn rights(asked: &Asked, given: Option<&[String]>) -> Result<Vec<String>, ApiError> {
    let given = given.map_or_else(|| "read,write".to_owned(), |names| names.join(","));
    let rights = Rights::from_str(&given).map_err(|problem| Invalid::new("rights", problem))?;
    for right in rights.iter() {
        asked.access.require(right)?;
    }
    Ok(rights.iter().map(|right| right.as_str().to_owned()).collect())
}

/// Nobody gives more time away than they have.
fn expiry(asked: &Asked, days: Option<i64>) -> Result<Option<Timestamp>, ApiError> {
    let own = asked.access.token.and_then(|token| asked.api.host.keyring().expiry(token));
    match days {
        None => Ok(own),
        Some(days) if (1..=MOST_DAYS).contains(&days) => {
            let wanted = asked.now + TimeDelta::days(days);
            Ok(Some(own.map_or(wanted, |own| own.min(wanted))))
        }
        Some(days) => Err(Invalid::new("expires_days", format!("is {days}; 1 to {MOST_DAYS} are allowed")).into()),
    }
}

pub struct RevokeToken;

impl Operation for RevokeToken {
    type Path = ById;
    type Query = ();
    type Body = ();
    type Answer = One<TokenItem>;

    const ID: &'static str = "revokeToken";
    const VERB: Verb = Verb::Delete;
    const PATH: &'static str = "/api/tokens/{id}";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "Make a token useless, at once and for good.";
    const RIGHT: Right = Right::Admin;

    async fn run(asked: Asked, path: ById, (): (), (): ()) -> Result<Self::Answer, ApiError> {
        let (rows, _) = visible(&asked).await?;
        let row = rows.into_iter().find(|row| row.id == path.id);
        let mut row = row.ok_or_else(|| ApiError::not_found(format!("there is no token with id {}", path.id)))?;
        let now = asked.now;
        let heard = asked
            .each(None, |memory| async move {
                let mut conn = memory.db().owner().await?;
                Ok(tokens::revoke(&mut conn, path.id, now).await?)
            })
            .await?;
        count_now(&asked).await;
        row.revoked_at = row.revoked_at.or(Some(now));
        Ok(One { data: item(row, now), meta: Meta { unavailable: heard.unavailable } })
    }
}
