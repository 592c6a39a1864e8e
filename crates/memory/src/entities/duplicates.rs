//! Entities that may be the same as another one, by the likeness of their names.

use butler_domain::resolve::Hints;
use butler_domain::{EntityId, EntityType};
use schemars::JsonSchema;
use serde::Serialize;

use super::{EntityView, ResolveInput};
use crate::{Call, Memory, MemoryError};

/// Names that are less alike are different names.
const LEAST_LIKENESS: f64 = 0.88;
const MOST: usize = 5;

/// An entity that may be the same person or thing.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Duplicate {
    pub id: EntityId,
    pub canonical_name: String,
    pub entity_type: EntityType,
    /// How alike the most similar two of their names are, up to 1 (Jaro-Winkler).
    pub similarity: f64,
    /// Number of active facts about it.
    pub facts: i64,
}

impl Memory {
    /// Other live entities of the same type with a similar name, most similar first, at most 5.
    pub async fn likely_duplicates(&self, call: &Call, of: &EntityView) -> Result<Vec<Duplicate>, MemoryError> {
        let entity = &of.entity;
        if of.merged_into.is_some() {
            return Ok(Vec::new());
        }
        let input = ResolveInput {
            name: entity.canonical_name.clone(),
            entity_type: Some(entity.entity_type),
            hints: Hints::default(),
            enable_fuzzy: true,
        };
        let names = || std::iter::once(&entity.canonical_name).chain(&entity.aliases);
        let others = self.resolve_entity(call, input).await?.candidates.into_iter();
        let mut duplicates: Vec<Duplicate> = others
            .filter(|other| other.entity_id != entity.id)
            .map(|other| {
                let theirs = std::iter::once(&other.canonical_name).chain(&other.aliases);
                let similarity =
                    theirs.flat_map(|theirs| names().map(|ours| likeness(ours, theirs))).fold(0.0, f64::max);
                Duplicate {
                    id: other.entity_id,
                    canonical_name: other.canonical_name,
                    entity_type: other.entity_type,
                    similarity,
                    facts: 0,
                }
            })
            .filter(|duplicate| duplicate.similarity >= LEAST_LIKENESS)
            .collect();
        duplicates.sort_by(|a, b| {
            b.similarity
                .total_cmp(&a.similarity)
                .then_with(|| a.canonical_name.cmp(&b.canonical_name))
                .then(a.id.cmp(&b.id))
        });
        duplicates.truncate(MOST);
        let ids: Vec<_> = duplicates.iter().map(|duplicate| duplicate.id.0).collect();
        if !ids.is_empty() {
            let mut conn = self.db().relaxed(&call.tenant).await?;
            let items = butler_store::browse::entities::by_ids(&mut conn, &call.tenant, &ids).await?;
            for duplicate in &mut duplicates {
                let item = items.iter().find(|item| item.entity.id == duplicate.id);
                duplicate.facts = item.map_or(0, |item| item.facts);
            }
        }
        Ok(duplicates)
    }
}

/// 1 for names that differ in case only. A name that begins with all of the other is as likely the same.
fn likeness(a: &str, b: &str) -> f64 {
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    let (short, long) = if a.len() < b.len() { (&a, &b) } else { (&b, &a) };
    let begins = long.strip_prefix(short.as_str()).is_some_and(|rest| rest.starts_with(' '));
    if begins { LEAST_LIKENESS } else { 0.0_f64 }.max(strsim::jaro_winkler(&a, &b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_or_shortened_name_is_alike_and_another_surname_is_not() {
        for (a, b) in [("Katharina Brenner", "Katarina Brenner"), ("Ann", "Ann Smith"), ("zoe", "Zoe")] {
            assert!(likeness(a, b) >= LEAST_LIKENESS, "{a} and {b}: {}", likeness(a, b));
        }
        for (a, b) in [("Ann Smith", "Tom Miller"), ("Ann Smith", "Anna Miller-Jones"), ("Annika", "Ann")] {
            assert!(likeness(a, b) < 1.0, "{a} and {b}");
        }
        assert!(likeness("Ann Smith", "Tom Miller") < LEAST_LIKENESS);
    }
}
