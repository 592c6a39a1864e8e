//! Creates, revokes and rotates tokens. A token for all butlers is stored in every butler's database. The databases are
//! changed one after the other in the order of the roster, so that of two tokens with one name the same one wins
//! everywhere.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use butler_domain::Timestamp;
use butler_domain::event::Origin;
use butler_store::tokens::{self, Creation, TokenHash, TokenRow};
use butler_store::{Conn, OwnerContext, StoreError};
use uuid::Uuid;

use crate::butler::Butler;
use crate::error::{HostError, unavailable};

/// A person waits for the change, so a butler that takes longer counts as unreachable.
const TIMEOUT: Duration = Duration::from_secs(15);

/// What a change did in the databases that could be reached.
#[derive(Debug)]
pub struct Reached<T> {
    pub parts: Vec<T>,
    /// The butlers whose databases could not be reached. The server copies tokens for all butlers to them later.
    pub unreachable: Vec<String>,
}

impl<T> Reached<T> {
    fn new() -> Self {
        Self { parts: Vec::new(), unreachable: Vec::new() }
    }

    /// Waits for the change in one butler's database.
    async fn add(
        &mut self,
        butler: &Butler,
        change: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<(), HostError> {
        let name = butler.name.to_string();
        match tokio::time::timeout(TIMEOUT, change).await {
            Ok(Ok(part)) => self.parts.push(part),
            Ok(Err(error)) if !error.is_unavailable() => return Err(HostError::Store { butler: name, source: error }),
            Ok(Err(_)) | Err(_) => self.unreachable.push(name),
        }
        Ok(())
    }
}

async fn connect(butler: &Butler) -> Result<Conn, StoreError> {
    match butler.database() {
        Some(database) => database.owner().await,
        None => Err(StoreError::Unavailable { reason: "the butler has not started".to_owned() }),
    }
}

/// The butlers whose databases store a token: the one it is for, or all.
pub fn homes(butlers: &[Arc<Butler>], token: &TokenRow) -> Vec<Arc<Butler>> {
    let stored = |butler: &&Arc<Butler>| token.butler.as_deref().is_none_or(|own| own == butler.name.as_str());
    butlers.iter().filter(stored).cloned().collect()
}

/// Lists the tokens in the databases of these butlers, each token once, oldest first.
pub async fn list(butlers: &[Arc<Butler>]) -> Result<Reached<TokenRow>, HostError> {
    let mut reached = Reached::new();
    for butler in butlers {
        reached.add(butler, async { tokens::list(&mut *connect(butler).await?).await }).await?;
    }
    Ok(Reached { parts: each_once(reached.parts.into_iter().flatten()), unreachable: reached.unreachable })
}

/// Merges what several databases say about the same token.
pub fn each_once(rows: impl Iterator<Item = TokenRow>) -> Vec<TokenRow> {
    let mut found: BTreeMap<Uuid, TokenRow> = BTreeMap::new();
    for row in rows {
        found.entry(row.id).and_modify(|known| known.merge(&row)).or_insert(row);
    }
    found.into_values().collect()
}

/// Stores a new token in the databases of these butlers. Returns the butlers that could not be reached.
pub async fn create(butlers: &[Arc<Butler>], origin: &Origin, token: &TokenRow) -> Result<Vec<String>, HostError> {
    let mut reached = Reached::new();
    for butler in butlers {
        reached.add(butler, async { tokens::create(&mut *connect(butler).await?, origin, token).await }).await?;
        let refused = match reached.parts.last() {
            Some(Creation::NameTaken) => HostError::TokenNameTaken {
                name: token.name.clone(),
                tenant: token.tenant.to_string(),
                butlers: token
                    .butler
                    .as_ref()
                    .map_or_else(|| "all butlers".to_owned(), |name| format!("butler {name:?}")),
            },
            Some(Creation::ParentNotLive) => HostError::TokenNotLive { id: token.parent.unwrap_or_default() },
            Some(Creation::Created) | None => continue,
        };
        // Only a database that missed an earlier change refuses what another one accepted.
        if reached.parts.len() > 1 {
            revoke(butlers, origin, token.created_at, token.id).await?;
        }
        return Err(refused);
    }
    if reached.parts.is_empty() {
        return Err(nothing_reached(&reached.unreachable));
    }
    Ok(reached.unreachable)
}

/// Revokes a token and all its descendants in the databases of these butlers. Returns the tokens that were not revoked
/// before, by database that has the token.
pub async fn revoke(
    butlers: &[Arc<Butler>],
    origin: &Origin,
    now: Timestamp,
    id: Uuid,
) -> Result<Reached<Vec<Uuid>>, HostError> {
    let mut reached = Reached::new();
    for butler in butlers {
        let change = async {
            let mut conn = connect(butler).await?;
            tokens::revoke(OwnerContext { session: &mut conn, now, origin }, id).await
        };
        reached.add(butler, change).await?;
    }
    Ok(Reached { parts: reached.parts.into_iter().flatten().collect(), unreachable: reached.unreachable })
}

/// A new secret for a token.
#[derive(Debug, Clone, Copy)]
pub struct NewSecret {
    pub hash: TokenHash,
    /// Until when the old secret is accepted.
    pub grace_until: Timestamp,
}

/// Gives a token a new secret in the databases of these butlers. Returns the butlers that could not be reached.
pub async fn rotate(
    butlers: &[Arc<Butler>],
    origin: &Origin,
    now: Timestamp,
    id: Uuid,
    secret: NewSecret,
) -> Result<Vec<String>, HostError> {
    let mut reached = Reached::new();
    for butler in butlers {
        let change = async {
            let mut conn = connect(butler).await?;
            let write = OwnerContext { session: &mut conn, now, origin };
            tokens::rotate(write, id, &secret.hash, secret.grace_until).await
        };
        reached.add(butler, change).await?;
    }
    let rotated: Vec<bool> = reached.parts.into_iter().flatten().collect();
    if rotated.contains(&true) {
        return Ok(reached.unreachable);
    }
    Err(match (rotated.is_empty(), reached.unreachable.is_empty()) {
        (false, _) => HostError::TokenNotLive { id },
        (true, true) => HostError::UnknownToken { id },
        (true, false) => nothing_reached(&reached.unreachable),
    })
}

fn nothing_reached(unreachable: &[String]) -> HostError {
    let message = format!("no token was changed, because no response came from {}", unreachable.join(", "));
    HostError::Tool(unavailable(message, "try again when the databases are reachable; `butler doctor` shows the cause"))
}
