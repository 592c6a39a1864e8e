//! One-time links, and the browser session that each one opens.

use butler_domain::event::EventType;
use butler_domain::{TenantId, Timestamp};
use serde_json::json;
use uuid::Uuid;

use crate::events::{self, NewEvent};
use crate::tokens::TokenHash;
use crate::{OwnerContext, Session, StoreError, WriteContext};

/// A new login replaces the oldest ones beyond this many.
const MAX_LOGINS: i64 = 100;

/// A one-time link to store, and the most that the person who opens it may allow.
#[derive(Debug, Clone)]
pub struct NewLogin {
    pub id: Uuid,
    pub tenant: TenantId,
    /// The only butler that the person may give access to; `None`: any.
    pub butler: Option<String>,
    pub rights: Vec<String>,
    pub link_hash: TokenHash,
    pub link_expires_at: Timestamp,
    pub created_at: Timestamp,
}

/// A person who is signed in, and the most that they may allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    pub id: Uuid,
    pub tenant: TenantId,
    pub butler: Option<String>,
    pub rights: Vec<String>,
}

/// Stores a one-time link and deletes the oldest ones beyond the limit.
pub async fn create_login(session: &mut Session, login: &NewLogin) -> Result<(), StoreError> {
    let mut tx = session.begin().await?;
    tx.run(|pg| {
        sqlx::query!(
            "DELETE FROM oauth_logins WHERE id IN (
                 SELECT id FROM oauth_logins ORDER BY created_at DESC, id DESC OFFSET $1)",
            MAX_LOGINS - 1
        )
        .execute(pg)
    })
    .await?;
    tx.run(|pg| {
        sqlx::query!(
            "INSERT INTO oauth_logins (id, tenant_id, butler, rights, link_hash, link_expires_at, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            login.id,
            login.tenant.as_str(),
            login.butler,
            &login.rights,
            &login.link_hash[..],
            login.link_expires_at,
            login.created_at
        )
        .execute(pg)
    })
    .await?;
    tx.commit().await
}

/// Uses a link. Returns false if it is unknown, was used already or has expired.
pub async fn open_session(
    write: OwnerContext<'_>,
    link: &TokenHash,
    cookie: &TokenHash,
    expires_at: Timestamp,
) -> Result<bool, StoreError> {
    let OwnerContext { session, now, origin } = write;
    let mut tx = session.begin().await?;
    let used = tx
        .run(|pg| {
            sqlx::query!(
                "UPDATE oauth_logins SET session_hash = $2, session_expires_at = $4
                 WHERE link_hash = $1 AND session_hash IS NULL AND link_expires_at > $3
                 RETURNING id, tenant_id, butler, rights",
                &link[..],
                &cookie[..],
                now,
                expires_at
            )
            .fetch_optional(pg)
        })
        .await?;
    let Some(login) = used else { return Ok(false) };
    let tenant = tenant(login.id, login.tenant_id)?;
    let payload =
        json!({"login_id": login.id, "butler": login.butler, "rights": login.rights, "expires_at": expires_at});
    let event = NewEvent { event_type: EventType::LoginOpened, about: None, payload };
    events::record(WriteContext { session: &mut tx, tenant: &tenant, now, origin }, &[event]).await?;
    tx.commit().await?;
    Ok(true)
}

/// Who a session's cookie stands for; `None` if it is unknown or has expired.
pub async fn login_by_session(
    session: &mut Session,
    cookie: &TokenHash,
    now: Timestamp,
) -> Result<Option<Login>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                "SELECT id, tenant_id, butler, rights FROM oauth_logins
                 WHERE session_hash = $1 AND session_expires_at > $2",
                &cookie[..],
                now
            )
            .fetch_optional(pg)
        })
        .await?;
    row.map(|row| {
        let tenant = tenant(row.id, row.tenant_id)?;
        Ok(Login { id: row.id, tenant, butler: row.butler, rights: row.rights })
    })
    .transpose()
}

fn tenant(id: Uuid, text: String) -> Result<TenantId, StoreError> {
    TenantId::new(text).map_err(|error| StoreError::BadData {
        table: "oauth_logins",
        column: "tenant_id",
        id: id.to_string(),
        reason: error.to_string(),
    })
}
