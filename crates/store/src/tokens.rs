//! Bearer tokens. Only their SHA-256 is kept: whoever reads the table cannot use what it says. All on an owner's
//! session, since a token is what names the tenant.

use butler_domain::{TenantId, Timestamp};
use sha2::{Digest, Sha256};
use sqlx::postgres::{PgListener, PgPoolOptions};
use uuid::Uuid;

use crate::{Database, Session, StoreError};

/// The channel of the trigger `tokens_tell`.
const CHANNEL: &str = "butler_tokens";

pub type TokenHash = [u8; 32];

pub fn hash(token: &str) -> TokenHash {
    Sha256::digest(token.as_bytes()).into()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    pub id: Uuid,
    pub tenant: TenantId,
    /// `None`: any butler of the host.
    pub butler: Option<String>,
    /// What it is for, in its maker's words; may be empty.
    pub name: String,
    pub hash: TokenHash,
    /// Some of `read`, `write` and `admin`; or `metrics` alone.
    pub rights: Vec<String>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
}

/// Its holder reads what is counted over all tenants, and nothing of any.
pub const METRICS: &str = "metrics";

impl TokenRow {
    /// `None`: it is for no tenant's memory.
    pub fn of_tenant(&self) -> Option<&TenantId> {
        let counts = self.rights.iter().any(|right| right == METRICS);
        (!counts).then_some(&self.tenant)
    }
}

pub async fn create(session: &mut Session, token: &TokenRow) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                "INSERT INTO tokens (id, tenant_id, butler, name, token_hash, rights, created_at, expires_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                token.id,
                token.tenant.as_str(),
                token.butler,
                token.name,
                &token.hash[..],
                &token.rights,
                token.created_at,
                token.expires_at
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// Puts tokens as they stood elsewhere beside those that are here. Of one that is in both, what it allows now is what was
/// said elsewhere; revoked in either, it is revoked.
pub async fn keep(session: &mut Session, tokens: &[TokenRow]) -> Result<(), StoreError> {
    let mut tx = session.begin().await?;
    for token in tokens {
        tx.run(|pg| {
            sqlx::query!(
                "INSERT INTO tokens (id, tenant_id, butler, name, token_hash, rights, created_at, expires_at, revoked_at, last_used_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
                 ON CONFLICT ON CONSTRAINT tokens_hash_unique DO UPDATE
                 SET name = excluded.name, rights = excluded.rights, expires_at = excluded.expires_at,
                     revoked_at = coalesce(excluded.revoked_at, tokens.revoked_at),
                     last_used_at = greatest(excluded.last_used_at, tokens.last_used_at)",
                token.id,
                token.tenant.as_str(),
                token.butler,
                token.name,
                &token.hash[..],
                &token.rights,
                token.created_at,
                token.expires_at,
                token.revoked_at,
                token.last_used_at
            )
            .execute(pg)
        })
        .await?;
    }
    tx.commit().await
}

/// All of them, revoked and expired ones too, oldest first.
pub async fn list(session: &mut Session) -> Result<Vec<TokenRow>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                "SELECT id, tenant_id, butler, name, token_hash, rights, created_at, expires_at, revoked_at, last_used_at
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
            Ok(TokenRow {
                id: row.id,
                tenant: TenantId::new(row.tenant_id).map_err(|error| bad("tenant_id", error.to_string()))?,
                butler: row.butler,
                name: row.name,
                hash: row.token_hash.try_into().map_err(|_| bad("token_hash", "it is not 32 bytes long".to_owned()))?,
                rights: row.rights,
                created_at: row.created_at,
                expires_at: row.expires_at,
                revoked_at: row.revoked_at,
                last_used_at: row.last_used_at,
            })
        })
        .collect()
}

/// Whether a token with this hash exists, valid or not.
pub async fn contains(session: &mut Session, hash: &TokenHash) -> Result<bool, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM tokens WHERE token_hash = $1) AS "exists!""#, &hash[..])
                .fetch_one(pg)
        })
        .await
}

/// Says whether the token is there. One that was revoked before keeps its time.
pub async fn revoke(session: &mut Session, id: Uuid, now: Timestamp) -> Result<bool, StoreError> {
    let done = session
        .run(|pg| {
            sqlx::query!("UPDATE tokens SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1", id, now).execute(pg)
        })
        .await?;
    Ok(done.rows_affected() > 0)
}

/// When each was last used; replicas write in any order, so the latest stays.
pub async fn used(session: &mut Session, uses: &[(Uuid, Timestamp)]) -> Result<(), StoreError> {
    let (ids, times): (Vec<Uuid>, Vec<Timestamp>) = uses.iter().copied().unzip();
    session
        .run(|pg| {
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
    Ok(())
}

/// Tells of tokens made, changed or revoked in a database, whoever did it.
pub struct TokenChanges {
    listener: PgListener,
    _place: crate::connection::limit::ListenerSlot,
}

impl Database {
    /// On a connection of its own. From now on nothing is missed. `None`: this process listens to as many databases of
    /// the server as it may, so this one has to be asked again and again.
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
    /// The schema whose tokens changed. `None`: the connection was lost and made again, so anything may have changed.
    pub async fn next(&mut self) -> Result<Option<String>, StoreError> {
        Ok(self.listener.try_recv().await?.map(|told| told.payload().to_owned()))
    }
}
