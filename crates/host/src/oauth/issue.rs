//! Grants, and the secrets that clients get for them. Codes and refresh tokens name the butler whose database knows them.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use butler_domain::{TenantId, Timestamp};
use butler_store::oauth::{self, CodeUse, Denial, Grant, NewGrant, NewSecrets, Outcome, RefreshUse, Seed};
use butler_store::{Database, OwnerContext, StoreError, WriteContext};

use super::{
    ACCESS_LIFETIME, CODE_LIFETIME, PARALLEL_REFRESH, REFRESH_GRACE, REFRESH_LIFETIME, audit_origin, connect, failed,
    home,
};
use crate::access::{derived, derived_token, hash_token, hex, random, unhex};
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
    Ok((secret_for(CODE_PREFIX, butler, &random()?), host.clock().now() + CODE_LIFETIME))
}

fn secret_for(prefix: &str, butler: &str, random: &str) -> String {
    format!("{prefix}{}.{random}", hex(butler.as_bytes()))
}

/// The butler that a code or refresh token names, if there is one.
fn butler_of(host: &Host, prefix: &str, secret: &str) -> Option<Arc<Butler>> {
    let (name, _) = secret.strip_prefix(prefix)?.split_once('.')?;
    let name = String::from_utf8(unhex(name)?).ok()?;
    host.butler(Some(&name)).ok()
}

/// Stores what a person allowed.
pub async fn allow(host: &Host, grant: &NewGrant) -> Result<(), HostError> {
    // Once a token exists, nobody is trusted without one. The client makes the token a moment later.
    host.remember_tokens()?;
    let butler = host.butler(Some(&grant.butler))?;
    let mut conn = connect(&butler).await?;
    oauth::allow(&mut conn, &audit_origin(), grant).await.map_err(failed(&butler))?;
    drop(conn);
    let (first, mut conn) = home(host).await?;
    oauth::mark_granted(&mut conn, &grant.client_id).await.map_err(failed(&first))
}

/// Records that a person denied a client access.
pub async fn deny(host: &Host, tenant: &TenantId, denial: Denial<'_>) -> Result<(), HostError> {
    let butler = host.butler(Some(denial.butler))?;
    let mut conn = connect(&butler).await?;
    let write = WriteContext { session: &mut conn, tenant, now: host.clock().now(), origin: &audit_origin() };
    oauth::deny(write, denial).await.map_err(failed(&butler))
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
    /// Derives the secrets that replace a code or refresh token from it and a random seed, so that a request that is sent
    /// twice gets the same answer although only hashes are stored.
    fn new(butler: &Butler, now: Timestamp, seed: &Seed, replaced: &str) -> Self {
        let access_token = derived_token(seed, &format!("access {replaced}"));
        let random = derived(seed, &format!("refresh {replaced}"));
        let refresh_token = secret_for(REFRESH_PREFIX, butler.name.as_str(), &random);
        let hashes = NewSecrets {
            access_hash: hash_token(&access_token),
            access_expires_at: now + ACCESS_LIFETIME,
            refresh_hash: hash_token(&refresh_token),
            refresh_expires_at: now + REFRESH_LIFETIME,
        };
        Self { access_token, refresh_token, hashes }
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
            Outcome::Issued(grant) | Outcome::Repeated(grant, _) => {
                Ok(Issued { grant: *grant, access_token: self.access_token, refresh_token: self.refresh_token })
            }
            refused => Err(refused),
        })
    }
}

/// Whether tokens must be loaded again. Strangers can cause the other outcomes as often as they like.
fn changed_tokens(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Issued(_) | Outcome::Repeated(..) | Outcome::UsedAgain)
}

/// Loads tokens that changed. The change is stored, so a failure is only logged.
async fn reload(host: &Host, butler: &Butler) {
    if let Err(error) = tokens::load(host, butler).await {
        // The database's notification delivers the change a moment later.
        tracing::warn!(%error, butler = butler.name.as_str(), "cannot reload the tokens of an OAuth client at once");
    }
}

/// What a client exchanges for tokens.
#[derive(Debug, Clone, Copy)]
pub enum Credential<'a> {
    Code { code: &'a str, verifier: &'a str, redirect_uri: Option<&'a str> },
    RefreshToken(&'a str),
}

/// Exchanges a code or a refresh token for tokens.
pub async fn issue(
    host: &Host,
    credential: Credential<'_>,
    presented: Presented<'_>,
) -> Result<Result<Issued, Outcome>, HostError> {
    let (prefix, secret) = match credential {
        Credential::Code { code, .. } => (CODE_PREFIX, code),
        Credential::RefreshToken(token) => (REFRESH_PREFIX, token),
    };
    let Some(butler) = butler_of(host, prefix, secret) else { return Ok(Err(Outcome::Unknown)) };
    let (now, hash) = (host.clock().now(), hash_token(secret));
    let seed = hash_token(&random()?);
    let fresh = Fresh::new(&butler, now, &seed, secret);
    let Presented { client_id, butler: named } = presented;
    let mut conn = connect(&butler).await?;
    let write = OwnerContext { session: &mut conn, now, origin: &audit_origin() };
    let outcome = match credential {
        Credential::Code { verifier, redirect_uri, .. } => {
            let challenge = challenge_of(verifier);
            let used = CodeUse { code_hash: hash, client_id, redirect_uri, challenge: &challenge, butler: named };
            oauth::exchange(write, used, fresh.hashes).await
        }
        Credential::RefreshToken(_) => {
            let used = RefreshUse {
                refresh_hash: hash,
                client_id,
                butler: named,
                previous_until: now + REFRESH_GRACE,
                parallel_since: now - PARALLEL_REFRESH,
                seed,
            };
            oauth::refresh(write, used, fresh.hashes).await
        }
    };
    drop(conn);
    let fresh = match &outcome {
        Ok(Outcome::Repeated(_, seed)) => Fresh::new(&butler, now, seed, secret),
        _ => fresh,
    };
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
    let write = OwnerContext { session: &mut conn, now, origin: &audit_origin() };
    let revoked = oauth::revoke(write, &hash, client_id).await.map_err(failed(&butler))?;
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
