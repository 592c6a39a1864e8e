//! Random bearers: tokens, and the secret of one server process.

use std::fmt;

use store::tokens::{TokenHash, hash};
use subtle::ConstantTimeEq;

use crate::error::HostError;

/// Tells people, and programs that look for leaked secrets, what this is.
const TOKEN_PREFIX: &str = "btl_";
/// Beyond any guessing.
const RANDOM_BYTES: usize = 32;

/// What a user is shown once.
pub fn new_token() -> Result<String, HostError> {
    Ok(format!("{TOKEN_PREFIX}{}", random()?))
}

/// The bearer that `serve.json` holds for the commands of this user on this machine.
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

    pub fn is(&self, hash: &TokenHash) -> bool {
        same(&self.hash, hash)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// In a time that does not tell how much of it was right.
pub(super) fn same(one: &TokenHash, other: &TokenHash) -> bool {
    one.ct_eq(other).into()
}

fn random() -> Result<String, HostError> {
    let mut bytes = [0; RANDOM_BYTES];
    rustls::crypto::ring::default_provider()
        .secure_random
        .fill(&mut bytes)
        .map_err(|_| HostError::Failed("the system has no random numbers to make a secret from".to_owned()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
