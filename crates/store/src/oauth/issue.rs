//! Exchanges codes and refresh tokens for the secrets of a grant.

use butler_domain::Timestamp;
use uuid::Uuid;

use super::grants::{Grant, list, tenant};
use crate::tokens::{self, Creation, TokenHash, TokenRow};
use crate::{OwnerContext, StoreError, Tx};

/// Refresh tokens that are remembered for each grant, to notice when one is used again. At one an hour, 40 days.
const MAX_REMEMBERED: i64 = 1_000;

/// New secrets for a client.
#[derive(Debug, Clone, Copy)]
pub struct NewSecrets {
    pub access_hash: TokenHash,
    pub access_expires_at: Timestamp,
    pub refresh_hash: TokenHash,
    pub refresh_expires_at: Timestamp,
}

/// A client that presents a code.
#[derive(Debug, Clone, Copy)]
pub struct CodeUse<'a> {
    pub code_hash: TokenHash,
    pub client_id: &'a str,
    /// If the client names it, it must be the one of the authorization request.
    pub redirect_uri: Option<&'a str>,
    /// The S256 challenge of the presented verifier.
    pub challenge: &'a str,
    /// If the client names a resource, its butler.
    pub butler: Option<&'a str>,
}

/// A client that presents a refresh token.
#[derive(Debug, Clone, Copy)]
pub struct RefreshUse<'a> {
    pub refresh_hash: TokenHash,
    pub client_id: &'a str,
    pub butler: Option<&'a str>,
    /// Until when the access token before this one is accepted.
    pub previous_until: Timestamp,
    /// A refresh token that was replaced after this time counts as used twice concurrently, not as reused.
    pub parallel_since: Timestamp,
    /// The new secrets are derived from this and the presented token.
    pub seed: Seed,
}

/// A random value. The secrets that replace a token are derived from it and from the token, which only the client has.
pub type Seed = [u8; 32];

/// What became of a code or a refresh token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Issued(Box<Grant>),
    /// The refresh token was used twice concurrently. The secrets are those of the first request, derived from this seed.
    Repeated(Box<Grant>, Seed),
    Unknown,
    Expired,
    Revoked,
    /// Client, redirect URI or verifier are not those of the grant.
    Mismatch,
    /// The resource is not the one of the grant.
    OtherResource,
    /// It was used before, so the grant is now revoked.
    UsedAgain,
}

/// Exchanges a code for an access token and a refresh token. A code works once, whatever the outcome.
pub async fn exchange(
    write: OwnerContext<'_>,
    presented: CodeUse<'_>,
    secrets: NewSecrets,
) -> Result<Outcome, StoreError> {
    let OwnerContext { session, now, origin } = write;
    let mut tx = session.begin().await?;
    tx.run(|pg| sqlx::query!("SELECT lock_tokens()").execute(pg)).await?;
    let row = tx
        .run(|pg| {
            sqlx::query!(
                "SELECT id, tenant_id, butler, rights, client_id, client_name, redirect_uri, created_at, code_challenge,
                        code_expires_at, code_used_at
                 FROM oauth_grants WHERE code_hash = $1",
                &presented.code_hash[..]
            )
            .fetch_optional(pg)
        })
        .await?;
    let Some(row) = row else { return Ok(Outcome::Unknown) };
    if row.code_used_at.is_some() {
        tokens::revoke_all(OwnerContext { session: &mut tx, now, origin }, &[row.id]).await?;
        tx.commit().await?;
        return Ok(Outcome::UsedAgain);
    }
    tx.run(|pg| sqlx::query!("UPDATE oauth_grants SET code_used_at = $2 WHERE id = $1", row.id, now).execute(pg))
        .await?;
    let refused = if row.code_expires_at <= now {
        Some(Outcome::Expired)
    } else if row.client_id != presented.client_id
        || row.code_challenge != presented.challenge
        || presented.redirect_uri.is_some_and(|uri| uri != row.redirect_uri)
    {
        Some(Outcome::Mismatch)
    } else if presented.butler.is_some_and(|butler| butler != row.butler) {
        Some(Outcome::OtherResource)
    } else {
        None
    };
    if let Some(refused) = refused {
        tx.commit().await?;
        return Ok(refused);
    }
    let grant = Grant {
        id: row.id,
        tenant: tenant(row.id, row.tenant_id)?,
        butler: row.butler,
        rights: row.rights,
        client_id: row.client_id,
        client_name: row.client_name,
        redirect_uri: row.redirect_uri,
        created_at: row.created_at,
        expires_at: secrets.refresh_expires_at,
        revoked_at: None,
        last_used_at: None,
    };
    if tokens::create(&mut tx, origin, &access_token(&grant, now, secrets)).await? != Creation::Created {
        // Two clients with one name and the same last digits of the id: this one logs in again.
        return Ok(Outcome::Mismatch);
    }
    remember(&mut tx, &grant, now, secrets).await?;
    tx.commit().await?;
    Ok(Outcome::Issued(Box::new(grant)))
}

/// The token of a grant. Clients may share a name, and live tokens may not, so the end of the id follows.
fn access_token(grant: &Grant, now: Timestamp, secrets: NewSecrets) -> TokenRow {
    let id = grant.id.simple().to_string();
    TokenRow {
        id: grant.id,
        tenant: grant.tenant.clone(),
        butler: Some(grant.butler.clone()),
        name: format!("{} {}", grant.client_name, &id[id.len() - 8..]),
        hash: secrets.access_hash,
        rights: grant.rights.clone(),
        created_at: now,
        expires_at: Some(secrets.access_expires_at),
        revoked_at: None,
        last_used_at: None,
        parent: None,
        rotation: None,
    }
}

/// Stores a new refresh token.
async fn remember(tx: &mut Tx<'_>, grant: &Grant, now: Timestamp, secrets: NewSecrets) -> Result<(), StoreError> {
    tx.run(|pg| {
        sqlx::query!("UPDATE oauth_grants SET expires_at = $2 WHERE id = $1", grant.id, secrets.refresh_expires_at)
            .execute(pg)
    })
    .await?;
    tx.run(|pg| {
        sqlx::query!(
            "DELETE FROM oauth_refresh_tokens WHERE token_hash IN (
                 SELECT token_hash FROM oauth_refresh_tokens WHERE grant_id = $1 ORDER BY created_at DESC OFFSET $2)",
            grant.id,
            MAX_REMEMBERED - 1
        )
        .execute(pg)
    })
    .await?;
    tx.run(|pg| {
        sqlx::query!(
            "INSERT INTO oauth_refresh_tokens (token_hash, tenant_id, grant_id, created_at) VALUES ($1, $2, $3, $4)",
            &secrets.refresh_hash[..],
            grant.tenant.as_str(),
            grant.id,
            now
        )
        .execute(pg)
    })
    .await?;
    Ok(())
}

/// Marks the presented refresh token as replaced, and deletes the seeds that are no longer needed.
async fn replace(tx: &mut Tx<'_>, grant: Uuid, now: Timestamp, presented: RefreshUse<'_>) -> Result<(), StoreError> {
    tx.run(|pg| {
        sqlx::query!(
            "UPDATE oauth_refresh_tokens
             SET replaced_at = coalesce(replaced_at, $2),
                 successor_seed = CASE WHEN token_hash = $3 THEN $4::bytea WHEN replaced_at > $5 THEN successor_seed END
             WHERE grant_id = $1 AND (replaced_at IS NULL OR successor_seed IS NOT NULL)",
            grant,
            now,
            &presented.refresh_hash[..],
            &presented.seed[..],
            presented.parallel_since
        )
        .execute(pg)
    })
    .await?;
    Ok(())
}

/// Exchanges a refresh token for new secrets. A token that was replaced some time ago revokes the grant, because two parties
/// have it. A token that was replaced a moment ago comes from a client that refreshes twice concurrently, which gets the same
/// secrets again.
pub async fn refresh(
    write: OwnerContext<'_>,
    presented: RefreshUse<'_>,
    secrets: NewSecrets,
) -> Result<Outcome, StoreError> {
    let OwnerContext { session, now, origin } = write;
    let mut tx = session.begin().await?;
    tx.run(|pg| sqlx::query!("SELECT lock_tokens()").execute(pg)).await?;
    let found = tx
        .run(|pg| {
            sqlx::query!(
                "SELECT grant_id, replaced_at, successor_seed FROM oauth_refresh_tokens WHERE token_hash = $1",
                &presented.refresh_hash[..]
            )
            .fetch_optional(pg)
        })
        .await?;
    let Some(found) = found else { return Ok(Outcome::Unknown) };
    let Some(grant) = list(&mut tx).await?.into_iter().find(|grant| grant.id == found.grant_id) else {
        return Ok(Outcome::Unknown);
    };
    if grant.client_id != presented.client_id {
        return Ok(Outcome::Mismatch);
    }
    let seed = found.successor_seed.and_then(|seed| Seed::try_from(seed).ok());
    if found.replaced_at.is_some_and(|at| at <= presented.parallel_since || seed.is_none()) {
        tokens::revoke_all(OwnerContext { session: &mut tx, now, origin }, &[grant.id]).await?;
        tx.commit().await?;
        return Ok(Outcome::UsedAgain);
    }
    match grant.state(now) {
        "revoked" => return Ok(Outcome::Revoked),
        "expired" => return Ok(Outcome::Expired),
        _ => {}
    }
    if presented.butler.is_some_and(|butler| butler != grant.butler) {
        return Ok(Outcome::OtherResource);
    }
    if let Some(seed) = seed {
        return Ok(Outcome::Repeated(Box::new(grant), seed));
    }
    let Some(token) = tokens::list(&mut tx).await?.into_iter().find(|token| token.id == grant.id) else {
        return Ok(Outcome::Unknown);
    };
    // The replaced access token must not work longer than it would have.
    let previous_until = token.expires_at.map_or(presented.previous_until, |end| end.min(presented.previous_until));
    // An access token has usually expired by now, and an expired token is not rotated.
    tx.run(|pg| {
        sqlx::query!("UPDATE tokens SET expires_at = $2 WHERE id = $1", grant.id, secrets.access_expires_at).execute(pg)
    })
    .await?;
    let write = OwnerContext { session: &mut tx, now, origin };
    let rotated = tokens::rotate(write, grant.id, &secrets.access_hash, previous_until).await?;
    if rotated != Some(true) {
        return Ok(Outcome::Revoked);
    }
    replace(&mut tx, grant.id, now, presented).await?;
    remember(&mut tx, &grant, now, secrets).await?;
    tx.commit().await?;
    Ok(Outcome::Issued(Box::new(Grant { expires_at: secrets.refresh_expires_at, ..grant })))
}
