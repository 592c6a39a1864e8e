//! What people allowed clients. The access token of a grant is the token with the same id, so that rights, revocation and
//! audit are those of tokens.

use butler_domain::event::{EventType, Origin};
use butler_domain::{TenantId, Timestamp};
use serde_json::json;
use uuid::Uuid;

use crate::events::{self, NewEvent};
use crate::hex::bytea;
use crate::tokens::{self, TokenHash};
use crate::{OwnerContext, Session, StoreError, WriteContext};

/// Codes that were never exchanged; a new one replaces the oldest beyond this many.
const MAX_PENDING: i64 = 100;

/// What a person just allowed, with the code that the client exchanges for tokens.
#[derive(Debug, Clone)]
pub struct NewGrant {
    pub id: Uuid,
    pub tenant: TenantId,
    pub butler: String,
    pub rights: Vec<String>,
    pub client_id: String,
    pub client_name: String,
    pub redirect_uri: String,
    pub login: Uuid,
    pub created_at: Timestamp,
    pub code_hash: TokenHash,
    pub code_challenge: String,
    pub code_expires_at: Timestamp,
}

/// A grant whose code was exchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Also the id of its access token.
    pub id: Uuid,
    pub tenant: TenantId,
    pub butler: String,
    pub rights: Vec<String>,
    pub client_id: String,
    pub client_name: String,
    pub redirect_uri: String,
    pub created_at: Timestamp,
    /// Until when the client may refresh its access.
    pub expires_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
}

impl Grant {
    /// `active`, `expired` or `revoked`.
    pub fn state(&self, now: Timestamp) -> &'static str {
        match self.revoked_at {
            Some(_) => "revoked",
            None if self.expires_at <= now => "expired",
            None => "active",
        }
    }
}

/// Stores what a person allowed, until the client exchanges the code.
pub async fn allow(session: &mut Session, origin: &Origin, grant: &NewGrant) -> Result<(), StoreError> {
    let mut tx = session.begin().await?;
    tx.run(|pg| {
        sqlx::query!(
            "DELETE FROM oauth_grants WHERE expires_at IS NULL AND id IN (
                 SELECT id FROM oauth_grants WHERE expires_at IS NULL ORDER BY created_at DESC, id DESC OFFSET $1)",
            MAX_PENDING - 1
        )
        .execute(pg)
    })
    .await?;
    let row = json!({"id": grant.id, "tenant_id": grant.tenant.as_str(), "butler": grant.butler, "rights": grant.rights,
        "client_id": grant.client_id, "client_name": grant.client_name, "redirect_uri": grant.redirect_uri,
        "login_id": grant.login, "created_at": grant.created_at, "code_hash": bytea(&grant.code_hash),
        "code_challenge": grant.code_challenge, "code_expires_at": grant.code_expires_at});
    tx.run(|pg| {
        sqlx::query!(
            "INSERT INTO oauth_grants (id, tenant_id, butler, rights, client_id, client_name, redirect_uri, login_id,
                                       created_at, code_hash, code_challenge, code_expires_at)
             SELECT id, tenant_id, butler, rights, client_id, client_name, redirect_uri, login_id, created_at, code_hash,
                    code_challenge, code_expires_at
             FROM jsonb_populate_record(NULL::oauth_grants, $1)",
            row
        )
        .execute(pg)
    })
    .await?;
    let payload = json!({"grant_id": grant.id, "login_id": grant.login, "client_id": grant.client_id,
        "client_name": grant.client_name, "redirect_uri": grant.redirect_uri, "butler": grant.butler,
        "rights": grant.rights});
    let event = NewEvent { event_type: EventType::ConsentGranted, about: None, payload };
    let write = WriteContext { session: &mut tx, tenant: &grant.tenant, now: grant.created_at, origin };
    events::record(write, &[event]).await?;
    tx.commit().await
}

/// A person who did not allow a client what it asked for.
#[derive(Debug, Clone, Copy)]
pub struct Denial<'a> {
    pub client_id: &'a str,
    pub client_name: &'a str,
    pub butler: &'a str,
    pub login: Uuid,
}

/// Records that a person denied a client access.
pub async fn deny(write: WriteContext<'_>, denial: Denial<'_>) -> Result<(), StoreError> {
    let payload = json!({"login_id": denial.login, "client_id": denial.client_id, "client_name": denial.client_name,
        "butler": denial.butler});
    events::record(write, &[NewEvent { event_type: EventType::ConsentRefused, about: None, payload }]).await
}

/// Revokes the grant of an access token or a refresh token of this client. Returns its id; `None` if there is none.
pub async fn revoke(write: OwnerContext<'_>, secret: &TokenHash, client_id: &str) -> Result<Option<Uuid>, StoreError> {
    let OwnerContext { session, now, origin } = write;
    let mut tx = session.begin().await?;
    let id = tx
        .run(|pg| {
            sqlx::query_scalar!(
                "SELECT g.id FROM oauth_grants g JOIN tokens t ON t.id = g.id
                 WHERE g.client_id = $2
                   AND ($1 IN (t.token_hash, t.previous_hash)
                        OR EXISTS (SELECT FROM oauth_refresh_tokens r WHERE r.grant_id = g.id AND r.token_hash = $1))",
                &secret[..],
                client_id
            )
            .fetch_optional(pg)
        })
        .await?;
    if let Some(id) = id {
        tokens::revoke_all(OwnerContext { session: &mut tx, now, origin }, &[id]).await?;
    }
    tx.commit().await?;
    Ok(id)
}

/// All grants whose code was exchanged, revoked and expired ones too, oldest first.
pub async fn list(session: &mut Session) -> Result<Vec<Grant>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT g.id, g.tenant_id, g.butler, g.rights, g.client_id, g.client_name, g.redirect_uri, g.created_at,
                          g.expires_at AS "expires_at!", t.revoked_at, t.last_used_at
                   FROM oauth_grants g JOIN tokens t ON t.id = g.id
                   WHERE g.expires_at IS NOT NULL ORDER BY g.created_at, g.id"#
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Grant {
                id: row.id,
                tenant: tenant(row.id, row.tenant_id)?,
                butler: row.butler,
                rights: row.rights,
                client_id: row.client_id,
                client_name: row.client_name,
                redirect_uri: row.redirect_uri,
                created_at: row.created_at,
                expires_at: row.expires_at,
                revoked_at: row.revoked_at,
                last_used_at: row.last_used_at,
            })
        })
        .collect()
}

pub(super) fn tenant(id: Uuid, text: String) -> Result<TenantId, StoreError> {
    TenantId::new(text).map_err(|error| StoreError::BadData {
        table: "oauth_grants",
        column: "tenant_id",
        id: id.to_string(),
        reason: error.to_string(),
    })
}
