//! Entities that may be the same as another one, by the likeness of their names.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use butler_domain::resolve::{Hints, KEPT_APART};
use butler_domain::{Entity, EntityId, EntityType};
use butler_store::browse::entities::{EntityFilter, EntityItem, EntitySort};
use butler_store::browse::{Listed, Page};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{EntityChanges, EntityView, ResolveInput};
use crate::{Call, Memory, MemoryError};

/// Names that are less alike are different names.
const LEAST_LIKENESS: f64 = 0.88;
const MOST: usize = 5;
/// Entities that are compared with each other, the newest first. Those that share a word start are compared pair by pair,
/// so the time grows with the square of this.
const COMPARED: i64 = 1000;

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

/// Two entities of the same type whose names are alike.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DuplicatePair {
    /// The one with more facts, which a merge keeps.
    pub a: PairedEntity,
    pub b: PairedEntity,
    /// How alike the most similar two of their names are, up to 1 (Jaro-Winkler).
    pub similarity: f64,
}

/// One entity of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PairedEntity {
    pub id: EntityId,
    pub canonical_name: String,
    pub entity_type: EntityType,
    pub aliases: Vec<String>,
    /// Number of active facts about it.
    pub facts: i64,
}

impl From<&EntityItem> for PairedEntity {
    fn from(item: &EntityItem) -> Self {
        let Entity { id, canonical_name, entity_type, aliases, .. } = item.entity.clone();
        Self { id, canonical_name, entity_type, aliases, facts: item.facts }
    }
}

impl DuplicatePair {
    /// The most alike first.
    pub fn order(&self, other: &Self) -> Ordering {
        let names = |pair: &Self| (pair.a.canonical_name.clone(), pair.b.canonical_name.clone(), pair.a.id, pair.b.id);
        other.similarity.total_cmp(&self.similarity).then_with(|| names(self).cmp(&names(other)))
    }
}

impl Memory {
    /// Pairs among the newest 1,000 entities whose names are alike, most alike first, without those kept apart.
    pub async fn duplicate_pairs(&self, call: &Call, page: Page) -> Result<Listed<DuplicatePair>, MemoryError> {
        let filter = EntityFilter { sort: EntitySort::Newest, ..EntityFilter::default() };
        let mut conn = self.db().reader(&call.tenant).await?;
        let listed =
            butler_store::browse::entities::list(&mut conn, &call.tenant, &filter, Page::first(COMPARED)).await?;
        drop(conn);
        let mut pairs = alike(&listed.rows);
        pairs.sort_by(DuplicatePair::order);
        let total = pairs.len() as i64;
        let (skipped, shown) = (page.offset.unsigned_abs() as usize, page.limit.unsigned_abs() as usize);
        Ok(Listed { rows: pairs.into_iter().skip(skipped).take(shown).collect(), total })
    }

    /// Records that two entities are different ones, or takes it back. The two no longer appear as duplicates.
    pub async fn keep_apart(
        &self,
        call: &Call,
        id: EntityId,
        other: EntityId,
        apart: bool,
    ) -> Result<EntityView, MemoryError> {
        let view = self.get_entity(call, id).await?.ok_or(MemoryError::NoEntity { id })?;
        if self.get_entity(call, other).await?.is_none() {
            return Err(MemoryError::NoEntity { id: other });
        }
        let mut ids = kept_apart(&view.entity);
        if apart {
            ids.insert(other.to_string());
        } else {
            ids.remove(&other.to_string());
        }
        let metadata = Map::from_iter([(KEPT_APART.to_owned(), json!(ids))]);
        self.update_entity(call, id, EntityChanges { metadata: Some(metadata), ..EntityChanges::default() }).await
    }

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
        let others = self.resolve_entity(call, input).await?.candidates.into_iter();
        let mut duplicates: Vec<Duplicate> = others
            .filter(|other| other.entity_id != entity.id)
            .map(|other| {
                let theirs: Vec<&String> = std::iter::once(&other.canonical_name).chain(&other.aliases).collect();
                let similarity = nearest(&names(entity), &theirs);
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
            let other = |id: EntityId| items.iter().find(|item| item.entity.id == id);
            duplicates.retain(|duplicate| other(duplicate.id).is_none_or(|item| !are_apart(entity, &item.entity)));
            for duplicate in &mut duplicates {
                duplicate.facts = other(duplicate.id).map_or(0, |item| item.facts);
            }
        }
        Ok(duplicates)
    }
}

/// The pairs of entities that may be the same. Only those with a word in common, by its first letters, are compared:
/// names that begin with other letters are not alike.
fn alike(items: &[EntityItem]) -> Vec<DuplicatePair> {
    let mut blocks: HashMap<(&str, String), Vec<usize>> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        let words = names(&item.entity).into_iter().flat_map(|name| name.split_whitespace());
        let starts: BTreeSet<String> = words.map(|word| word.to_lowercase().chars().take(2).collect()).collect();
        for start in starts {
            blocks.entry((item.entity.entity_type.as_str(), start)).or_default().push(index);
        }
    }
    let mut compared = BTreeSet::new();
    for block in blocks.values() {
        for (at, one) in block.iter().enumerate() {
            compared.extend(block[at + 1..].iter().map(|other| (*one, *other)));
        }
    }
    let pair = |(one, other): (usize, usize)| {
        let (one, other) = (&items[one], &items[other]);
        let similarity = nearest(&names(&one.entity), &names(&other.entity));
        if similarity < LEAST_LIKENESS || are_apart(&one.entity, &other.entity) {
            return None;
        }
        // Of two with as many facts, the older one stays: `items` has the newest first.
        let (a, b) = if one.facts > other.facts { (one, other) } else { (other, one) };
        Some(DuplicatePair { a: a.into(), b: b.into(), similarity })
    };
    compared.into_iter().filter_map(pair).collect()
}

fn names(entity: &Entity) -> Vec<&String> {
    std::iter::once(&entity.canonical_name).chain(&entity.aliases).collect()
}

/// How alike the most similar two of these names are.
fn nearest(ours: &[&String], theirs: &[&String]) -> f64 {
    let all = ours.iter().flat_map(|one| theirs.iter().map(move |other| likeness(one, other)));
    all.fold(0.0, f64::max)
}

/// The ids of entities that a person said are different from this one.
fn kept_apart(entity: &Entity) -> BTreeSet<String> {
    let ids = entity.metadata.get(KEPT_APART).and_then(Value::as_array).into_iter().flatten();
    ids.filter_map(|id| id.as_str().map(str::to_owned)).collect()
}

fn are_apart(one: &Entity, other: &Entity) -> bool {
    kept_apart(one).contains(&other.id.to_string()) || kept_apart(other).contains(&one.id.to_string())
}

/// 1 for names that differ only in case. A name that begins with the whole other name is just alike enough to be a
/// duplicate. Names with the same number of words are as alike as their least similar words: people who share only a first
/// name are not alike.
fn likeness(a: &str, b: &str) -> f64 {
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    let (short, long) = if a.len() < b.len() { (&a, &b) } else { (&b, &a) };
    if long.strip_prefix(short.as_str()).is_some_and(|rest| rest.starts_with(' ')) {
        return LEAST_LIKENESS;
    }
    let (ours, theirs): (Vec<&str>, Vec<&str>) = (a.split_whitespace().collect(), b.split_whitespace().collect());
    if ours.len() != theirs.len() {
        return strsim::jaro_winkler(&a, &b);
    }
    ours.iter().zip(theirs).map(|(one, other)| strsim::jaro_winkler(one, other)).fold(1.0, f64::min)
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
        for (a, b) in
            [("Ann Smith", "Tom Miller"), ("Greta Fischer", "Greta Schulte"), ("Bilal Rossi", "Bilal Kowalski")]
        {
            assert!(likeness(a, b) < LEAST_LIKENESS, "{a} and {b}: {}", likeness(a, b));
        }
    }
}
