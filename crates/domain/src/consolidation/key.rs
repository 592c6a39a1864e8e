//! Applying an action twice must change nothing: each has a key that is made of what it says.

use uuid::Uuid;

use super::actions::{Confirmation, NewFact, NewRule, UpdatedFact};
use crate::ids::EpisodeId;
use crate::tenant::{Butler, TenantId};

/// Our own namespace for version 5 ids; any constant will do as long as it never changes.
const NAMESPACE: Uuid = Uuid::from_u128(0x6d1f_0c2e_5a3b_4d8e_9b47_2f60_c1a7_e5d3);

#[derive(Debug, Clone, Copy)]
pub enum Action<'a> {
    NewFact(&'a NewFact),
    UpdatedFact(&'a UpdatedFact),
    NewRule(&'a NewRule),
    Confirmation(&'a Confirmation),
}

/// The same for the same batch and the same statement. What decorates a statement (importance, tags) does not count:
/// after a crash a model asked again grades differently what it says alike.
pub fn idempotency_key(tenant: &TenantId, butler: &Butler, episodes: &[EpisodeId], action: Action<'_>) -> Uuid {
    let mut ids: Vec<_> = episodes.iter().map(|id| id.0).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut bytes = Vec::new();
    // Lengths in front, so that no two lists of parts give the same bytes.
    let mut part = |text: &[u8]| {
        bytes.extend((text.len() as u64).to_be_bytes());
        bytes.extend(text);
    };
    part(tenant.as_str().as_bytes());
    part(butler.as_str().as_bytes());
    part(&ids.iter().flat_map(|id| *id.as_bytes()).collect::<Vec<_>>());
    match action {
        Action::NewFact(fact) => {
            part(b"new_fact");
            [&fact.subject, &fact.predicate, &fact.content].iter().for_each(|text| part(text.as_bytes()));
        }
        Action::UpdatedFact(fact) => {
            part(b"updated_fact");
            part(fact.target_id.0.as_bytes());
            part(fact.content.as_bytes());
        }
        Action::NewRule(rule) => {
            part(b"new_rule");
            part(rule.content.as_bytes());
        }
        Action::Confirmation(confirmation) => {
            part(b"confirmation");
            part(confirmation.id.as_bytes());
        }
    }
    Uuid::new_v5(&NAMESPACE, &bytes)
}
