//! The load: clients that use every tool, each with its own dice, and write down what they are told.

mod choose;
mod learn;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::dice::Dice;
use crate::journal::{Change, Entry, Journal, Outcome};
use crate::tenant::Tenant;

/// Together with the pauses between them longer than any fault lasts.
const ATTEMPTS: u32 = 40;

/// What clients, checker and driver share.
pub struct World {
    pub tenants: Vec<Tenant>,
    pub stop: AtomicBool,
    journal: Mutex<Journal>,
}

impl World {
    pub fn new(tenants: Vec<Tenant>) -> Self {
        Self { tenants, stop: AtomicBool::new(false), journal: Mutex::default() }
    }

    pub fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call as the dice made it.
pub struct Call {
    pub tool: &'static str,
    pub arguments: Value,
    pub change: Change,
    /// Asked again under its key until there is an answer.
    pub keyed: bool,
    /// It names what is another tenant's: it must be refused.
    pub foreign: bool,
}

pub struct Worker {
    world: Arc<World>,
    index: usize,
    tenant: usize,
    dice: Dice,
    client: Client,
    calls: u64,
}

impl Worker {
    pub fn new(world: &Arc<World>, index: usize, seed: u64, address: &str) -> Self {
        let tenant = index % world.tenants.len();
        let client = Client::new(address.to_owned(), world.tenants[tenant].token.clone());
        Self { world: Arc::clone(world), index, tenant, dice: Dice::new(seed, index as u64), client, calls: 0 }
    }

    /// Until it is told to stop; it finishes what it began.
    pub async fn run(mut self) -> Self {
        while !self.world.stop.load(Ordering::Relaxed) {
            let call = self.choose();
            self.perform(call).await;
            tokio::time::sleep(Duration::from_millis(self.dice.between(0, 120))).await;
        }
        self
    }

    pub async fn perform(&mut self, mut call: Call) {
        self.calls += 1;
        let request_id = format!("{}-{}", self.index, self.calls);
        call.arguments["request_context"] = json!({ "request_id": request_id });
        if call.keyed {
            call.arguments["idempotency_key"] = json!(request_id);
        }
        let begun = Instant::now();
        let reply = self.ask(&call).await;
        self.listen(&call, &reply, begun);
        let outcome = match &reply {
            Reply::Done { .. } => Outcome::Acknowledged,
            Reply::Refused { .. } => Outcome::Refused,
            Reply::Unknown { .. } | Reply::Wrong { .. } => Outcome::Unknown,
        };
        if let Reply::Done { answer, .. } = &reply {
            self.learn(&mut call.change, answer);
        }
        let entry = Entry { tenant: self.tenant, tool: call.tool, outcome, change: call.change };
        self.world.journal().note(request_id, entry);
    }

    async fn ask(&mut self, call: &Call) -> Reply {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let reply = self.client.call(call.tool, &call.arguments).await;
            let Reply::Unknown { said } = &reply else { return reply };
            if let Some(said) = said {
                self.world.journal().excuse(said);
            }
            tokio::time::sleep(Duration::from_millis(self.dice.between(50, 600))).await;
            if !call.keyed || attempt >= ATTEMPTS {
                return reply;
            }
        }
    }

    /// What no answer may say, whatever happens around it.
    fn listen(&self, call: &Call, reply: &Reply, begun: Instant) {
        let (tool, tenant) = (call.tool, &self.world.tenants[self.tenant]);
        let text = match reply {
            Reply::Done { text, .. } | Reply::Refused { text, .. } => text.as_str(),
            Reply::Unknown { said } => said.as_deref().unwrap_or_default(),
            Reply::Wrong { what } => {
                self.world.journal().violation(format!("{tool}: {what}"));
                what.as_str()
            }
        };
        let mut violations = Vec::new();
        for other in self.world.tenants.iter().filter(|other| other.name != tenant.name) {
            if text.contains(&other.secret) {
                violations.push(format!("{tool}: {} was shown what is {}'s: {text}", tenant.name, other.name));
            }
        }
        match reply {
            Reply::Done { .. } if call.foreign => {
                violations.push(format!("{tool}: {} was let at another tenant's: {}", tenant.name, call.arguments));
            }
            Reply::Done { answer, .. } => {
                let known = tenant.known();
                let found = answer["results"].as_array().into_iter().flatten();
                for id in found.filter_map(|hit| hit["id"].as_str()?.parse().ok()) {
                    if known.forgotten.get(&id).is_some_and(|since| *since < begun) {
                        violations.push(format!("{tool}: {id} was found although it had been forgotten"));
                    }
                }
            }
            Reply::Refused { code, .. } if code == "not_found" && !call.foreign && call.change.is_of_what_stays() => {
                violations.push(format!("{tool}: what was acknowledged is not there: {text}"));
            }
            _ => {}
        }
        violations.into_iter().for_each(|violation| self.world.journal().violation(violation));
    }
}
