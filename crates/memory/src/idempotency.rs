//! The same request asked twice is done once.

use butler_domain::validate::Invalid;
use butler_store::idempotency::{EarlierRequest, Keyed, find};
use butler_store::{Constraint, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::{Call, Memory, MemoryError};

/// What is known about a request before anything is done.
pub(crate) enum Asked<T> {
    Before(T),
    /// `None`: the caller gave no key.
    First(Option<Keyed>),
}

impl Memory {
    pub(crate) async fn asked<T: DeserializeOwned>(
        &self,
        call: &Call,
        tool: &'static str,
        input: &impl Serialize,
    ) -> Result<Asked<T>, MemoryError> {
        let Some(key) = call.idempotency_key.clone() else { return Ok(Asked::First(None)) };
        let json = serde_json::to_vec(input).map_err(|error| Invalid::new("arguments", error.to_string()))?;
        let keyed = Keyed { key, tool, request: Sha256::digest(json).into() };
        Ok(match self.answered(call, &keyed).await? {
            Some(answer) => Asked::Before(answer),
            None => Asked::First(Some(keyed)),
        })
    }

    /// The result of a write under a key; if a concurrent call with that key was faster, its answer.
    pub(crate) async fn settled<T: DeserializeOwned>(
        &self,
        call: &Call,
        keyed: Option<&Keyed>,
        written: Result<T, MemoryError>,
    ) -> Result<T, MemoryError> {
        match (written, keyed) {
            (Err(MemoryError::Store(error)), Some(keyed)) if is_key_taken(&error) => {
                self.answered(call, keyed).await?.ok_or(MemoryError::Store(error))
            }
            (written, _) => written,
        }
    }

    async fn answered<T: DeserializeOwned>(&self, call: &Call, keyed: &Keyed) -> Result<Option<T>, MemoryError> {
        let mut conn = self.db().relaxed(&call.tenant).await?;
        match find(&mut conn, &call.tenant, keyed).await? {
            None => Ok(None),
            Some(EarlierRequest::Different { tool }) => Err(MemoryError::KeyReused { key: keyed.key.clone(), tool }),
            Some(EarlierRequest::Same(answer)) => serde_json::from_value(answer).map(Some).map_err(|error| {
                MemoryError::Store(StoreError::BadData {
                    table: "idempotency_keys",
                    column: "response",
                    id: keyed.key.clone(),
                    reason: error.to_string(),
                })
            }),
        }
    }
}

fn is_key_taken(error: &StoreError) -> bool {
    error.constraint() == Some(&Constraint::IdempotencyKey)
}
