//! Random secrets: tokens for users, and the secret of one server process.

use std::fmt;

use butler_domain::TenantId;
use butler_store::tokens::{TokenHash, hash};
use ring::hmac;
use subtle::ConstantTimeEq;

use crate::error::HostError;

/// Lets people and secret scanners recognize a token.
const TOKEN_PREFIX: &str = "btl_";
const SESSION_PREFIX: &str = "bts_";
/// 256 bits, which cannot be guessed.
const RANDOM_BYTES: usize = 32;

/// A new random token. It is shown to the user once; the database stores only its hash.
pub fn new_token() -> Result<String, HostError> {
    Ok(format!("{TOKEN_PREFIX}{}", random()?))
}

/// Derives a token from a seed and a text. It has the same format as a random one.
pub(crate) fn derived_token(seed: &[u8], text: &str) -> String {
    format!("{TOKEN_PREFIX}{}", derived(seed, text))
}

/// Derives a secret from a seed and a text, in the format of [`random`]. It cannot be computed without both.
pub(crate) fn derived(seed: &[u8], text: &str) -> String {
    hex(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, seed), text.as_bytes()).as_ref())
}

/// The bearer token in `serve.json`, which authenticates commands of the same user on this machine.
#[derive(Clone)]
pub struct Secret {
    text: String,
    hash: TokenHash,
}

impl Secret {
    pub fn new() -> Result<Self, HostError> {
        let text = random()?;
        Ok(Self { hash: hash(&text), text })
    }

    pub fn expose(&self) -> &str {
        &self.text
    }

    /// Verifies a token from [`session_bearer`] and returns its butler and tenant.
    pub fn session(&self, bearer: &str) -> Option<(String, String)> {
        let (claims, signature) = bearer.strip_prefix(SESSION_PREFIX)?.rsplit_once('.')?;
        hmac::verify(&key(&self.text), claims.as_bytes(), &unhex(signature)?).ok()?;
        let (butler, tenant) = claims.split_once('.')?;
        Some((String::from_utf8(unhex(butler)?).ok()?, String::from_utf8(unhex(tenant)?).ok()?))
    }

    pub fn is(&self, hash: &TokenHash) -> bool {
        same(&self.hash, hash)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A bearer token for the program of one session, restricted to one butler and one tenant, and valid as long as the
/// server process runs. It is signed with the server's secret (HMAC), so no request to the server is needed.
pub fn session_bearer(secret: &str, butler: &str, tenant: &TenantId) -> String {
    let claims = format!("{}.{}", hex(butler.as_bytes()), hex(tenant.as_str().as_bytes()));
    format!("{SESSION_PREFIX}{claims}.{}", hex(hmac::sign(&key(secret), claims.as_bytes()).as_ref()))
}

fn key(secret: &str) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes())
}

/// Compares in constant time.
pub(super) fn same(one: &TokenHash, other: &TokenHash) -> bool {
    one.ct_eq(other).into()
}

pub(crate) fn random() -> Result<String, HostError> {
    let mut bytes = [0; RANDOM_BYTES];
    rustls::crypto::ring::default_provider()
        .secure_random
        .fill(&mut bytes)
        .map_err(|_| HostError::Failed("the system's random number generator failed".to_owned()))?;
    Ok(hex(&bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_token_names_its_tenant_and_cannot_be_forged() {
        let (secret, other) = (Secret::new().unwrap(), Secret::new().unwrap());
        let bearer = session_bearer(secret.expose(), "health", &TenantId::new("änn").unwrap());
        assert_eq!(secret.session(&bearer), Some(("health".to_owned(), "änn".to_owned())));
        assert_eq!(other.session(&bearer), None);
        let forged = bearer.replacen(&hex("änn".as_bytes()), &hex(b"bob"), 1);
        assert!(forged != bearer && secret.session(&forged).is_none());
        let (claims, signature) = bearer.rsplit_once('.').unwrap();
        for bad in [String::new(), signature[..32].to_owned(), format!("{signature}00"), "not hexadecimal".to_owned()] {
            assert_eq!(secret.session(&format!("{claims}.{bad}")), None, "{bad:?}");
        }
        assert!(!bearer.contains(secret.expose()) && secret.session(secret.expose()).is_none());
    }
}
