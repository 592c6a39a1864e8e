//! Adds the ids in an answer to the journal, and to the memories that the tenant's clients know.

use serde_json::Value;
use uuid::Uuid;

use super::Worker;
use crate::journal::{Change, Kind, OpenConflict};

impl Worker {
    pub(super) fn learn(&self, change: &mut Change, arguments: &Value, answer: &Value) {
        let given = |name: &str| id(&answer[name]);
        let mut known = self.world.tenants[self.tenant].known();
        match change {
            Change::Nothing => {
                if let Some(listed) = answer["proposals"].as_array() {
                    known.proposals = listed.iter().filter_map(proposal).collect();
                }
                if let Some(listed) = answer["conflicts"].as_array() {
                    known.conflicts = listed.iter().filter_map(open_conflict).collect();
                }
            }
            // Another client stored the same forgotten statement again before.
            Change::Store { kind, .. } if answer["confirmed"] == true => {
                if let Some(id) = given("id") {
                    *change = Change::Confirm { kind: *kind, id };
                }
            }
            Change::Store { kind, id, superseded, .. } => {
                *id = given("id");
                *superseded = given("superseded_id");
                if let Some(id) = id {
                    known.learn(*kind, *id);
                    if *kind != Kind::Episode {
                        known.statements.insert(*id, statement(arguments));
                    }
                }
            }
            Change::Propose { id, .. } => *id = given("id").filter(|_| answer["proposed"] == true),
            Change::Decide { kind, proposal, memory, changed, .. } => {
                let decided = &answer["decided"];
                *memory = id(&decided["memory_id"]);
                *changed = decided["changed"] == true;
                known.proposals.retain(|(_, waiting)| waiting != proposal);
                if let Some(memory) = memory.filter(|_| *changed) {
                    known.learn(*kind, memory);
                }
            }
            Change::Resolve { conflict, .. } => known.conflicts.retain(|open| open.id != *conflict),
            Change::CreateEntity { id, .. } => {
                *id = given("entity_id");
                if let Some(id) = id {
                    known.learn_entity(*id);
                }
            }
            Change::MergeEntities { source, .. } => known.learn_merge(*source),
            Change::UnmergeEntity { id } => known.merged.retain(|entity| entity != id),
            Change::Forget { kind, id, changed } => {
                *changed = answer["changed"] == true;
                known.forget(*kind, *id, *changed);
            }
            Change::ForgetEntity { id, .. } => known.entities.retain(|entity| entity != id),
            _ => {}
        }
    }
}

fn id(value: &Value) -> Option<Uuid> {
    value.as_str()?.parse().ok()
}

/// The part of a call's arguments that states the fact or rule. Without the ids, which may not exist any more.
fn statement(arguments: &Value) -> Value {
    let names = ["subject", "predicate", "content", "scope"];
    names.into_iter().filter_map(|name| Some((name, arguments.get(name)?.clone()))).collect()
}

/// A fact or rule that waits for approval.
fn proposal(listed: &Value) -> Option<(Kind, Uuid)> {
    let kind = [Kind::Fact, Kind::Rule].into_iter().find(|kind| listed["memory_type"] == kind.as_str())?;
    Some((kind, id(&listed["id"])?))
}

fn open_conflict(listed: &Value) -> Option<OpenConflict> {
    Some(OpenConflict { id: id(&listed["id"])?, sides: [id(&listed["a"]["id"])?, id(&listed["b"]["id"])?] })
}

impl Change {
    /// Whether the call names a fact, a rule or an entity. Unlike an episode, only an erasure removes it.
    pub fn names_a_permanent_row(&self) -> bool {
        match self {
            Self::Get { kind } | Self::Confirm { kind, .. } | Self::Forget { kind, .. } => *kind != Kind::Episode,
            Self::Mark { .. }
            | Self::GetEntity
            | Self::UpdateEntity { .. }
            | Self::MergeEntities { .. }
            | Self::ForgetEntity { .. } => true,
            Self::Nothing | Self::Work | Self::Store { .. } | Self::Propose { .. } | Self::CreateEntity { .. } => false,
            // An erasure deletes a proposal and the conflicts of a fact.
            Self::Decide { .. } | Self::Resolve { .. } | Self::RegisterPredicate { .. } => false,
            // It is not found either if the entity that it was merged into is forgotten.
            Self::UnmergeEntity { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::tenant::Tenant;
    use crate::work::World;

    fn learn(world: &Arc<World>, mut change: Change, answer: &Value) -> Change {
        let arguments = json!({"subject": "s", "predicate": "p", "content": "c", "entity_id": Uuid::nil()});
        Worker::new(world, 0, 1, "127.0.0.1:1").learn(&mut change, &arguments, answer);
        change
    }

    fn world() -> Arc<World> {
        Arc::new(World::new(vec![Tenant::new(0, String::new())]))
    }

    fn store() -> Change {
        Change::Store { kind: Kind::Fact, content: "c".to_owned(), id: None, superseded: None }
    }

    #[test]
    fn a_decision_needs_a_listed_proposal_or_conflict() {
        let (world, [a, b, c]) = (world(), [1, 2, 3].map(Uuid::from_u128));
        let proposals = json!([{"id": a, "memory_type": "rule"}, {"id": b, "memory_type": "episode"}]);
        learn(&world, Change::Nothing, &json!({"proposals": proposals, "total": 2}));
        let conflicts = json!([{"id": c, "a": {"id": a}, "b": {"id": b}}]);
        learn(&world, Change::Nothing, &json!({"conflicts": conflicts, "total": 1}));
        assert_eq!(world.tenants[0].known().proposals, [(Kind::Rule, a)], "a released episode is no new memory");
        assert_eq!(world.tenants[0].known().conflicts, [OpenConflict { id: c, sides: [a, b] }]);

        let approve = Change::Decide { kind: Kind::Rule, proposal: a, approve: true, memory: None, changed: false };
        let answer = json!({"decided": {"id": a, "memory_id": a, "state": "approved", "changed": true}});
        let approved = learn(&world, approve, &answer);
        assert!(matches!(approved, Change::Decide { memory: Some(memory), changed: true, .. } if memory == a));
        assert!(world.tenants[0].known().proposals.is_empty());
        assert_eq!(world.tenants[0].known().rules, [a]);
    }

    #[test]
    fn a_forgotten_fact_leaves_its_statement_without_ids() {
        let (world, id) = (world(), Uuid::from_u128(1));
        learn(&world, store(), &json!({"id": id, "superseded_id": null}));
        learn(&world, Change::Forget { kind: Kind::Fact, id, changed: false }, &json!({"changed": true}));
        let stated = world.tenants[0].known().take_forgotten(Kind::Fact);
        assert_eq!(stated, Some(json!({"subject": "s", "predicate": "p", "content": "c"})));
    }

    #[test]
    fn a_statement_that_is_known_already_counts_as_a_confirmation() {
        let id = Uuid::from_u128(1);
        let learned = learn(&world(), store(), &json!({"id": id, "superseded_id": null, "confirmed": true}));
        assert_eq!(learned, Change::Confirm { kind: Kind::Fact, id });
    }
}
