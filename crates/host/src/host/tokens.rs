//! Keeps the keyring in sync with the databases, so that tokens created or revoked by any process take effect at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use butler_store::{Database, StoreError, tokens};
use tokio::task::{AbortHandle, JoinSet};

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

/// Loads a butler's tokens into the keyring.
pub async fn load(host: &Host, butler: &Butler) -> Result<(), StoreError> {
    let Some(database) = butler.database() else { return Ok(()) };
    let mut conn = database.owner().await?;
    host.keyring().set(butler.name.as_str(), tokens::list(&mut conn).await?);
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
