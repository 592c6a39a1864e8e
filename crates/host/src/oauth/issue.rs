//! Grants, and the secrets that clients get for them. Codes and refresh tokens name the butler whose database knows them.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use butler_domain::Timestamp;
use butler_domain::event::Origin;
use butler_store::oauth::{self, CodeUse, Grant, NewGrant, NewSecrets, Outcome, RefreshUse};
use butler_store::{Database, StoreError};

use super::{ACCESS_LIFETIME, ACTOR, CODE_LIFETIME, REFRESH_GRACE, REFRESH_LIFETIME, connect, failed, home};
use crate::access::{hash_token, hex, new_token, random, unhex};
use crate::butler::Butler;
use crate::error::HostError;
use crate::host::{Host, tokens};

/// Let people and secret scanners recognize them.
const CODE_PREFIX: &str = "btc_";
const REFRESH_PREFIX: &str = "btr_";

/// What a client gets.
#[derive(Debug)]
pub struct Issued {
    pub grant: Grant,
    pub access_token: String,
    pub refresh_token: String,
}

/// The PKCE challenge of a verifier, by the method S256.
pub fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(hash_token(verifier))
}

/// A new code for a butler, and when it expires.
pub fn new_code(host: &Host, butler: &str) -> Result<(String, Timestamp), HostError> {
    Ok((secret_for(CODE_PREFIX, butler)?, host.clock().now() + CODE_LIFETIME))
}

fn secret_for(prefix: &str, butler: &str) -> Result<String, HostError> {
    Ok(format!("{prefix}{}.{}", hex(butler.as_bytes()), random()?))
}

/// The butler that a code or refresh token names, if there is one.
fn butler_of(host: &Host, prefix: &str, secret: &str) -> Option<Arc<Butler>> {
    let (name, _) = secret.strip_prefix(prefix)?.split_once('.')?;
    let name = String::from_utf8(unhex(name)?).ok()?;
    host.butler(Some(&name)).ok()
}

fn by_client() -> Origin {
    Origin { actor: Some(ACTOR.to_owned()), request_id: None }
}

/// Stores what a person allowed.
pub async fn allow(host: &Host, grant: &NewGrant) -> Result<(), HostError> {
    // Once a token exists, nobody is trusted without one. The client makes the token a moment later.
    host.remember_tokens()?;
    let butler = host.butler(Some(&grant.butler))?;
    let mut conn = connect(&butler).await?;
    oauth::allow(&mut conn, grant).await.map_err(failed(&butler))?;
    drop(conn);
    let (first, mut conn) = home(host).await?;
    oauth::mark_granted(&mut conn, &grant.client_id).await.map_err(failed(&first))
}

/// What a client presents at the token endpoint, besides its code or refresh token.
#[derive(Debug, Clone, Copy)]
pub struct Presented<'a> {
    pub client_id: &'a str,
    /// The butler of the resource that the client names.
    pub butler: Option<&'a str>,
}

struct Fresh {
    access_token: String,
    refresh_token: String,
    hashes: NewSecrets,
}

impl Fresh {
    fn new(butler: &Butler, now: Timestamp) -> Result<Self, HostError> {
        let (access_token, refresh_token) = (new_token()?, secret_for(REFRESH_PREFIX, butler.name.as_str())?);
        let hashes = NewSecrets {
            access_hash: hash_token(&access_token),
            access_expires_at: now + ACCESS_LIFETIME,
            refresh_hash: hash_token(&refresh_token),
            refresh_expires_at: now + REFRESH_LIFETIME,
        };
        Ok(Self { access_token, refresh_token, hashes })
    }

    /// Loads the token if it changed, so that the change takes effect at once.
    async fn finish(
        self,
        host: &Host,
        butler: &Butler,
        outcome: Result<Outcome, StoreError>,
    ) -> Result<Result<Issued, Outcome>, HostError> {
        let outcome = outcome.map_err(failed(butler))?;
        if changed_tokens(&outcome) {
            reload(host, butler).await;
        }
        Ok(match outcome {
            Outcome::Issued(grant) => {
                Ok(Issued { grant: *grant, access_token: self.access_token, refresh_token: self.refresh_token })
            }
            refused => Err(refused),
        })
    }
}

/// Whether tokens must be loaded again. Strangers can cause the other outcomes as often as they like.
fn changed_tokens(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Issued(_) | Outcome::UsedAgain)
}

/// Loads tokens that changed. The change is stored, so a failure is only logged.
async fn reload(host: &Host, butler: &Butler) {
    if let Err(error) = tokens::load(host, butler).await {
        // The database's notification delivers the change a moment later.
        tracing::warn!(%error, butler = butler.name.as_str(), "cannot reload the tokens of an OAuth client at once");
    }
}

/// Exchanges a code for tokens.
pub async fn exchange(
    host: &Host,
    code: &str,
    verifier: &str,
    redirect_uri: Option<&str>,
    presented: Presented<'_>,
) -> Result<Result<Issued, Outcome>, HostError> {
    let Some(butler) = butler_of(host, CODE_PREFIX, code) else { return Ok(Err(Outcome::Unknown)) };
    let (now, challenge) = (host.clock().now(), challenge_of(verifier));
    let fresh = Fresh::new(&butler, now)?;
    let Presented { client_id, butler: named } = presented;
    let used = CodeUse { code_hash: hash_token(code), client_id, redirect_uri, challenge: &challenge, butler: named };
    let mut conn = connect(&butler).await?;
    let outcome = oauth::exchange(&mut conn, &by_client(), now, used, fresh.hashes).await;
    drop(conn);
    fresh.finish(host, &butler, outcome).await
}

/// Exchanges a refresh token for new tokens.
pub async fn refresh(
    host: &Host,
    refresh_token: &str,
    presented: Presented<'_>,
) -> Result<Result<Issued, Outcome>, HostError> {
    let Some(butler) = butler_of(host, REFRESH_PREFIX, refresh_token) else { return Ok(Err(Outcome::Unknown)) };
    let now = host.clock().now();
    let fresh = Fresh::new(&butler, now)?;
    let used = RefreshUse {
        refresh_hash: hash_token(refresh_token),
        client_id: presented.client_id,
        butler: presented.butler,
        previous_until: now + REFRESH_GRACE,
    };
    let mut conn = connect(&butler).await?;
    let outcome = oauth::refresh(&mut conn, &by_client(), now, used, fresh.hashes).await;
    drop(conn);
    fresh.finish(host, &butler, outcome).await
}

/// Revokes the grant of a client's access token or refresh token. An unknown one is not an error.
pub async fn revoke(host: &Host, secret: &str, client_id: &str) -> Result<(), HostError> {
    let (now, hash) = (host.clock().now(), hash_token(secret));
    let by_access_token = || host.keyring().verify(&hash, now).ok().and_then(|access| access.butler);
    let butler = match butler_of(host, REFRESH_PREFIX, secret) {
        Some(butler) => butler,
        None => match by_access_token().and_then(|name| host.butler(Some(&name)).ok()) {
            Some(butler) => butler,
            None => return Ok(()),
        },
    };
    let mut conn = connect(&butler).await?;
    let revoked = oauth::revoke(&mut conn, &by_client(), now, &hash, client_id).await.map_err(failed(&butler))?;
    drop(conn);
    if revoked.is_some() {
        reload(host, &butler).await;
    }
    Ok(())
}

/// All grants in a butler's database.
pub async fn list_grants(database: &Database) -> Result<Vec<Grant>, StoreError> {
    oauth::list(&mut *database.owner().await?).await
}

/// The grants of all butlers.
pub async fn all_grants(host: &Host) -> Result<Vec<Grant>, HostError> {
    let mut grants = Vec::new();
    for butler in host.butlers() {
        let mut conn = connect(&butler).await?;
        grants.extend(oauth::list(&mut conn).await.map_err(failed(&butler))?);
    }
    Ok(grants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_the_one_of_rfc_7636() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(challenge_of(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn a_refused_guess_loads_no_tokens() {
        for refused in [Outcome::Unknown, Outcome::Expired, Outcome::Revoked, Outcome::Mismatch, Outcome::OtherResource]
        {
            assert!(!changed_tokens(&refused), "{refused:?}");
        }
        assert!(changed_tokens(&Outcome::UsedAgain), "the grant was revoked");
    }
}
