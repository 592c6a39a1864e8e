//! Resolves a name to candidate entities, ranked by match tier and context hints.

use butler_domain::resolve::{Candidate, Hints, fuzzy_applies, rank};
use butler_domain::{EntityId, EntityType};
use butler_store::entities::{self, EntityMatch, NameQuery};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Call, Memory, MemoryError};

/// The validated arguments of a resolution.
#[derive(Debug, Clone)]
pub struct ResolveInput {
    pub name: String,
    pub entity_type: Option<EntityType>,
    pub hints: Hints,
    /// Whether to include names with a similar spelling.
    pub enable_fuzzy: bool,
}

/// The candidates for a name.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Resolved {
    /// Best first: highest score, then canonical_name. Empty if nothing matches.
    pub candidates: Vec<Candidate>,
}

impl Memory {
    /// Resolves a name with one statement. Reads from the primary, because a caller that finds nothing creates the
    /// entity.
    pub async fn resolve_entity(&self, call: &Call, input: ResolveInput) -> Result<Resolved, MemoryError> {
        let scored: Vec<EntityId> = input.hints.scored_entities().collect();
        let request = NameQuery {
            name: &input.name,
            entity_type: input.entity_type,
            fuzzy: fuzzy_applies(&input.name, input.enable_fuzzy),
            known: &scored,
            with_facts: input.hints.needs_neighbourhood(),
        };
        let mut conn = self.db().relaxed(&call.tenant).await?;
        let found = entities::candidates(&mut conn, &call.tenant, &request).await?;
        drop(conn);
        let candidates = found.into_iter().map(|found| candidate(found, &input.hints)).collect();
        Ok(Resolved { candidates: rank(candidates) })
    }
}

fn candidate(found: EntityMatch, hints: &Hints) -> Candidate {
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
