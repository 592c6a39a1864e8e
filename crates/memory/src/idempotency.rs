//! A repeated request with the same key returns the first answer and writes nothing.

use butler_domain::validate::Invalid;
use butler_store::idempotency::{EarlierRequest, Keyed, find};
use butler_store::{Constraint, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::{Call, Memory, MemoryError};

/// Whether a request is the repetition of an earlier one.
pub(crate) enum Replay<T> {
    /// The answer to the first request with this key.
    Answer(T),
    /// The first request with this key; `None`: the caller gave no key.
    First(Option<Keyed>),
}

impl Memory {
    /// Looks the key of a call up before anything is written.
    pub(crate) async fn replay<T: DeserializeOwned>(
        &self,
        call: &Call,
        tool: &'static str,
        input: &impl Serialize,
    ) -> Result<Replay<T>, MemoryError> {
        let Some(key) = call.idempotency_key.clone() else { return Ok(Replay::First(None)) };
        let json = serde_json::to_vec(input).map_err(|error| Invalid::new("arguments", error.to_string()))?;
        let keyed = Keyed { key, tool, request: Sha256::digest(json).into() };
        Ok(match self.first_answer(call, &keyed).await? {
            Some(answer) => Replay::Answer(answer),
            None => Replay::First(Some(keyed)),
        })
    }

    /// The result of a write; if a concurrent call with the same key has won, the answer to that call.
    pub(crate) async fn written_or_replayed<T: DeserializeOwned>(
        &self,
        call: &Call,
        keyed: Option<&Keyed>,
        written: Result<T, MemoryError>,
    ) -> Result<T, MemoryError> {
        match (written, keyed) {
            (Err(MemoryError::Store(error)), Some(keyed)) if is_key_taken(&error) => {
                self.first_answer(call, keyed).await?.ok_or(MemoryError::Store(error))
            }
            (written, _) => written,
        }
    }

    async fn first_answer<T: DeserializeOwned>(&self, call: &Call, keyed: &Keyed) -> Result<Option<T>, MemoryError> {
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
