//! Polls all butlers for new events of one tenant, as long as the tenant's stream has clients.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use butler_domain::{TenantId, Timestamp};
use butler_host::host::Host;
use butler_memory::browse::LiveEvent;
use butler_memory::{Memory, MemoryError};
use chrono::TimeDelta;
use tokio::sync::broadcast::Sender;
use uuid::Uuid;

use super::{LiveEvents, Notification};

/// Short enough that a page seems to update live.
const INTERVAL: Duration = Duration::from_millis(400);
/// With many butlers the interval is longer, because each poll uses one of the database server's connections.
const INTERVAL_PER_BUTLER: Duration = Duration::from_millis(50);
/// An event gets its timestamp when the change begins and becomes visible when the change commits. Each poll therefore
/// reads this far back again.
const OVERLAP: TimeDelta = TimeDelta::seconds(10);
/// Of up to this many butlers, the existing events are read before the stream opens.
const READ_FIRST: usize = 16;
/// If a poll returns this many events, clients get one `refresh` instead.
const MAX_EVENTS: i64 = 500;

/// The recent events of one butler that were already delivered.
struct DeliveredEvents {
    until: Timestamp,
    ids: HashSet<Uuid>,
}

pub struct EventPoller {
    host: Arc<Host>,
    live: LiveEvents,
    tenant: TenantId,
    butlers: HashMap<String, DeliveredEvents>,
}

impl EventPoller {
    /// Reads the existing events first, so that only later ones are delivered. Reading hundreds of databases would delay
    /// the stream and the page that waits for it. Then events of the last seconds are delivered too, which at worst
    /// refreshes a page once more.
    pub async fn begin(host: Arc<Host>, live: LiveEvents, tenant: TenantId) -> Self {
        let mut poller = Self { host, live, tenant, butlers: HashMap::new() };
        let butlers = poller.host.butlers();
        if butlers.len() <= READ_FIRST {
            poller.poll().await;
            return poller;
        }
        let now = poller.host.clock().now();
        let unread = || DeliveredEvents { until: now, ids: HashSet::new() };
        poller.butlers = butlers.iter().map(|butler| (butler.name.to_string(), unread())).collect();
        poller
    }

    pub async fn run(mut self, sender: Sender<Notification>) {
        let closing = self.host.closing().clone();
        loop {
            tokio::select! {
                () = closing.cancelled() => return,
                () = tokio::time::sleep(INTERVAL.max(INTERVAL_PER_BUTLER * self.butlers.len() as u32)) => {}
            }
            if self.live.remove_if_unused(&self.tenant) {
                return;
            }
            for notification in self.poll().await {
                let _ = sender.send(notification);
            }
        }
    }

    /// Returns the events since the last poll, butler by butler. A butler that fails is polled again next time.
    async fn poll(&mut self) -> Vec<Notification> {
        let mut notifications = Vec::new();
        for butler in self.host.butlers() {
            let Some(memory) = butler.memory().await else { continue };
            let name = butler.name.as_str();
            let first = !self.butlers.contains_key(name);
            match self.new_events(name, &memory).await {
                // Do not deliver all existing events of a butler that has just been added.
                Ok(_) if first => notifications.push(Notification::Refresh),
                Ok(Some(events)) => {
                    let name: Arc<str> = name.into();
                    notifications.extend(
                        events.into_iter().map(|event| Notification::Event(Arc::clone(&name), Arc::new(event))),
                    );
                }
                Ok(None) => notifications.push(Notification::Refresh),
                Err(error) => {
                    tracing::debug!(butler = name, %error, "cannot read new events; trying again at the next poll")
                }
            }
        }
        notifications
    }

    /// The events that were not delivered yet; `None` if there are too many.
    async fn new_events(&mut self, name: &str, memory: &Memory) -> Result<Option<Vec<LiveEvent>>, MemoryError> {
        let now = memory.now();
        let delivered = self.butlers.get(name);
        let from = delivered.map_or(now, |delivered| delivered.until) - OVERLAP;
        let found = memory.browse(&self.tenant, now).events_since(from, MAX_EVENTS).await?;
        let too_many = found.len() as i64 == MAX_EVENTS;
        let known = |event: &LiveEvent| delivered.is_some_and(|delivered| delivered.ids.contains(&event.id));
        let new: Vec<LiveEvent> = found.iter().filter(|event| !known(event)).cloned().collect();
        // After a refresh the client has read everything up to now, so the next poll starts without the overlap.
        let until = if too_many { now + OVERLAP } else { now };
        let ids = found.into_iter().map(|event| event.id).collect();
        self.butlers.insert(name.to_owned(), DeliveredEvents { until, ids });
        Ok((!too_many).then_some(new))
    }
}

/// The notifications that a client missed while it was disconnected.
pub async fn missed(host: &Host, tenant: &TenantId, after: (Timestamp, Uuid)) -> Vec<Notification> {
    let mut all: Vec<(Arc<str>, LiveEvent)> = Vec::new();
    for butler in host.butlers() {
        let Some(memory) = butler.memory().await else { return vec![Notification::Refresh] };
        match memory.browse(tenant, memory.now()).events_since(after.0, MAX_EVENTS).await {
            Ok(found) if (found.len() as i64) < MAX_EVENTS => {
                let name: Arc<str> = butler.name.as_str().into();
                let later = found.into_iter().filter(|event| (event.created_at, event.id) > after);
                all.extend(later.map(|event| (Arc::clone(&name), event)));
            }
            _ => return vec![Notification::Refresh],
        }
    }
    all.sort_by_key(|(_, event)| (event.created_at, event.id));
    all.into_iter().map(|(name, event)| Notification::Event(name, Arc::new(event))).collect()
}
