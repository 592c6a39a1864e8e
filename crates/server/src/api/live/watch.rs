//! Looks for new events of one tenant in all butlers, for as long as somebody listens.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use butler_domain::{TenantId, Timestamp};
use butler_memory::Memory;
use butler_store::StoreError;
use butler_store::browse::events::{LiveEvent, since};
use chrono::TimeDelta;
use tokio::sync::broadcast::Sender;
use uuid::Uuid;

use super::Told;
use crate::api::state::Api;

/// A page that lags less than this behind seems to be live.
const PAUSE: Duration = Duration::from_millis(400);
/// With many butlers a round is longer: each look takes a connection of a server that has only so many.
const PAUSE_PER_BUTLER: Duration = Duration::from_millis(50);
/// An event is dated when its change began and seen when it was committed: so far back nothing is missed.
const OVERLAP: TimeDelta = TimeDelta::seconds(10);
/// More at once is told as one word.
const MANY: i64 = 500;

/// What was told of one butler lately.
struct Seen {
    until: Timestamp,
    ids: HashSet<Uuid>,
}

pub struct Watch {
    api: Api,
    tenant: TenantId,
    butlers: HashMap<String, Seen>,
}

impl Watch {
    /// Remembers what is there already, so that only what comes later is told.
    pub async fn begin(api: Api, tenant: TenantId) -> Self {
        let mut watch = Self { api, tenant, butlers: HashMap::new() };
        watch.look().await;
        watch
    }

    pub async fn run(mut self, sender: Sender<Told>) {
        let closing = self.api.host.closing().clone();
        loop {
            tokio::select! {
                () = closing.cancelled() => return,
                () = tokio::time::sleep(PAUSE.max(PAUSE_PER_BUTLER * self.butlers.len() as u32)) => {}
            }
            if self.api.live.is_deserted(&self.tenant) {
                return;
            }
            for told in self.look().await {
                let _ = sender.send(told);
            }
        }
    }

    /// What is new since the last look, butler by butler. One that does not answer is asked again next time.
    async fn look(&mut self) -> Vec<Told> {
        let mut told = Vec::new();
        for butler in self.api.host.butlers() {
            let Some(memory) = butler.memory().await else { continue };
            let name = butler.name.as_str();
            let first = !self.butlers.contains_key(name);
            match self.news(name, &memory).await {
                // what came with a new butler is not told one by one
                Ok(_) if first => told.push(Told::Refresh),
                Ok(Some(news)) => {
                    let name: Arc<str> = name.into();
                    told.extend(news.into_iter().map(|heard| Told::Event(Arc::clone(&name), Arc::new(heard))));
                }
                Ok(None) => told.push(Told::Refresh),
                Err(error) => {
                    tracing::debug!(butler = name, %error, "events could not be read; they are asked for again")
                }
            }
        }
        told
    }

    /// `None`: too many to tell.
    async fn news(&mut self, name: &str, memory: &Memory) -> Result<Option<Vec<LiveEvent>>, StoreError> {
        let now = memory.now();
        let seen = self.butlers.get(name);
        let from = seen.map_or(now, |seen| seen.until) - OVERLAP;
        let mut conn = memory.db().reader(&self.tenant).await?;
        let found = since(&mut conn, &self.tenant, from, MANY).await?;
        let many = found.len() as i64 == MANY;
        let known = |heard: &LiveEvent| seen.is_some_and(|seen| seen.ids.contains(&heard.id));
        let news: Vec<LiveEvent> = found.iter().filter(|heard| !known(heard)).cloned().collect();
        // of too many only the rest of this moment is remembered: what follows is told by the refresh
        let until = if many { now + OVERLAP } else { now };
        let ids = found.into_iter().map(|heard| heard.id).collect();
        self.butlers.insert(name.to_owned(), Seen { until, ids });
        Ok((!many).then_some(news))
    }
}

/// What a listener that broke off has missed.
pub async fn missed(api: &Api, tenant: &TenantId, after: (Timestamp, Uuid)) -> Vec<Told> {
    let mut all: Vec<(Arc<str>, LiveEvent)> = Vec::new();
    for butler in api.host.butlers() {
        let Some(memory) = butler.memory().await else { return vec![Told::Refresh] };
        let read = async {
            let mut conn = memory.db().reader(tenant).await?;
            since(&mut conn, tenant, after.0, MANY).await
        };
        match read.await {
            Ok(found) if (found.len() as i64) < MANY => {
                let name: Arc<str> = butler.name.as_str().into();
                let later = found.into_iter().filter(|heard| (heard.created_at, heard.id) > after);
                all.extend(later.map(|heard| (Arc::clone(&name), heard)));
            }
            _ => return vec![Told::Refresh],
        }
    }
    all.sort_by_key(|(_, heard)| (heard.created_at, heard.id));
    all.into_iter().map(|(name, heard)| Told::Event(name, Arc::new(heard))).collect()
}
