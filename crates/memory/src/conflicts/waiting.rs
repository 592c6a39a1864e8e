//! New facts that wait to be compared with the others of their tenant. They are compared together a moment later,
//! because comparing each fact separately makes storing many 8 % slower.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use butler_domain::conflicts::Side;
use butler_domain::{FactId, TenantId};
use tokio::sync::Notify;

use crate::Call;

/// How long the first of them waits for others, unless somebody wants to see the conflicts.
const GATHER_TIME: Duration = Duration::from_millis(250);
/// With this many waiting, the comparison starts at once.
const MAX_WAITING: usize = 200;

/// A fact with the call that stored it.
pub struct NewFact {
    pub call: Call,
    pub id: FactId,
    pub side: Side,
}

/// The new facts of one tenant.
#[derive(Default)]
struct Waiting {
    facts: Vec<NewFact>,
    /// Ends the wait for more facts.
    compare_now: Arc<Notify>,
}

/// The new facts of all tenants.
#[derive(Default)]
pub struct NewFacts(Mutex<HashMap<TenantId, Waiting>>);

impl NewFacts {
    /// Adds a fact. For the first one it calls `compare`, which starts the task that takes them all. It does so before
    /// another call can add a fact and expect the task to exist.
    pub fn add(&self, fact: NewFact, compare: impl FnOnce()) {
        let mut tenants = self.lock();
        let waiting = tenants.entry(fact.call.tenant.clone()).or_default();
        waiting.facts.push(fact);
        if waiting.facts.len() == MAX_WAITING {
            waiting.compare_now.notify_one();
        }
        if waiting.facts.len() == 1 {
            compare();
        }
    }

    /// Waits for more facts, and takes those of the tenant.
    pub async fn gathered(&self, tenant: &TenantId) -> Vec<NewFact> {
        let compare_now = self.lock().get(tenant).map(|waiting| waiting.compare_now.clone());
        if let Some(compare_now) = compare_now {
            // A timeout and a notification both end the wait.
            let _ = tokio::time::timeout(GATHER_TIME, compare_now.notified()).await;
        }
        self.lock().remove(tenant).unwrap_or_default().facts
    }

    /// Ends the wait for more facts of a tenant.
    pub fn compare_now(&self, tenant: &TenantId) {
        if let Some(waiting) = self.lock().get(tenant) {
            waiting.compare_now.notify_one();
        }
    }

    /// Ends the wait for more facts of all tenants.
    pub fn compare_all_now(&self) {
        self.lock().values().for_each(|waiting| waiting.compare_now.notify_one());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TenantId, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
