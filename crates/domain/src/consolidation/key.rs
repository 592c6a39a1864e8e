//! Idempotency keys of actions, so that applying an action twice changes nothing the second time.

use uuid::Uuid;

use super::actions::{Confirmation, NewEntity, NewFact, NewRule, UpdatedFact};
use crate::ids::EpisodeId;
use crate::tenant::{Butler, TenantId};
use crate::times::GivenTexts;

/// The namespace of the version 5 UUIDs. It must never change, or actions would be applied again.
const NAMESPACE: Uuid = Uuid::from_u128(0x6d1f_0c2e_5a3b_4d8e_9b47_2f60_c1a7_e5d3);

/// An action of any kind.
#[derive(Debug, Clone, Copy)]
pub enum Action<'a> {
    NewFact(&'a NewFact),
    UpdatedFact(&'a UpdatedFact),
    NewRule(&'a NewRule),
    Confirmation(&'a Confirmation),
    Entity(&'a NewEntity),
}

/// The key of an action: equal for the same batch and the same statement. Importance and tags do not influence it,
/// because after a crash the model may repeat a statement with other values for them.
pub fn idempotency_key(tenant: &TenantId, butler: &Butler, episodes: &[EpisodeId], action: Action<'_>) -> Uuid {
    let mut ids: Vec<_> = episodes.iter().map(|id| id.0).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut bytes = Vec::new();
    // Each part is preceded by its length, so that different lists of parts never give the same bytes.
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
            dates(&fact.dates).iter().for_each(|date| part(date.as_bytes()));
        }
        Action::UpdatedFact(fact) => {
            part(b"updated_fact");
            part(fact.target_id.0.as_bytes());
            part(fact.content.as_bytes());
            dates(&fact.dates).iter().for_each(|date| part(date.as_bytes()));
        }
        Action::NewRule(rule) => {
            part(b"new_rule");
            part(rule.content.as_bytes());
        }
        Action::Confirmation(confirmation) => {
            part(b"confirmation");
            part(confirmation.id.as_bytes());
        }
        Action::Entity(entity) => {
            part(b"entity");
            part(entity.name.as_bytes());
        }
    }
    Uuid::new_v5(&NAMESPACE, &bytes)
}

/// Nothing for a fact without dates, so that its key is that of earlier programs.
fn dates(given: &GivenTexts) -> Vec<String> {
    let named = [("from", &given.valid_from), ("to", &given.valid_to)];
    named.into_iter().filter_map(|(name, date)| Some(format!("{name} {}", date.as_ref()?))).collect()
}
