//! The load: clients that use every tool, each with its own random numbers, and record every answer.

mod choose;
mod learn;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::client::{Client, Reply};
use crate::dice::Dice;
use crate::journal::{Change, Entry, Journal, Outcome};
use crate::tenant::Tenant;

/// With the pauses in between, this takes longer than any fault lasts.
const ATTEMPTS: u32 = 40;

/// State shared by clients, checks and driver.
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

/// A call that a client is about to make.
pub struct Call {
    pub tool: &'static str,
    pub arguments: Value,
    pub change: Change,
    /// Has an idempotency key, and is repeated with it until there is an answer.
    pub keyed: bool,
    /// Names another tenant's memory, so it must be refused.
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

    /// Makes calls until it is told to stop. The last call is finished.
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
        if matches!(call.change, Change::Propose { .. }) {
            call.arguments["request_context"]["source"] = json!("untrusted");
        }
        if call.keyed {
            call.arguments["idempotency_key"] = json!(request_id);
        }
        let begun = Instant::now();
        let reply = self.ask(&call).await;
        self.judge(&call, &reply, begun);
        let outcome = match &reply {
            Reply::Done { .. } => Outcome::Acknowledged,
            Reply::Refused { .. } => Outcome::Refused,
            Reply::Unknown { .. } | Reply::Wrong { .. } => Outcome::Unknown,
        };
        if let Reply::Done { answer, .. } = &reply {
            self.learn(&mut call.change, &call.arguments, answer);
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

    /// Records what no answer may contain, whatever faults are going on.
    fn judge(&self, call: &Call, reply: &Reply, begun: Instant) {
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
                violations.push(format!("{tool}: {} was shown a secret of {}: {text}", tenant.name, other.name));
            }
        }
        match reply {
            Reply::Done { .. } if call.foreign => {
                violations.push(format!("{tool}: {} reached another tenant's memory: {}", tenant.name, call.arguments));
            }
            Reply::Done { answer, .. } => {
                let known = tenant.known();
                let found = answer["results"].as_array().into_iter().flatten();
                for id in found.filter_map(|hit| hit["id"].as_str()?.parse().ok()) {
                    if known.forgotten.get(&id).is_some_and(|since| *since < begun) {
                        violations.push(format!("{tool}: {id} was found although it is forgotten"));
                    }
                }
            }
            Reply::Refused { code, .. }
                if code == "not_found" && !call.foreign && call.change.names_a_permanent_row() =>
            {
                // The database tells later whether it was erased.
                self.world.journal().missing.push((ids(&call.arguments), format!("{tool}: {text}")));
            }
            _ => {}
        }
        violations.into_iter().for_each(|violation| self.world.journal().violation(violation));
    }
}

/// The ids among the arguments of a call.
fn ids(arguments: &Value) -> Vec<Uuid> {
    let values = arguments.as_object().into_iter().flat_map(|arguments| arguments.values());
    values.filter_map(|value| value.as_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {

    use super::*;

    /// The violations after a call whose answer is this reply.
    fn violations(call: &Call, reply: &Reply) -> Vec<String> {
        let tenants = (0..2).map(|index| Tenant::new(index, String::new())).collect();
        let world = Arc::new(World::new(tenants));
        let begun = Instant::now();
        let earlier = begun.checked_sub(Duration::from_secs(1)).unwrap();
        world.tenants[0].known().forgotten.insert(Uuid::nil(), earlier);
        Worker::new(&world, 0, 1, "127.0.0.1:1").judge(call, reply, begun);
        let journal = world.journal();
        let missing = journal.missing.iter().map(|(ids, _)| format!("not found: {ids:?}"));
        journal.violations.values().map(|(example, _)| example.clone()).chain(missing).collect()
    }

    fn call(change: Change, foreign: bool) -> Call {
        Call { tool: "tool", arguments: json!({}), change, keyed: false, foreign }
    }

    fn done(answer: Value) -> Reply {
        Reply::Done { text: answer.to_string(), answer }
    }

    fn not_found() -> Reply {
        Reply::Refused { code: "not_found".to_owned(), text: String::new() }
    }

    #[track_caller]
    fn is_found(call: &Call, reply: &Reply, what: &str) {
        let found = violations(call, reply);
        assert!(found.iter().any(|violation| violation.contains(what)), "{what:?} is not in {found:?}");
    }

    #[test]
    fn every_violation_in_an_answer_is_found() {
        let read = call(Change::Nothing, false);
        is_found(&read, &Reply::Wrong { what: "internal".to_owned() }, "internal");
        let secret = Tenant::new(1, String::new()).secret;
        is_found(&read, &done(json!({"results": [{"content": secret}]})), "was shown a secret of");
        is_found(&read, &Reply::Unknown { said: Some(secret) }, "was shown a secret of");
        is_found(&call(Change::GetEntity, true), &done(json!({})), "reached another tenant's memory");
        let lost = Call { arguments: json!({"entity_id": Uuid::max()}), ..call(Change::GetEntity, false) };
        is_found(&lost, &not_found(), &format!("not found: [{}]", Uuid::max()));
        is_found(&read, &done(json!({"results": [{"id": Uuid::nil()}]})), "although it is forgotten");
    }

    #[test]
    fn answers_in_order_are_no_violation() {
        let own = Tenant::new(0, String::new()).secret;
        let read = call(Change::Nothing, false);
        assert_eq!(violations(&read, &done(json!({"results": [{"id": Uuid::max(), "content": own}]}))), [""; 0]);
        assert_eq!(violations(&read, &Reply::Unknown { said: None }), [""; 0]);
        assert_eq!(violations(&call(Change::GetEntity, true), &not_found()), [""; 0]);
        let episode = Change::Get { kind: crate::journal::Kind::Episode };
        assert_eq!(violations(&call(episode, false), &not_found()), [""; 0], "cleanup removes episodes");
    }
}
