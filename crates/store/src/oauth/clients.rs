//! Clients that registered themselves (RFC 7591).

use butler_domain::Timestamp;

use crate::{Session, StoreError};

/// Anybody may register. Beyond this many, the oldest that was never granted anything goes.
const MAX_CLIENTS: i64 = 1_000;

/// A program that registered itself or is known by its metadata document, and may ask a person for access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub id: String,
    pub name: String,
    pub redirect_uris: Vec<String>,
    pub created_at: Timestamp,
}

/// Stores a client. Returns false if there are too many and all were granted something.
pub async fn register(session: &mut Session, client: &Client) -> Result<bool, StoreError> {
    let mut tx = session.begin().await?;
    tx.run(|pg| sqlx::query!("SELECT lock_tokens()").execute(pg)).await?;
    tx.run(|pg| {
        sqlx::query!(
            "DELETE FROM oauth_clients WHERE id IN (
                 SELECT id FROM oauth_clients WHERE NOT granted ORDER BY created_at, id
                 LIMIT greatest(0, (SELECT count(*) FROM oauth_clients) - $1 + 1))",
            MAX_CLIENTS
        )
        .execute(pg)
    })
    .await?;
    let stored = tx
        .run(|pg| {
            sqlx::query!(
                "INSERT INTO oauth_clients (id, name, redirect_uris, created_at)
                 SELECT $1, $2, $3, $4 WHERE (SELECT count(*) FROM oauth_clients) < $5",
                client.id,
                client.name,
                &client.redirect_uris,
                client.created_at,
                MAX_CLIENTS
            )
            .execute(pg)
        })
        .await?;
    tx.commit().await?;
    Ok(stored.rows_affected() == 1)
}

/// Reads a client; `None` if no client has the id.
pub async fn client(session: &mut Session, id: &str) -> Result<Option<Client>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(Client, "SELECT id, name, redirect_uris, created_at FROM oauth_clients WHERE id = $1", id)
                .fetch_optional(pg)
        })
        .await
}

/// Remembers that a person allowed this client something, so that it stays registered.
pub async fn mark_granted(session: &mut Session, id: &str) -> Result<(), StoreError> {
    session.run(|pg| sqlx::query!("UPDATE oauth_clients SET granted = true WHERE id = $1", id).execute(pg)).await?;
    Ok(())
}
