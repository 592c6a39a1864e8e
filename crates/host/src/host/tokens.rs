//! Keeps the keyring in step with the databases: a token that was made or revoked anywhere counts here at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use butler_store::{Database, StoreError, tokens};
use tokio::task::{AbortHandle, JoinSet};

use crate::butler::Butler;
use crate::host::Host;

/// Between two looks at which butlers there are; asks no database.
const LOOK: Duration = Duration::from_millis(250);
/// A database that does not answer is asked again after this.
const RETRY: Duration = Duration::from_secs(1);
/// Of a server with very many databases not all can be listened to; the others are asked after this.
const ASK: Duration = Duration::from_secs(30);
/// `last_used_at` is for people: it may be this late.
const WRITE_USES: Duration = Duration::from_secs(10);

/// Reads a butler's tokens.
pub async fn load(host: &Host, butler: &Butler) -> Result<(), StoreError> {
    let Some(database) = butler.database() else { return Ok(()) };
    let mut conn = database.owner().await?;
    host.keyring().set(butler.name.as_str(), tokens::list(&mut conn).await?);
    Ok(())
}

/// Runs until it is dropped.
pub async fn keep(host: Arc<Host>) {
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
        if written.elapsed() >= WRITE_USES {
            write_uses(&host).await;
            written = Instant::now();
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// One connection a database, however many butlers live in it.
async fn listen(host: Arc<Host>, place: String, database: Database) {
    loop {
        if let Err(error) = follow(&host, &place, &database).await {
            tracing::warn!(%error, place, "tokens cannot be followed; those known stay valid until it can be asked again");
        }
        tokio::time::sleep(RETRY).await;
    }
}

async fn follow(host: &Host, place: &str, database: &Database) -> Result<(), StoreError> {
    let Some(mut changes) = database.token_changes().await? else {
        reload(host, place, None).await?;
        tokio::time::sleep(ASK).await;
        return Ok(());
    };
    let mut schema = None;
    loop {
        reload(host, place, schema.as_deref()).await?;
        schema = changes.next().await?;
    }
}

/// The butlers of a database, or the one in this schema of it.
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

/// A use that cannot be written down is not worth an error: the next one is.
pub async fn write_uses(host: &Host) {
    for (name, uses) in host.keyring().take_used() {
        let Ok(butler) = host.butler(Some(&name)) else { continue };
        let Some(database) = butler.database() else { continue };
        let written = async { tokens::used(&mut *database.owner().await?, &uses).await };
        if let Err(error) = written.await {
            tracing::debug!(%error, butler = name, "the last use of tokens was not written down");
        }
    }
}
