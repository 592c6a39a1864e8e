//! Compares the database with the journal: everything acknowledged exists once, and nothing exists that nobody asked for.

mod decisions;

use std::collections::{HashMap, HashSet};
use std::fmt;

use uuid::Uuid;

use super::rows::{Memory, Rows};
use crate::journal::{Change, Entry, Journal, Kind, Outcome};
use crate::tenant::{Tenant, secrets_in};

/// Declares the kinds of damage with their descriptions, and the list of all of them that the tests go through.
macro_rules! damages {
    ($($kind:ident => $description:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Damage { $($kind),* }

        impl Damage {
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$kind),*];
        }

        impl fmt::Display for Damage {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$kind => $description),* })
            }
        }
    };
}

damages! {
    RefusedButDone => "a refused call left events",
    MissingLink => "a supersession has no link",
    AnswerWithoutId => "an answer has no id",
    Lost => "an acknowledged memory is lost",
    Changed => "an acknowledged memory has another content or tenant",
    Unapproved => "a proposal took effect without approval",
    RejectedStored => "a rejected proposal took effect",
    MissingDecision => "an acknowledged decision about a proposal is lost",
    MissingResolution => "an acknowledged resolution of a conflict is lost",
    SideActiveTwice => "a fact of a resolved conflict is active twice",
    MissingPredicate => "an acknowledged predicate does not exist",
    StoredTwice => "a memory is stored twice",
    ForgottenReturned => "a forgotten memory is remembered again",
    MissingEntity => "an acknowledged entity does not exist",
    MissingEntityUpdate => "an acknowledged change of an entity is lost",
    MissingMerge => "an acknowledged merge is lost",
    EntityRemembered => "a forgotten entity is still there",
    NotFound => "an acknowledged memory was not found",
    WrongEventCount => "a request did not leave exactly one event",
    WrongMarkCount => "a rule counts other marks than were made",
    ReadLeftEvents => "a reading call left events",
    ForeignContent => "a memory contains another tenant's secret",
}

pub fn check(journal: &Journal, rows: &Rows, tenants: &[Tenant]) -> Vec<String> {
    find(journal, rows, tenants).into_iter().map(|(damage, detail)| format!("{damage}: {detail}")).collect()
}

fn find(journal: &Journal, rows: &Rows, tenants: &[Tenant]) -> Vec<(Damage, String)> {
    let mut check = Check {
        rows,
        tenants,
        found: Vec::new(),
        contents: contents(rows),
        active: active(rows),
        store_calls: store_calls(journal),
        approved: decisions::of(journal, true),
        rejected: decisions::of(journal, false),
    };
    for (request, entry) in &journal.entries {
        check.entry(request, entry);
    }
    check.missing(journal);
    check.marks(journal);
    check.events_of_reads(journal);
    check.secrets();
    check.found
}

struct Check<'a> {
    rows: &'a Rows,
    tenants: &'a [Tenant],
    found: Vec<(Damage, String)>,
    /// The number of rows with each content.
    contents: HashMap<&'a str, u32>,
    /// The number of active facts with each content.
    active: HashMap<&'a str, u32>,
    /// The number of calls that stored each content, or may have.
    store_calls: HashMap<&'a str, u32>,
    /// Proposals that calls approved, or may have approved.
    approved: HashSet<Uuid>,
    /// Proposals whose rejection was acknowledged.
    rejected: HashSet<Uuid>,
}

fn contents(rows: &Rows) -> HashMap<&str, u32> {
    let mut contents = HashMap::new();
    for memory in rows.facts.values().chain(rows.rules.values()).chain(rows.episodes.values()) {
        *contents.entry(memory.content.as_str()).or_default() += 1;
    }
    contents
}

fn active(rows: &Rows) -> HashMap<&str, u32> {
    let mut contents = HashMap::new();
    for fact in rows.facts.values().filter(|fact| fact.state == "active") {
        *contents.entry(fact.content.as_str()).or_default() += 1;
    }
    contents
}

fn store_calls(journal: &Journal) -> HashMap<&str, u32> {
    let mut contents: HashMap<&str, u32> = HashMap::new();
    for entry in journal.entries.values().filter(|entry| entry.outcome != Outcome::Refused) {
        if let Change::Store { content, .. }
        | Change::Propose { content, .. }
        | Change::Resolve { content: Some(content), .. } = &entry.change
        {
            *contents.entry(content.as_str()).or_default() += 1;
        }
    }
    contents
}

impl Check<'_> {
    fn found(&mut self, damage: Damage, request: &str, entry: &Entry, detail: &str) {
        let Entry { tool, tenant, change, .. } = entry;
        let detail = if detail.is_empty() { String::new() } else { format!("{detail}; ") };
        self.found.push((damage, format!("{detail}{tool} of tenant {tenant}, request {request}, {change:?}")));
    }

    fn entry(&mut self, request: &str, entry: &Entry) {
        match (&entry.change, entry.outcome) {
            (_, Outcome::Refused) => {
                if let Some(events) = self.rows.events.get(request) {
                    self.found(Damage::RefusedButDone, request, entry, &format!("{events:?}"));
                }
            }
            (
                Change::Store { content, .. }
                | Change::Propose { content, .. }
                | Change::Resolve { content: Some(content), .. },
                Outcome::Unknown,
            ) => self.at_most_once(request, entry, content),
            (_, Outcome::Unknown) => {}
            (_, Outcome::Acknowledged) => self.acknowledged(request, entry),
        }
    }

    fn acknowledged(&mut self, request: &str, entry: &Entry) {
        match &entry.change {
            Change::Store { kind, content, id, superseded } => match id {
                Some(id) => {
                    self.stored(request, entry, *kind, *id, content);
                    if let Some(old) = superseded
                        && !self.rows.supersedes.contains(&(*id, *old))
                        && !self.rows.restored.contains(old)
                        && ![id, old].iter().any(|id| self.rows.erased.contains(*id))
                    {
                        self.found(Damage::MissingLink, request, entry, "");
                    }
                }
                None => self.found(Damage::AnswerWithoutId, request, entry, ""),
            },
            Change::Propose { content, id, .. } => self.proposed(request, entry, content, *id),
            Change::Decide { .. } => self.decided(request, entry),
            Change::Resolve { .. } => self.resolved(request, entry),
            Change::RegisterPredicate { name } => {
                self.event(request, entry, "predicate_set", None::<Uuid>);
                let tenant = self.tenants[entry.tenant].name.clone();
                if !self.rows.predicates.contains(&(tenant, name.clone())) {
                    self.found(Damage::MissingPredicate, request, entry, "");
                }
            }
            Change::Confirm { kind, id } => self.event(request, entry, &format!("{}_confirmed", kind.as_str()), *id),
            Change::Mark { rule, helpful } => {
                let event = if *helpful { "rule_marked_helpful" } else { "rule_marked_harmful" };
                self.event(request, entry, event, *rule);
            }
            Change::Forget { kind, id, changed } => self.forgotten(request, entry, *kind, *id, *changed),
            Change::CreateEntity { name, id } => {
                let found = id.and_then(|id| self.rows.entities.get(&id));
                match found {
                    None if id.is_some_and(|id| self.rows.erased.contains(&id)) => {}
                    Some(entity) if entity.tenant == self.tenants[entry.tenant].name && entity.name == *name => {
                        self.event(request, entry, "entity_created", id.unwrap_or_default());
                    }
                    _ => self.found(Damage::MissingEntity, request, entry, ""),
                }
            }
            Change::UpdateEntity { id, key } => {
                self.event(request, entry, "entity_updated", *id);
                let erased = self.rows.erased.contains(id);
                if !erased && self.survivor(*id).is_none_or(|metadata| metadata.get(key).is_none()) {
                    self.found(Damage::MissingEntityUpdate, request, entry, "");
                }
            }
            Change::MergeEntities { source, target } => {
                self.event(request, entry, "entity_merge", *source);
                let gone = self.rows.erased.contains(source) || self.rows.unmerged.contains(source);
                if !gone && self.rows.entities.get(source).is_none_or(|entity| entity.merged_into != Some(*target)) {
                    self.found(Damage::MissingMerge, request, entry, "");
                }
            }
            // Whether the entity is merged now is checked in the database: another merge may have followed.
            Change::UnmergeEntity { id } => self.event(request, entry, "entity_unmerged", *id),
            Change::ForgetEntity { id, erase } => {
                if *erase {
                    self.event(request, entry, "entity_erased", *id);
                }
                if !self.is_gone(*id, *erase) {
                    self.found(Damage::EntityRemembered, request, entry, "");
                }
            }
            Change::Nothing | Change::Get { .. } | Change::GetEntity | Change::Work => {}
        }
    }

    fn stored(&mut self, request: &str, entry: &Entry, kind: Kind, id: Uuid, content: &str) {
        self.event(request, entry, &format!("{}_created", kind.as_str()), id);
        if self.is_removed(kind, id) {
            return;
        }
        let Some(memory) = self.row(kind, id) else {
            return self.found(Damage::Lost, request, entry, "");
        };
        // an anti-pattern is rewritten as a warning that quotes it
        let same = memory.content == content || (memory.state == "anti_pattern" && memory.content.contains(content));
        if !same || memory.tenant != self.tenants[entry.tenant].name {
            self.found(Damage::Changed, request, entry, "");
        }
        self.at_most_once(request, entry, content);
    }

    fn at_most_once(&mut self, request: &str, entry: &Entry, content: &str) {
        let calls = self.store_calls.get(content).copied().unwrap_or_default();
        if self.contents.get(content).is_some_and(|rows| *rows > calls) {
            self.found(Damage::StoredTwice, request, entry, "");
        }
    }

    fn forgotten(&mut self, request: &str, entry: &Entry, kind: Kind, id: Uuid, changed: bool) {
        if changed {
            self.event(request, entry, &format!("{}_forgotten", kind.as_str()), id);
        }
        if !self.is_removed(kind, id) && self.row(kind, id).is_none_or(|memory| !memory.forgotten) {
            self.found(Damage::ForgottenReturned, request, entry, "");
        }
    }

    /// Whether the row was deleted on purpose.
    fn is_removed(&self, kind: Kind, id: Uuid) -> bool {
        self.rows.erased.contains(&id) && self.row(kind, id).is_none()
            || kind == Kind::Episode && self.rows.removed.contains(&id)
    }

    /// Whether an entity was erased or, unless only that will do, is forgotten.
    fn is_gone(&self, id: Uuid, erased_only: bool) -> bool {
        match self.rows.entities.get(&id) {
            None => self.rows.erased.contains(&id),
            Some(entity) => !erased_only && entity.metadata.get("forgotten_at").is_some(),
        }
    }

    /// Whatever a client was told does not exist was erased or forgotten.
    fn missing(&mut self, journal: &Journal) {
        for (ids, answer) in &journal.missing {
            if !ids.iter().any(|id| self.rows.erased.contains(id) || self.is_gone(*id, false)) {
                self.found.push((Damage::NotFound, answer.clone()));
            }
        }
    }

    /// The request left exactly one event of this type about this memory, or about none.
    fn event(&mut self, request: &str, entry: &Entry, event: &str, about: impl Into<Option<Uuid>>) {
        let about: Option<Uuid> = about.into();
        let events = self.rows.events.get(request).into_iter().flatten();
        let count = events.filter(|(event_type, id)| event_type == event && *id == about).count();
        if count != 1 {
            self.found(Damage::WrongEventCount, request, entry, &format!("{count} × {event}"));
        }
    }

    fn row(&self, kind: Kind, id: Uuid) -> Option<&Memory> {
        match kind {
            Kind::Episode => self.rows.episodes.get(&id),
            Kind::Fact => self.rows.facts.get(&id),
            Kind::Rule => self.rows.rules.get(&id),
        }
    }

    /// The metadata of the entity that this one was merged into, or its own.
    fn survivor(&self, id: Uuid) -> Option<&serde_json::Value> {
        let mut entity = self.rows.entities.get(&id)?;
        for _ in 0..self.rows.entities.len() {
            match entity.merged_into {
                Some(next) => entity = self.rows.entities.get(&next)?,
                None => return Some(&entity.metadata),
            }
        }
        None
    }

    /// A rule counts at least the acknowledged marks, and at most those whose outcome is unknown in addition.
    fn marks(&mut self, journal: &Journal) {
        let mut made: HashMap<(Uuid, bool), [i64; 2]> = HashMap::new();
        for entry in journal.entries.values() {
            if let Change::Mark { rule, helpful } = entry.change {
                let counts = made.entry((rule, helpful)).or_default();
                counts[0] += i64::from(entry.outcome == Outcome::Acknowledged);
                counts[1] += i64::from(entry.outcome != Outcome::Refused);
            }
        }
        for ((rule, helpful), [least, most]) in made {
            if self.is_removed(Kind::Rule, rule) {
                continue;
            }
            let marks = self.rows.marks.get(&rule).copied().unwrap_or_default();
            let counted = if helpful { marks.helpful } else { marks.harmful };
            if counted < least || counted > most {
                let how = if helpful { "helpful" } else { "harmful" };
                let detail = format!("rule {rule} counts {counted} {how} marks; {least} to {most} were made");
                self.found.push((Damage::WrongMarkCount, detail));
            }
        }
    }

    /// Requests that only read left no events.
    fn events_of_reads(&mut self, journal: &Journal) {
        for (request, events) in &self.rows.events {
            // requests of the checks and of the background jobs are not in the journal
            let Some(entry) = journal.entries.get(request) else { continue };
            if !Journal::writes(&entry.change) {
                self.found(Damage::ReadLeftEvents, request, entry, &format!("{events:?}"));
            }
        }
    }

    /// No memory contains the secret of another tenant.
    fn secrets(&mut self) {
        let owners: HashMap<&str, &Tenant> = self.tenants.iter().map(|tenant| (tenant.name.as_str(), tenant)).collect();
        let all = self.rows.facts.iter().chain(&self.rows.rules).chain(&self.rows.episodes);
        for (id, memory) in all {
            let owner = owners.get(memory.tenant.as_str());
            if !secrets_in(&memory.content).iter().all(|secret| owner.is_some_and(|owner| owner.owns(secret))) {
                self.found.push((Damage::ForeignContent, format!("{id} of {}: {}", memory.tenant, memory.content)));
            }
        }
    }
}

#[cfg(test)]
mod tests;
