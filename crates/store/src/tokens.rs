//! Bearer tokens. Only their SHA-256 is stored, so reading the table does not allow using them. All of this needs the
//! owner's session, because the tenant follows from the token.

use butler_domain::event::Origin;
use butler_domain::ids::new_id;
use butler_domain::{TenantId, Timestamp};
use serde::Serialize;
use sha2::{Digest, Sha256};
use sqlx::postgres::{PgListener, PgPoolOptions};
use sqlx::types::Json;
use uuid::Uuid;

use crate::error::unknown_outcome;
use crate::hex::bytea;
use crate::{Database, OwnerContext, Session, StoreError};

/// The channel on which the trigger `tokens_tell` notifies.
const CHANNEL: &str = "butler_tokens";

/// The SHA-256 of a token's secret.
pub type TokenHash = [u8; 32];

/// Hashes a secret as it is stored and looked up.
pub fn hash(token: &str) -> TokenHash {
    Sha256::digest(token.as_bytes()).into()
}

/// A stored token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    pub id: Uuid,
    pub tenant: TenantId,
    /// The only butler that it grants access to; `None` for any butler of the host.
    pub butler: Option<String>,
    /// What it is for, in the words of its creator; may be empty.
    pub name: String,
    pub hash: TokenHash,
    /// Some of `read`, `write` and `admin`; or `metrics` alone.
    pub rights: Vec<String>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    /// The token that created this one; `None` if a trusted caller did, or if the token is older than this record.
    pub parent: Option<Uuid>,
    pub rotation: Option<Rotation>,
}

/// The last rotation of a token's secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    pub at: Timestamp,
    /// The secret before the rotation.
    pub previous_hash: TokenHash,
    /// Until when the previous secret is accepted.
    pub previous_until: Timestamp,
}

/// The right to read figures that are counted over all tenants, and nothing else.
pub const METRICS: &str = "metrics";

impl TokenRow {
    /// The tenant; `None` for a token without access to memory.
    pub fn of_tenant(&self) -> Option<&TenantId> {
        let counts = self.rights.iter().any(|right| right == METRICS);
        (!counts).then_some(&self.tenant)
    }

    /// `active`, `expired` or `revoked`.
    pub fn state(&self, now: Timestamp) -> &'static str {
        match (self.revoked_at, self.expires_at) {
            (Some(_), _) => "revoked",
            (None, Some(end)) if end <= now => "expired",
            _ => "active",
        }
    }

    /// Until when the secret before the last rotation is accepted; `None` if it no longer is.
    pub fn grace_until(&self, now: Timestamp) -> Option<Timestamp> {
        let until = self.rotation?.previous_until;
        (until > now && self.state(now) == "active").then_some(until)
    }

    /// Merges the record of the same token in another database: a revocation in either one counts, and so does the
    /// latest rotation.
    pub fn merge(&mut self, other: &Self) {
        let earliest = |one: Option<Timestamp>, two: Option<Timestamp>| [one, two].into_iter().flatten().min();
        self.revoked_at = earliest(self.revoked_at, other.revoked_at);
        self.expires_at = earliest(self.expires_at, other.expires_at);
        self.last_used_at = self.last_used_at.max(other.last_used_at);
        if other.rotated_at() > self.rotated_at() {
            (self.hash, self.rotation) = (other.hash, other.rotation);
        }
    }

    /// When the secret was last replaced; `None` if it is the first one.
    pub fn rotated_at(&self) -> Option<Timestamp> {
        self.rotation.map(|rotation| rotation.at)
    }
}

/// The result of creating a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    Created,
    /// A live token of the same tenant and butler has this name already.
    NameTaken,
    /// The creating token was revoked or has expired meanwhile.
    ParentNotLive,
}

/// Stores a new token and its event.
pub async fn create(session: &mut Session, origin: &Origin, token: &TokenRow) -> Result<Creation, StoreError> {
    let outcome = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT create_token($1, $2, $3, $4, $5, $6) AS "outcome!""#,
                token.tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                token.created_at,
                new_id(token.created_at),
                Json(TokenColumns::from(token)) as _,
            )
            .fetch_one(pg)
        })
        .await?;
    match outcome.as_str() {
        "created" => Ok(Creation::Created),
        "name_taken" => Ok(Creation::NameTaken),
        "parent_not_live" => Ok(Creation::ParentNotLive),
        other => Err(unknown_outcome("create_token", other)),
    }
}

/// A token as JSON for SQL, with the column names of its table.
#[derive(Debug, Serialize)]
struct TokenColumns<'a> {
    id: Uuid,
    tenant_id: &'a str,
    butler: Option<&'a str>,
    name: &'a str,
    token_hash: String,
    rights: &'a [String],
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
    parent_id: Option<Uuid>,
    rotated_at: Option<Timestamp>,
    previous_hash: Option<String>,
    previous_until: Option<Timestamp>,
}

impl<'a> From<&'a TokenRow> for TokenColumns<'a> {
    fn from(token: &'a TokenRow) -> Self {
        Self {
            id: token.id,
            tenant_id: token.tenant.as_str(),
            butler: token.butler.as_deref(),
            name: &token.name,
            token_hash: bytea(&token.hash),
            rights: &token.rights,
            created_at: token.created_at,
            expires_at: token.expires_at,
            revoked_at: token.revoked_at,
            last_used_at: token.last_used_at,
            parent_id: token.parent,
            rotated_at: token.rotated_at(),
            previous_hash: token.rotation.map(|rotation| bytea(&rotation.previous_hash)),
            previous_until: token.rotation.map(|rotation| rotation.previous_until),
        }
    }
}

/// Merges tokens from another database; each token is given once. If both databases have a token, it gets the rights of the
/// other database. It is revoked, with all its descendants, if either database revoked it. The latest rotation counts.
pub async fn keep(write: OwnerContext<'_>, tokens: &[TokenRow]) -> Result<(), StoreError> {
    let OwnerContext { session, now, origin } = write;
    let mut tx = session.begin().await?;
    tx.run(|pg| sqlx::query!("SELECT lock_tokens()").execute(pg)).await?;
    let rows: Vec<TokenColumns<'_>> = tokens.iter().map(TokenColumns::from).collect();
    tx.run(|pg| {
        sqlx::query!(
            "INSERT INTO tokens (id, tenant_id, butler, name, token_hash, rights, created_at, expires_at, revoked_at,
                                 last_used_at, parent_id, rotated_at, previous_hash, previous_until)
             SELECT id, tenant_id, butler, name, token_hash, rights, created_at, expires_at, revoked_at,
                    last_used_at, parent_id, rotated_at, previous_hash, previous_until
             FROM jsonb_to_recordset($1) AS given (
                 id uuid, tenant_id text, butler text, name text, token_hash bytea, rights text[], created_at timestamptz,
                 expires_at timestamptz, revoked_at timestamptz, last_used_at timestamptz, parent_id uuid,
                 rotated_at timestamptz, previous_hash bytea, previous_until timestamptz)
             ON CONFLICT (id) DO UPDATE
             SET name = excluded.name, rights = excluded.rights, expires_at = excluded.expires_at,
                 revoked_at = coalesce(excluded.revoked_at, tokens.revoked_at),
                 last_used_at = greatest(excluded.last_used_at, tokens.last_used_at),
                 parent_id = coalesce(excluded.parent_id, tokens.parent_id),
                 (token_hash, rotated_at, previous_hash, previous_until) = (
                     SELECT CASE WHEN newer THEN excluded.token_hash ELSE tokens.token_hash END,
                            CASE WHEN newer THEN excluded.rotated_at ELSE tokens.rotated_at END,
                            CASE WHEN newer THEN excluded.previous_hash ELSE tokens.previous_hash END,
                            CASE WHEN newer THEN excluded.previous_until ELSE tokens.previous_until END
                     FROM (SELECT excluded.rotated_at > coalesce(tokens.rotated_at, '-infinity')) AS rotated (newer))",
            Json(&rows) as _
        )
        .execute(pg)
    })
    .await?;
    let revoked: Vec<Uuid> = tokens.iter().filter(|token| token.revoked_at.is_some()).map(|token| token.id).collect();
    revoke_all(OwnerContext { session: &mut tx, now, origin }, &revoked).await?;
    tx.commit().await
}

/// All tokens, including revoked and expired ones, oldest first.
pub async fn list(session: &mut Session) -> Result<Vec<TokenRow>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                "SELECT id, tenant_id, butler, name, token_hash, rights, created_at, expires_at, revoked_at, last_used_at,
                        parent_id, rotated_at, previous_hash, previous_until
                 FROM tokens ORDER BY created_at, id"
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter()
        .map(|row| {
            let bad = |column, reason: String| StoreError::BadData {
                table: "tokens",
                column,
                id: row.id.to_string(),
                reason,
            };
            let hash = |column, bytes: Vec<u8>| -> Result<TokenHash, StoreError> {
                bytes.try_into().map_err(|_| bad(column, "it is not 32 bytes long".to_owned()))
            };
            let rotation = match (row.rotated_at, row.previous_hash, row.previous_until) {
                (Some(at), Some(previous), Some(previous_until)) => {
                    Some(Rotation { at, previous_hash: hash("previous_hash", previous)?, previous_until })
                }
                _ => None,
            };
            Ok(TokenRow {
                id: row.id,
                tenant: TenantId::new(row.tenant_id).map_err(|error| bad("tenant_id", error.to_string()))?,
                butler: row.butler,
                name: row.name,
                hash: hash("token_hash", row.token_hash)?,
                rights: row.rights,
                created_at: row.created_at,
                expires_at: row.expires_at,
                revoked_at: row.revoked_at,
                last_used_at: row.last_used_at,
                parent: row.parent_id,
                rotation,
            })
        })
        .collect()
}

/// Whether a token has, or before its last rotation had, a secret with this hash, valid or not.
pub async fn contains(session: &mut Session, hash: &TokenHash) -> Result<bool, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT FROM tokens WHERE token_hash = $1 OR previous_hash = $1) AS "exists!""#,
                &hash[..]
            )
            .fetch_one(pg)
        })
        .await
}

/// Revokes a token and all its descendants. Returns those that were not revoked before; `None` if the token is not in
/// this database.
pub async fn revoke(write: OwnerContext<'_>, id: Uuid) -> Result<Option<Vec<Uuid>>, StoreError> {
    let OwnerContext { session, now, origin } = write;
    let mut tx = session.begin().await?;
    let revoked = revoke_all(OwnerContext { session: &mut tx, now, origin }, &[id]).await?;
    let here = tx
        .run(|pg| {
            sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM tokens WHERE id = $1) AS "here!""#, id).fetch_one(pg)
        })
        .await?;
    tx.commit().await?;
    Ok(here.then_some(revoked))
}

pub(crate) async fn revoke_all(write: OwnerContext<'_>, ids: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
    let OwnerContext { session, now, origin } = write;
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT revoke_tokens($1, $2, $3, $4) AS "revoked!""#,
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                ids
            )
            .fetch_one(pg)
        })
        .await
}

/// Gives a token a new secret; the old one is accepted until `grace_until`. Returns `None` if the token is not in this
/// database, `false` if it was revoked or has expired.
pub async fn rotate(
    write: OwnerContext<'_>,
    id: Uuid,
    new_hash: &TokenHash,
    grace_until: Timestamp,
) -> Result<Option<bool>, StoreError> {
    let OwnerContext { session, now, origin } = write;
    session
        .run(|pg| {
            sqlx::query_scalar!(
                "SELECT rotate_token($1, $2, $3, $4, $5, $6, $7)",
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                id,
                &new_hash[..],
                grace_until
            )
            .fetch_one(pg)
        })
        .await
}

/// Records when each token was last used. Processes write in any order, so the latest time is kept.
pub async fn used(session: &mut Session, uses: &[(Uuid, Timestamp)]) -> Result<(), StoreError> {
    let (ids, times): (Vec<Uuid>, Vec<Timestamp>) = uses.iter().copied().unzip();
    let mut tx = session.begin().await?;
    // Without this lock it could deadlock with a revocation, which also locks many rows.
    tx.run(|pg| sqlx::query!("SELECT lock_tokens()").execute(pg)).await?;
    tx.run(|pg| {
        sqlx::query!(
            "UPDATE tokens t SET last_used_at = u.at
             FROM unnest($1::uuid[], $2::timestamptz[]) AS u (id, at)
             WHERE t.id = u.id AND (t.last_used_at IS NULL OR t.last_used_at < u.at)",
            &ids,
            &times
        )
        .execute(pg)
    })
    .await?;
    tx.commit().await
}

/// Notifies of tokens that were created, changed or revoked in a database, by any process.
pub struct TokenChanges {
    listener: PgListener,
    _place: crate::connection::limit::ListenerSlot,
}

impl Database {
    /// Listens on a connection of its own and misses no change from now on. Returns `None` if this process already
    /// listens to as many databases of the server as it may, so this one must be polled.
    pub async fn token_changes(&self) -> Result<Option<TokenChanges>, StoreError> {
        let Some(place) = self.listening().await? else { return Ok(None) };
        let pool = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
        let pool = pool.acquire_timeout(self.connect_timeout()).connect_lazy_with(self.connect_options());
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen(CHANNEL).await?;
        Ok(Some(TokenChanges { listener, _place: place }))
    }
}

impl TokenChanges {
    /// The schema whose tokens changed; `None` after the connection was lost and reopened, when anything may have
    /// changed.
    pub async fn next(&mut self) -> Result<Option<String>, StoreError> {
        Ok(self.listener.try_recv().await?.map(|told| told.payload().to_owned()))
    }
}
