//! New facts that wait to be compared with the others of their tenant. They are compared together a moment later, because
//! comparing each at once made storing many of them a tenth slower.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use butler_domain::conflicts::Side;
use butler_domain::{FactId, TenantId};
use tokio::sync::Notify;

use crate::Call;

/// How long the first of them waits for others, unless somebody wants to see the conflicts.
const GATHERING: Duration = Duration::from_millis(250);
/// So many are compared at once, even if the time is not over.
const MOST: usize = 200;

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
    /// Ends the waiting.
    hurry: Arc<Notify>,
}

#[derive(Default)]
pub struct NewFacts(Mutex<HashMap<TenantId, Waiting>>);

impl NewFacts {
    /// Adds a fact. Returns true if it is the first one, whose caller then has to wait and to take them all.
    pub fn add(&self, fact: NewFact) -> bool {
        let mut tenants = self.lock();
        let waiting = tenants.entry(fact.call.tenant.clone()).or_default();
        waiting.facts.push(fact);
        if waiting.facts.len() == MOST {
            waiting.hurry.notify_one();
        }
        waiting.facts.len() == 1
    }

    /// Waits for more facts, and takes those of the tenant.
    pub async fn gathered(&self, tenant: &TenantId) -> Vec<NewFact> {
        let hurry = self.lock().get(tenant).map(|waiting| waiting.hurry.clone());
        if let Some(hurry) = hurry {
            // Whether the time is over or somebody is in a hurry makes no difference.
            let _ = tokio::time::timeout(GATHERING, hurry.notified()).await;
        }
        self.lock().remove(tenant).unwrap_or_default().facts
    }

    /// Ends the waiting of a tenant's facts.
    pub fn hurry(&self, tenant: &TenantId) {
        if let Some(waiting) = self.lock().get(tenant) {
            waiting.hurry.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TenantId, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
