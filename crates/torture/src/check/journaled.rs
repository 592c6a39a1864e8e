//! The database against the journal: everything acknowledged is there, once; nothing is there that nobody asked for.

use std::collections::HashMap;

use uuid::Uuid;

use super::rows::{Memory, Rows};
use crate::journal::{Change, Entry, Journal, Kind, Outcome};
use crate::tenant::{Tenant, secrets_in};

pub fn check(journal: &Journal, rows: &Rows, tenants: &[Tenant]) -> Vec<String> {
    let mut check = Check { rows, tenants, violations: Vec::new(), contents: contents(rows) };
    for (request, entry) in &journal.entries {
        check.entry(request, entry);
    }
    check.marks(journal);
    check.causes(journal);
    check.owners();
    check.violations
}

struct Check<'a> {
    rows: &'a Rows,
    tenants: &'a [Tenant],
    violations: Vec<String>,
    /// How many rows have a content.
    contents: HashMap<&'a str, u32>,
}

fn contents(rows: &Rows) -> HashMap<&str, u32> {
    let mut contents = HashMap::new();
    for memory in rows.facts.values().chain(rows.rules.values()).chain(rows.episodes.values()) {
        *contents.entry(memory.content.as_str()).or_default() += 1;
    }
    contents
}

impl Check<'_> {
    fn violation(&mut self, request: &str, entry: &Entry, what: &str) {
        let Entry { tool, tenant, change, .. } = entry;
        self.violations.push(format!("{what}: {tool} of tenant {tenant}, request {request}, {change:?}"));
    }

    fn entry(&mut self, request: &str, entry: &Entry) {
        match (&entry.change, entry.outcome) {
            (_, Outcome::Refused) => {
                if let Some(events) = self.rows.events.get(request) {
                    let what = format!("refused, but events say that it was done ({events:?})");
                    self.violation(request, entry, &what);
                }
            }
            (Change::Store { content, .. }, Outcome::Unknown) => self.at_most_once(request, entry, content),
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
                    {
                        self.violation(request, entry, "a supersession without its link");
                    }
                }
                None => self.violation(request, entry, "an answer without an id"),
            },
            Change::Confirm { kind, id } => self.event(request, entry, &format!("{}_confirmed", kind.as_str()), *id),
            Change::Mark { rule, helpful } => {
                let event = if *helpful { "rule_marked_helpful" } else { "rule_marked_harmful" };
                self.event(request, entry, event, *rule);
            }
            Change::Forget { kind, id, changed } => self.forgotten(request, entry, *kind, *id, *changed),
            Change::CreateEntity { name, id } => {
                let found = id.and_then(|id| self.rows.entities.get(&id));
                match found {
                    Some(entity) if entity.tenant == self.tenants[entry.tenant].name && entity.name == *name => {
                        self.event(request, entry, "entity_created", id.unwrap_or_default());
                    }
                    _ => self.violation(request, entry, "an acknowledged entity is not there"),
                }
            }
            Change::UpdateEntity { id, key } => {
                self.event(request, entry, "entity_updated", *id);
                if self.survivor(*id).is_none_or(|metadata| metadata.get(key).is_none()) {
                    self.violation(request, entry, "an acknowledged change of an entity is not there");
                }
            }
            Change::MergeEntities { source, target } => {
                self.event(request, entry, "entity_merge", *source);
                if self.rows.entities.get(source).is_none_or(|entity| entity.merged_into != Some(*target)) {
                    self.violation(request, entry, "an acknowledged merge is not there");
                }
            }
            Change::Nothing | Change::Get { .. } | Change::GetEntity | Change::Work => {}
        }
    }

    fn stored(&mut self, request: &str, entry: &Entry, kind: Kind, id: Uuid, content: &str) {
        self.event(request, entry, &format!("{}_created", kind.as_str()), id);
        if kind == Kind::Episode && self.rows.removed.contains(&id) {
            return;
        }
        let Some(memory) = self.row(kind, id) else {
            return self.violation(request, entry, "what was acknowledged is lost");
        };
        // an anti-pattern is rewritten into a warning that quotes it
        let same = memory.content == content || (memory.state == "anti_pattern" && memory.content.contains(content));
        if !same || memory.tenant != self.tenants[entry.tenant].name {
            self.violation(request, entry, "what was acknowledged is another one's now");
        }
        self.at_most_once(request, entry, content);
    }

    fn at_most_once(&mut self, request: &str, entry: &Entry, content: &str) {
        if self.contents.get(content).is_some_and(|rows| *rows > 1) {
            self.violation(request, entry, "stored twice");
        }
    }

    fn forgotten(&mut self, request: &str, entry: &Entry, kind: Kind, id: Uuid, changed: bool) {
        if changed {
            self.event(request, entry, &format!("{}_forgotten", kind.as_str()), id);
        }
        let removed = kind == Kind::Episode && self.rows.removed.contains(&id);
        if !removed && self.row(kind, id).is_none_or(|memory| !memory.forgotten) {
            self.violation(request, entry, "what was forgotten is remembered again");
        }
    }

    /// Exactly one of its kind was left by the request.
    fn event(&mut self, request: &str, entry: &Entry, event: &str, about: Uuid) {
        let left = self.rows.events.get(request).into_iter().flatten();
        let count = left.filter(|(kind, id)| kind == event && *id == Some(about)).count();
        if count != 1 {
            self.violation(request, entry, &format!("{count} events {event} instead of one"));
        }
    }

    fn row(&self, kind: Kind, id: Uuid) -> Option<&Memory> {
        match kind {
            Kind::Episode => self.rows.episodes.get(&id),
            Kind::Fact => self.rows.facts.get(&id),
            Kind::Rule => self.rows.rules.get(&id),
        }
    }

    /// What is known about an entity stands where it lives on.
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

    /// As many as were acknowledged, and at most those beside whose answer was lost.
    fn marks(&mut self, journal: &Journal) {
        let mut said: HashMap<(Uuid, bool), [i64; 2]> = HashMap::new();
        for entry in journal.entries.values() {
            if let Change::Mark { rule, helpful } = entry.change {
                let counts = said.entry((rule, helpful)).or_default();
                counts[0] += i64::from(entry.outcome == Outcome::Acknowledged);
                counts[1] += i64::from(entry.outcome != Outcome::Refused);
            }
        }
        for ((rule, helpful), [least, most]) in said {
            let marks = self.rows.marks.get(&rule).copied().unwrap_or_default();
            let counted = if helpful { marks.helpful } else { marks.harmful };
            if counted < least || counted > most {
                let how = if helpful { "helpful" } else { "harmful" };
                self.violations.push(format!("rule {rule} counts {counted} {how} marks; {least} to {most} were made"));
            }
        }
    }

    /// Every event of a request has a request that wanted it.
    fn causes(&mut self, journal: &Journal) {
        for (request, events) in &self.rows.events {
            // the checker's own and the workers' requests are nobody's
            let Some(entry) = journal.entries.get(request) else { continue };
            if !Journal::writes(&entry.change) {
                self.violation(request, entry, &format!("a reading call left events ({events:?})"));
            }
        }
    }

    /// Nothing in a tenant's rows was ever another's.
    fn owners(&mut self) {
        let owners: HashMap<&str, &Tenant> = self.tenants.iter().map(|tenant| (tenant.name.as_str(), tenant)).collect();
        let all = self.rows.facts.iter().chain(&self.rows.rules).chain(&self.rows.episodes);
        for (id, memory) in all {
            let owner = owners.get(memory.tenant.as_str());
            if !secrets_in(&memory.content).iter().all(|secret| owner.is_some_and(|owner| owner.owns(secret))) {
                self.violations.push(format!("{id} of {} tells of another tenant: {}", memory.tenant, memory.content));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rows::{Entity, Marks};

    fn id(n: u128) -> Uuid {
        Uuid::from_u128(n)
    }

    fn tenants() -> Vec<Tenant> {
        (0..2).map(|index| Tenant::new(index, String::new())).collect()
    }

    fn memory(tenant: usize, content: &str, state: &str) -> Memory {
        let (tenant, content) = (tenants()[tenant].name.clone(), content.to_owned());
        Memory { tenant, content, state: state.to_owned(), forgotten: state == "retracted" }
    }

    fn entry(outcome: Outcome, change: Change) -> Entry {
        Entry { tenant: 0, tool: "tool", outcome, change }
    }

    fn fact(n: u128, content: &str, superseded: Option<u128>) -> Change {
        Change::Store { kind: Kind::Fact, content: content.to_owned(), id: Some(id(n)), superseded: superseded.map(id) }
    }

    /// A fact that superseded another, a marked rule, a forgotten fact: all as it should be.
    fn sound() -> (Journal, Rows) {
        let (mut journal, mut rows) = (Journal::default(), Rows::default());
        let did = |journal: &mut Journal, request: &str, change| {
            journal.note(request.to_owned(), entry(Outcome::Acknowledged, change));
        };
        did(&mut journal, "1", fact(1, "old", None));
        did(&mut journal, "2", fact(2, "new", Some(1)));
        did(&mut journal, "3", Change::Mark { rule: id(3), helpful: true });
        did(&mut journal, "4", Change::Forget { kind: Kind::Fact, id: id(2), changed: true });
        did(&mut journal, "5", Change::MergeEntities { source: id(5), target: id(6) });
        journal.note("6".to_owned(), entry(Outcome::Refused, fact(9, "refused", None)));
        rows.facts.insert(id(1), memory(0, "old", "superseded"));
        rows.facts.insert(id(2), memory(0, "new", "retracted"));
        rows.rules.insert(id(3), memory(0, "rule", "candidate"));
        rows.marks.insert(id(3), Marks { helpful: 1, harmful: 0 });
        let entity = |merged_into: Option<u128>| Entity {
            tenant: tenants()[0].name.clone(),
            name: "n".to_owned(),
            merged_into: merged_into.map(id),
            metadata: serde_json::json!({}),
        };
        rows.entities.insert(id(5), entity(Some(6)));
        rows.entities.insert(id(6), entity(None));
        rows.supersedes.insert((id(2), id(1)));
        for (request, event, about) in [
            ("1", "fact_created", 1),
            ("2", "fact_created", 2),
            ("2", "fact_superseded", 1),
            ("3", "rule_marked_helpful", 3),
            ("4", "fact_forgotten", 2),
            ("5", "entity_merge", 5),
        ] {
            rows.events.entry(request.to_owned()).or_default().push((event.to_owned(), Some(id(about))));
        }
        (journal, rows)
    }

    #[track_caller]
    fn finds(spoil: impl FnOnce(&mut Journal, &mut Rows), what: &str) {
        let (mut journal, mut rows) = sound();
        spoil(&mut journal, &mut rows);
        let found = check(&journal, &rows, &tenants());
        assert!(found.iter().any(|violation| violation.contains(what)), "{what:?} is not in {found:#?}");
    }

    #[test]
    fn a_sound_database_has_no_violation() {
        let (journal, rows) = sound();
        assert_eq!(check(&journal, &rows, &tenants()), Vec::<String>::new());
    }

    #[test]
    fn what_is_lost_changed_or_doubled_is_found() {
        finds(|_, rows| drop(rows.facts.remove(&id(1))), "what was acknowledged is lost");
        finds(|_, rows| drop(rows.facts.insert(id(1), memory(1, "old", "active"))), "another one's now");
        finds(|_, rows| drop(rows.facts.insert(id(1), memory(0, "else", "active"))), "another one's now");
        finds(|_, rows| drop(rows.facts.insert(id(7), memory(0, "old", "active"))), "stored twice");
        finds(|_, rows| drop(rows.facts.insert(id(2), memory(0, "new", "active"))), "remembered again");
        finds(|_, rows| rows.supersedes.clear(), "a supersession without its link");
        finds(|_, rows| drop(rows.entities.remove(&id(5))), "an acknowledged merge is not there");
    }

    #[test]
    fn a_count_that_is_not_the_marks_is_found() {
        finds(|_, rows| rows.marks.clear(), "counts 0 helpful marks; 1 to 1");
        finds(|_, rows| rows.marks.extend([(id(3), Marks { helpful: 2, harmful: 0 })]), "counts 2 helpful");
        let (mut journal, mut rows) = sound();
        let lost_answer = entry(Outcome::Unknown, Change::Mark { rule: id(3), helpful: true });
        journal.note("7".to_owned(), lost_answer);
        rows.marks.insert(id(3), Marks { helpful: 2, harmful: 0 });
        assert!(check(&journal, &rows, &tenants()).is_empty(), "a mark whose answer was lost may count");
    }

    #[test]
    fn events_that_are_missing_doubled_or_nobodys_are_found() {
        finds(|_, rows| drop(rows.events.remove("1")), "0 events fact_created instead of one");
        let again = |rows: &mut Rows, request: &str| {
            rows.events.entry(request.to_owned()).or_default().push(("fact_created".to_owned(), Some(id(1))));
        };
        finds(|_, rows| again(rows, "1"), "2 events fact_created instead of one");
        finds(|_, rows| again(rows, "6"), "refused, but events say that it was done");
        finds(
            |journal, rows| {
                journal.note("8".to_owned(), entry(Outcome::Acknowledged, Change::Nothing));
                again(rows, "8");
            },
            "a reading call left events",
        );
    }

    #[test]
    fn a_memory_that_tells_of_another_tenant_is_found() {
        let secret = tenants()[1].secret.clone();
        finds(move |_, rows| drop(rows.facts.insert(id(8), memory(0, &secret, "active"))), "tells of another tenant");
        let cut = tenants()[1].secret[..9].to_owned();
        finds(move |_, rows| drop(rows.facts.insert(id(8), memory(0, &cut, "active"))), "tells of another tenant");
    }

    #[test]
    fn a_memory_that_cuts_its_own_tenants_secret_short_is_none_of_anothers() {
        let (journal, mut rows) = sound();
        let secret = tenants()[0].secret.clone();
        rows.facts.insert(id(8), memory(0, &format!("{secret} {}", &secret[..9]), "active"));
        assert_eq!(check(&journal, &rows, &tenants()), Vec::<String>::new());
    }
}
