//! Which entity a name means: candidates by tier, moved by what the conversation hints at.

use butler_domain::resolve::{Candidate, Hints, fuzzy_applies, rank};
use butler_domain::{EntityId, EntityType};
use butler_store::entities::{self, EntityMatch, NameQuery};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Call, Memory, MemoryError};

/// A question whose fields were validated.
#[derive(Debug, Clone)]
pub struct ResolveInput {
    pub name: String,
    pub entity_type: Option<EntityType>,
    pub hints: Hints,
    pub enable_fuzzy: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Resolved {
    /// Best first: score descending, then canonical_name. Empty when nothing matches; nothing is ever created.
    pub candidates: Vec<Candidate>,
}

impl Memory {
    /// One statement. Asked of the primary: who finds nothing will create the entity.
    pub async fn resolve_entity(&self, call: &Call, input: ResolveInput) -> Result<Resolved, MemoryError> {
        let known: Vec<EntityId> = input.hints.scored().collect();
        let query = NameQuery {
            name: &input.name,
            entity_type: input.entity_type,
            fuzzy: fuzzy_applies(&input.name, input.enable_fuzzy),
            known: &known,
            with_facts: input.hints.needs_neighbourhood(),
        };
        let mut conn = self.db().relaxed(&call.tenant).await?;
        let found = entities::candidates(&mut conn, &call.tenant, &query).await?;
        drop(conn);
        let candidates = found.into_iter().map(|found| scored(found, &input.hints)).collect();
        Ok(Resolved { candidates: rank(candidates) })
    }
}

fn scored(found: EntityMatch, hints: &Hints) -> Candidate {
    let boost = hints.neighbourhood_boost(&found.facts) + hints.domain_score(found.id);
    Candidate {
        entity_id: found.id,
        canonical_name: found.canonical_name,
        entity_type: found.entity_type,
        score: found.name_match.base_score() + boost,
        name_match: found.name_match,
        aliases: found.aliases,
    }
}
