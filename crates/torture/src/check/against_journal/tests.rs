//! Every kind of damage is injected into a sound journal and its rows, and found.

use serde_json::json;

use super::*;
use crate::check::rows::{Conflict, Entity, Marks, Proposal};

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
    let (id, superseded) = (Some(id(n)), superseded.map(id));
    Change::Store { kind: Kind::Fact, content: content.to_owned(), id, superseded }
}

fn event(rows: &mut Rows, request: &str, event: &str, about: u128) {
    rows.events.entry(request.to_owned()).or_default().push((event.to_owned(), Some(id(about))));
}

/// A fact that superseded another, a marked rule, a forgotten fact, a changed and merged entity, a refused call and a
/// read: all as it should be.
fn sound() -> (Journal, Rows) {
    let (mut journal, mut rows) = (Journal::default(), Rows::default());
    for (request, change) in [
        ("1", fact(1, "old", None)),
        ("2", fact(2, "new", Some(1))),
        ("14", Change::Propose { kind: Kind::Fact, content: "proposed".to_owned(), id: Some(id(14)) }),
        ("3", Change::Mark { rule: id(3), helpful: true }),
        ("4", Change::Forget { kind: Kind::Fact, id: id(2), changed: true }),
        ("5", Change::CreateEntity { name: "n".to_owned(), id: Some(id(5)) }),
        ("6", Change::UpdateEntity { id: id(5), key: "k".to_owned() }),
        ("7", Change::MergeEntities { source: id(5), target: id(6) }),
        ("9", Change::Get { kind: Kind::Fact }),
        ("11", Change::CreateEntity { name: "gone".to_owned(), id: Some(id(11)) }),
        ("12", Change::ForgetEntity { id: id(11), erase: true }),
        ("13", Change::ForgetEntity { id: id(13), erase: false }),
    ] {
        journal.note(request.to_owned(), entry(Outcome::Acknowledged, change));
    }
    journal.note("8".to_owned(), entry(Outcome::Refused, fact(9, "refused", None)));
    rows.facts.insert(id(1), memory(0, "old", "superseded"));
    rows.facts.insert(id(2), memory(0, "new", "retracted"));
    rows.rules.insert(id(3), memory(0, "rule", "candidate"));
    rows.marks.insert(id(3), Marks { helpful: 1, harmful: 0 });
    let entity = |merged_into: Option<u128>, metadata| Entity {
        tenant: tenants()[0].name.clone(),
        name: "n".to_owned(),
        merged_into: merged_into.map(id),
        metadata,
    };
    rows.entities.insert(id(5), entity(Some(6), json!({})));
    rows.entities.insert(id(6), entity(None, json!({"k": 1})));
    rows.entities.insert(id(13), entity(None, json!({"forgotten_at": "now"})));
    rows.erased.insert(id(11));
    rows.supersedes.insert((id(2), id(1)));
    journal.missing = vec![(vec![id(11)], "erased".to_owned()), (vec![id(13)], "forgotten".to_owned())];
    for (request, event_type, about) in [
        ("1", "fact_created", 1),
        ("2", "fact_created", 2),
        ("2", "fact_superseded", 1),
        ("14", "proposal_made", 14),
        ("3", "rule_marked_helpful", 3),
        ("4", "fact_forgotten", 2),
        ("5", "entity_created", 5),
        ("6", "entity_updated", 5),
        ("7", "entity_merge", 5),
        ("11", "entity_created", 11),
        ("12", "entity_erased", 11),
    ] {
        event(&mut rows, request, event_type, about);
    }
    decisions(&mut journal, &mut rows);
    (journal, rows)
}

/// An approved and a rejected proposal, two resolved conflicts, a predicate, an entity whose merge was undone, and a
/// forgotten fact that was stored again.
fn decisions(journal: &mut Journal, rows: &mut Rows) {
    let decide = |proposal: u128, approve: bool| Change::Decide {
        kind: Kind::Fact,
        proposal: id(proposal),
        approve,
        memory: approve.then(|| id(proposal)),
        changed: true,
    };
    let propose =
        |n: u128, content: &str| Change::Propose { kind: Kind::Fact, content: content.to_owned(), id: Some(id(n)) };
    let resolve = |conflict: u128, sides: [u128; 2], resolution: &'static str, content: Option<&str>| Change::Resolve {
        conflict: id(conflict),
        sides: sides.map(id),
        resolution,
        content: content.map(str::to_owned),
    };
    for (request, change) in [
        ("20", propose(20, "approved")),
        ("21", decide(20, true)),
        ("22", propose(22, "rejected")),
        ("23", decide(22, false)),
        ("24", resolve(24, [30, 31], "keep_b", None)),
        ("25", resolve(25, [32, 33], "merge", Some("both"))),
        ("26", Change::RegisterPredicate { name: "knows".to_owned() }),
        ("27", Change::MergeEntities { source: id(27), target: id(6) }),
        ("28", Change::UnmergeEntity { id: id(27) }),
        ("29", fact(29, "new", None)),
    ] {
        journal.note(request.to_owned(), entry(Outcome::Acknowledged, change));
    }
    let tenant = tenants()[0].name.clone();
    for (n, state) in [(20, "approved"), (22, "rejected")] {
        rows.proposals.insert(id(n), Proposal { tenant: tenant.clone(), state: state.to_owned() });
    }
    for (n, resolution, result) in [(24, "keep_b", None), (25, "merge", Some(id(34)))] {
        let (tenant, resolution) = (tenant.clone(), Some(resolution.to_owned()));
        rows.conflicts.insert(id(n), Conflict { tenant, resolution, result });
    }
    rows.predicates.insert((tenant.clone(), "knows".to_owned()));
    let metadata = json!({});
    rows.entities.insert(id(27), Entity { tenant, name: "n".to_owned(), merged_into: None, metadata });
    rows.unmerged.insert(id(27));
    for (n, content, state) in [
        (20, "approved", "active"),
        (29, "new", "active"),
        (30, "wrong", "retracted"),
        (31, "right", "active"),
        (32, "one half", "superseded"),
        (33, "other half", "retracted"),
        (34, "both", "active"),
    ] {
        rows.facts.insert(id(n), memory(0, content, state));
    }
    for (request, event_type, about) in [
        ("20", "proposal_made", 20),
        ("21", "proposal_approved", 20),
        ("22", "proposal_made", 22),
        ("23", "proposal_rejected", 22),
        ("24", "conflict_resolved", 30),
        ("25", "conflict_resolved", 32),
        ("27", "entity_merge", 27),
        ("28", "entity_unmerged", 27),
        ("29", "fact_created", 29),
    ] {
        event(rows, request, event_type, about);
    }
    rows.events.insert("26".to_owned(), vec![("predicate_set".to_owned(), None)]);
}

type Injection = fn(&mut Journal, &mut Rows);

/// Ways to do each kind of damage. A new kind does not compile without one.
fn injections(damage: Damage) -> Vec<Injection> {
    match damage {
        Damage::RefusedButDone => vec![|_, rows| event(rows, "8", "fact_created", 9)],
        Damage::MissingLink => vec![|_, rows| rows.supersedes.clear()],
        Damage::AnswerWithoutId => vec![|journal, _| {
            let nameless = Change::Store { kind: Kind::Rule, content: "c".to_owned(), id: None, superseded: None };
            journal.note("10".to_owned(), entry(Outcome::Acknowledged, nameless));
        }],
        Damage::Lost => vec![
            |_, rows| drop(rows.facts.remove(&id(1))),
            // an approved proposal
            |_, rows| drop(rows.facts.remove(&id(20))),
            // the result of a merge of two facts
            |_, rows| drop(rows.facts.remove(&id(34))),
        ],
        Damage::Changed => vec![
            |_, rows| drop(rows.facts.insert(id(1), memory(1, "old", "active"))),
            |_, rows| drop(rows.facts.insert(id(1), memory(0, "else", "active"))),
            |_, rows| drop(rows.facts.insert(id(34), memory(0, "else", "active"))),
        ],
        Damage::Unapproved => {
            vec![|_, rows| drop(rows.facts.insert(id(14), memory(0, "proposed", "active"))), |journal, _| {
                let stored = Change::Propose { kind: Kind::Rule, content: "c".to_owned(), id: None };
                journal.note("10".to_owned(), entry(Outcome::Acknowledged, stored));
            }]
        }
        Damage::RejectedStored => vec![|_, rows| drop(rows.facts.insert(id(22), memory(0, "rejected", "active")))],
        Damage::MissingDecision => {
            vec![|_, rows| decide_anew(rows, 20, "open"), |_, rows| decide_anew(rows, 20, "rejected"), |_, rows| {
                decide_anew(rows, 22, "open")
            }]
        }
        Damage::MissingResolution => {
            vec![|_, rows| drop(rows.conflicts.remove(&id(24))), |_, rows| resolve_anew(rows, None), |_, rows| {
                resolve_anew(rows, Some("keep_a"))
            }]
        }
        Damage::SideActiveTwice => vec![|_, rows| drop(rows.facts.insert(id(35), memory(0, "right", "active")))],
        Damage::MissingPredicate => vec![|_, rows| rows.predicates.clear()],
        Damage::StoredTwice => {
            vec![
                |_, rows| drop(rows.facts.insert(id(7), memory(0, "old", "active"))),
                |journal, rows| {
                    journal.note("10".to_owned(), entry(Outcome::Unknown, fact(0, "unknown", None)));
                    rows.facts.insert(id(7), memory(0, "unknown", "active"));
                    rows.facts.insert(id(8), memory(0, "unknown", "active"));
                },
                |_, rows| {
                    // an approved proposal
                    drop(rows.facts.insert(id(7), memory(0, "approved", "active")))
                },
                |_, rows| {
                    // stored, forgotten and stored again by two calls
                    drop(rows.facts.insert(id(7), memory(0, "new", "active")))
                },
            ]
        }
        Damage::ForgottenReturned => vec![
            |_, rows| drop(rows.facts.insert(id(2), memory(0, "new", "active"))),
            // what the resolution of a conflict discarded
            |_, rows| drop(rows.facts.insert(id(30), memory(0, "wrong", "active"))),
            |_, rows| drop(rows.facts.insert(id(33), memory(0, "other half", "active"))),
        ],
        Damage::MissingEntity => vec![|_, rows| drop(rows.entities.remove(&id(5))), |_, rows| {
            rows.entities.entry(id(5)).and_modify(|entity| entity.tenant.push('!'));
        }],
        Damage::MissingEntityUpdate => vec![|_, rows| {
            rows.entities.entry(id(6)).and_modify(|entity| entity.metadata = json!({}));
        }],
        Damage::MissingMerge => vec![|_, rows| {
            rows.entities.entry(id(5)).and_modify(|entity| entity.merged_into = None);
        }],
        Damage::EntityRemembered => {
            vec![|_, rows| drop(rows.entities.insert(id(11), rows.entities[&id(13)].clone())), |_, rows| {
                rows.entities.entry(id(13)).and_modify(|entity| entity.metadata = json!({}));
            }]
        }
        Damage::NotFound => vec![|journal, _| journal.missing.push((vec![id(1)], "not found".to_owned()))],
        Damage::WrongEventCount => {
            vec![
                |_, rows| drop(rows.events.remove("1")),
                |_, rows| event(rows, "1", "fact_created", 1),
                |_, rows| drop(rows.events.remove("21")),
                |_, rows| drop(rows.events.remove("23")),
                |_, rows| drop(rows.events.remove("24")),
                |_, rows| drop(rows.events.remove("26")),
                |_, rows| drop(rows.events.remove("28")),
            ]
        }
        Damage::WrongMarkCount => {
            vec![|_, rows| rows.marks.clear(), |_, rows| rows.marks.extend([(id(3), Marks { helpful: 2, harmful: 0 })])]
        }
        Damage::ReadLeftEvents => vec![|_, rows| event(rows, "9", "fact_confirmed", 1)],
        Damage::ForeignContent => vec![
            |_, rows| drop(rows.facts.insert(id(8), memory(0, &tenants()[1].secret, "active"))),
            // cut short, as a snippet is
            |_, rows| drop(rows.facts.insert(id(8), memory(0, &tenants()[1].secret[..9], "active"))),
        ],
    }
}

fn decide_anew(rows: &mut Rows, proposal: u128, state: &str) {
    rows.proposals.entry(id(proposal)).and_modify(|row| row.state = state.to_owned());
}

fn resolve_anew(rows: &mut Rows, resolution: Option<&str>) {
    rows.conflicts.entry(id(24)).and_modify(|row| row.resolution = resolution.map(str::to_owned));
}

#[test]
fn every_kind_of_damage_is_found() {
    for damage in Damage::ALL {
        for inject in injections(*damage) {
            let (mut journal, mut rows) = sound();
            inject(&mut journal, &mut rows);
            let found = find(&journal, &rows, &tenants());
            assert!(found.iter().any(|(kind, _)| kind == damage), "{damage:?} is not in {found:#?}");
        }
    }
}

#[test]
fn a_sound_database_has_no_damage() {
    let (journal, rows) = sound();
    assert_eq!(check(&journal, &rows, &tenants()), Vec::<String>::new());
}

#[test]
fn a_mark_whose_answer_was_lost_may_count() {
    let (mut journal, mut rows) = sound();
    let lost_answer = entry(Outcome::Unknown, Change::Mark { rule: id(3), helpful: true });
    journal.note("10".to_owned(), lost_answer);
    rows.marks.insert(id(3), Marks { helpful: 2, harmful: 0 });
    assert_eq!(check(&journal, &rows, &tenants()), Vec::<String>::new());
}

#[test]
fn an_approval_whose_answer_was_lost_may_have_stored_the_proposal() {
    let (mut journal, mut rows) = sound();
    rows.facts.insert(id(14), memory(0, "proposed", "active"));
    let lost_answer =
        Change::Decide { kind: Kind::Fact, proposal: id(14), approve: true, memory: None, changed: false };
    journal.note("10".to_owned(), entry(Outcome::Unknown, lost_answer));
    assert_eq!(check(&journal, &rows, &tenants()), Vec::<String>::new());
}

#[test]
fn an_erased_fact_takes_its_conflict_with_it() {
    let (journal, mut rows) = sound();
    rows.conflicts.remove(&id(24));
    rows.facts.remove(&id(30));
    rows.erased.insert(id(30));
    assert_eq!(check(&journal, &rows, &tenants()), Vec::<String>::new());
}

#[test]
fn a_memory_may_contain_its_own_tenants_secret_cut_short() {
    let (journal, mut rows) = sound();
    let secret = tenants()[0].secret.clone();
    rows.facts.insert(id(8), memory(0, &format!("{secret} {}", &secret[..9]), "active"));
    assert_eq!(check(&journal, &rows, &tenants()), Vec::<String>::new());
}
