//! Keeps the keyring in sync with the databases, so that tokens created or revoked by any process take effect at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use butler_domain::event::Origin;
use butler_store::tokens::TokenHash;
use butler_store::{Database, OwnerContext, StoreError, tokens};
use tokio::sync::Mutex;
use tokio::task::{AbortHandle, JoinSet};

use crate::access::TokenRow;
use crate::butler::Butler;
use crate::host::Host;

/// How often to check for added and removed butlers. The check does not query a database.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// Delay before reconnecting to a database.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// A server with very many databases has no connection to listen on each of them; the others are polled this often.
const POLL_INTERVAL: Duration = Duration::from_secs(30);
/// `last_used_at` is shown to people only, so it may lag this far behind.
const WRITE_USES_INTERVAL: Duration = Duration::from_secs(10);

/// The actor in the events of tokens that are revoked because a revocation reached their database late.
const SHARE_ACTOR: &str = "token_sharing";

/// All tokens in a butler's database.
pub async fn list(database: &Database) -> Result<Vec<TokenRow>, StoreError> {
    tokens::list(&mut *database.owner().await?).await
}

/// Loads a butler's tokens into the keyring. The caller must not hold an owner's connection, since this waits for one.
pub async fn load(host: &Host, butler: &Butler) -> Result<(), StoreError> {
    let Some(database) = butler.database() else { return Ok(()) };
    // One load at a time, so that rows that were read earlier never replace newer ones.
    let turn = butler.token_load.lock().await;
    let rows = list(database).await?;
    let any = !rows.is_empty();
    host.keyring().set(butler.name.as_str(), rows);
    drop(turn);
    if any && let Err(error) = host.remember_tokens() {
        // The keyring knows about the tokens. Only a restart while this database is unreachable would not.
        tracing::error!(%error, "cannot write that tokens exist into the data directory");
    }
    Ok(())
}

/// Keeps the tokens of all butlers in sync until the future is dropped.
pub async fn keep_in_sync(host: Arc<Host>) {
    let mut tasks = JoinSet::new();
    let mut listening: BTreeMap<String, AbortHandle> = BTreeMap::new();
    let mut written = Instant::now();
    loop {
        let butlers = host.butlers();
        host.keyring().retain(|name| butlers.iter().any(|butler| butler.name.as_str() == name));
        let places: BTreeMap<String, Database> = butlers
            .iter()
            .filter_map(|butler| butler.database().map(|database| (database.place(), database.clone())))
            .collect();
        listening.retain(|place, task| {
            let stays = places.contains_key(place) && !task.is_finished();
            if !stays {
                task.abort();
            }
            stays
        });
        for (place, database) in places {
            listening
                .entry(place)
                .or_insert_with_key(|place| tasks.spawn(listen(Arc::clone(&host), place.clone(), database)));
        }
        while tasks.try_join_next().is_some() {}
        if written.elapsed() >= WRITE_USES_INTERVAL {
            write_uses(&host).await;
            share(&host).await;
            written = Instant::now();
        }
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
}

/// Listens for token changes in one database, on one connection for all butlers in it.
async fn listen(host: Arc<Host>, place: String, database: Database) {
    loop {
        if let Err(error) = follow(&host, &place, &database).await {
            tracing::warn!(%error, place, "cannot listen for token changes; until it succeeds, changes are not seen");
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
}

async fn follow(host: &Host, place: &str, database: &Database) -> Result<(), StoreError> {
    let Some(mut changes) = database.token_changes().await? else {
        reload(host, place, None).await?;
        tokio::time::sleep(POLL_INTERVAL).await;
        return Ok(());
    };
    let mut schema = None;
    loop {
        reload(host, place, schema.as_deref()).await?;
        schema = changes.next().await?;
    }
}

/// Reloads the tokens of all butlers in a database, or only of the butler in `schema`.
async fn reload(host: &Host, place: &str, schema: Option<&str>) -> Result<(), StoreError> {
    for butler in host.butlers() {
        let here = butler.database().is_some_and(|database| {
            database.place() == place && schema.is_none_or(|schema| schema == database.schema())
        });
        if here {
            load(host, &butler).await?;
        }
    }
    Ok(())
}

/// Stores when tokens were last used. A failure is only logged, because the next use is stored later.
pub async fn write_uses(host: &Host) {
    for (name, uses) in host.keyring().take_used() {
        let Ok(butler) = host.butler(Some(&name)) else { continue };
        let Some(database) = butler.database() else { continue };
        let written = async { tokens::used(&mut *database.owner().await?, &uses).await };
        if let Err(error) = written.await {
            tracing::debug!(%error, butler = name, "cannot store when tokens were last used");
        }
    }
}

/// Copies the tokens for all butlers into the databases that lack them: those of butlers that were added, or unreachable,
/// when a token was created or revoked.
async fn share(host: &Host) {
    for butler in host.butlers() {
        let missing = host.keyring().missing_in(butler.name.as_str());
        let Some(database) = butler.database().filter(|_| !missing.is_empty()) else { continue };
        let origin = Origin { actor: Some(SHARE_ACTOR.to_owned()), request_id: None };
        let shared = async {
            let mut conn = database.owner().await?;
            tokens::keep(OwnerContext { session: &mut conn, now: host.clock().now(), origin: &origin }, &missing)
                .await?;
            drop(conn);
            load(host, &butler).await
        };
        if let Err(error) = shared.await {
            tracing::warn!(%error, butler = butler.name.as_str(), "cannot copy the tokens for all butlers; trying again");
        }
    }
}

/// Waiting lookups of unknown tokens beyond this are refused: guessing tokens must not keep the databases busy.
const MAX_WAITING_LOOKUPS: usize = 64;

/// Looks for unknown tokens in the databases, one at a time.
#[derive(Default)]
pub struct TokenLookup {
    turn: Mutex<()>,
    waiting: AtomicUsize,
}

/// Why it is not known whether a token exists.
#[derive(Debug, PartialEq, Eq)]
pub enum LookupError {
    /// Too many unknown tokens are presented at once.
    Busy,
    /// The tokens of this butler cannot be read.
    Unreachable { butler: String },
}

impl TokenLookup {
    /// Loads the tokens of the butler whose database has this one, if any has. A server learns of a new token a moment
    /// after it was created, and its holder may be faster.
    pub async fn find(&self, host: &Host, hash: &TokenHash) -> Result<(), LookupError> {
        if self.waiting.fetch_add(1, Ordering::AcqRel) >= MAX_WAITING_LOOKUPS {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            return Err(LookupError::Busy);
        }
        let turn = self.turn.lock().await;
        let found = find(host, hash).await;
        drop(turn);
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        found
    }
}

async fn find(host: &Host, hash: &TokenHash) -> Result<(), LookupError> {
    let mut unreachable = None;
    for butler in host.butlers() {
        let name = butler.name.as_str();
        let Some(database) = butler.database().filter(|_| butler.trouble().is_none()) else {
            unreachable.get_or_insert_with(|| name.to_owned());
            continue;
        };
        let known = async {
            let mut conn = database.owner().await?;
            tokens::contains(&mut conn, hash).await
        };
        match known.await {
            Ok(false) => {}
            Ok(true) => {
                return load(host, &butler).await.map_err(|_| LookupError::Unreachable { butler: name.to_owned() });
            }
            Err(error) => {
                tracing::warn!(%error, butler = name, "cannot look for an unknown token");
                unreachable.get_or_insert_with(|| name.to_owned());
            }
        }
    }
    unreachable.map_or(Ok(()), |butler| Err(LookupError::Unreachable { butler }))
}
