//! Entities that may be the same as another one, by the likeness of their names.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use butler_domain::resolve::{Hints, KEPT_APART};
use butler_domain::{Entity, EntityId, EntityType};
use butler_store::browse::entities::{EntityFilter, EntityItem, EntitySort};
use butler_store::browse::{Listed, Page};
use butler_store::entities::{Changes, KeptApart};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{EntityView, ResolveInput};
use crate::{Call, Memory, MemoryError};

/// Names that are less alike are different names.
const LEAST_LIKENESS: f64 = 0.88;
const MOST: usize = 5;
/// How many of the newest entities are compared with each other.
const COMPARED: i64 = 1000;
/// How many names of one group are compared with each other, those of the newest entities first. The time grows with the
/// square of this number.
const GROUP: usize = 200;
/// How many pairs of names are compared for one list. This takes a fraction of a second.
const COMPARISONS: usize = 200_000;

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

/// The pairs that were found.
#[derive(Debug, Clone, PartialEq)]
pub struct DuplicatePairs {
    pub page: Listed<DuplicatePair>,
    /// Whether some names were not compared, so that pairs may be missing.
    pub incomplete: bool,
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
    pub async fn duplicate_pairs(&self, call: &Call, page: Page) -> Result<DuplicatePairs, MemoryError> {
        let filter = EntityFilter { sort: EntitySort::Newest, ..EntityFilter::default() };
        let mut conn = self.db().reader(&call.tenant).await?;
        let listed =
            butler_store::browse::entities::list(&mut conn, &call.tenant, &filter, Page::first(COMPARED)).await?;
        drop(conn);
        let left_out = listed.total > COMPARED;
        // Comparing takes too long for a thread that serves other requests.
        let compared = tokio::task::spawn_blocking(move || alike(&listed.rows)).await;
        let (pairs, all_compared) = compared.map_err(|_| MemoryError::Panicked)?;
        let total = pairs.len() as i64;
        let (skipped, shown) = (page.offset.unsigned_abs() as usize, page.limit.unsigned_abs() as usize);
        let page = Listed { rows: pairs.into_iter().skip(skipped).take(shown).collect(), total };
        Ok(DuplicatePairs { page, incomplete: left_out || !all_compared })
    }

    /// Records that two entities are different, so that they are no longer listed as duplicates. With `apart` false, removes
    /// that record from whichever of the two has it.
    pub async fn keep_apart(
        &self,
        call: &Call,
        id: EntityId,
        other: EntityId,
        apart: bool,
    ) -> Result<EntityView, MemoryError> {
        let view = self.get_entity(call, other).await?.ok_or(MemoryError::NoEntity { id: other })?;
        let change = |from| Changes { kept_apart: Some(KeptApart { from, apart }), ..Changes::default() };
        let changed = self.change_entity(call, id, change(other)).await?;
        if !apart && kept_apart(&view.entity).contains(&id.to_string()) {
            self.change_entity(call, other, change(id)).await?;
        }
        Ok(changed)
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
        let ids: Vec<_> = duplicates.iter().map(|duplicate| duplicate.id.0).collect();
        if !ids.is_empty() {
            let mut conn = self.db().relaxed(&call.tenant).await?;
            let items = butler_store::browse::entities::by_ids(&mut conn, &call.tenant, &ids).await?;
            let other = |id: EntityId| items.iter().find(|item| item.entity.id == id);
            duplicates.retain(|duplicate| other(duplicate.id).is_none_or(|item| !are_apart(entity, &item.entity)));
            duplicates.truncate(MOST);
            for duplicate in &mut duplicates {
                duplicate.facts = other(duplicate.id).map_or(0, |item| item.facts);
            }
        }
        Ok(duplicates)
    }
}

/// The pairs of entities that may be the same, most alike first, and whether all names were compared. Only names that have
/// words with the same first letters are compared; other names are not alike.
fn alike(items: &[EntityItem]) -> (Vec<DuplicatePair>, bool) {
    let mut groups: BTreeMap<(&str, String), Vec<(usize, &str)>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        for name in names(&item.entity) {
            let starts = name.split_whitespace().map(|word| word.to_lowercase().chars().take(2).collect());
            for start in starts.collect::<BTreeSet<String>>() {
                groups.entry((item.entity.entity_type.as_str(), start)).or_default().push((index, name.as_str()));
            }
        }
    }
    let all_compared = groups.values().all(|group| group.len() <= GROUP);
    let mut candidates = groups.values().flat_map(|group| {
        let group = &group[..group.len().min(GROUP)];
        let numbered = group.iter().enumerate();
        let pairs = numbered.flat_map(move |(at, one)| group[at + 1..].iter().map(move |other| (one, other)));
        pairs.filter(|(one, other)| one.0 != other.0)
    });
    let mut found: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for ((one, name), (other, other_name)) in candidates.by_ref().take(COMPARISONS) {
        let similarity = likeness(name, other_name);
        if similarity >= LEAST_LIKENESS {
            let known = found.entry((*one, *other)).or_default();
            *known = f64::max(*known, similarity);
        }
    }
    let all_compared = all_compared && candidates.next().is_none();
    let pair = |((one, other), similarity): ((usize, usize), f64)| {
        let (one, other) = (&items[one], &items[other]);
        if are_apart(&one.entity, &other.entity) {
            return None;
        }
        // Of two with as many facts, the older one stays: `items` has the newest first.
        let (a, b) = if one.facts > other.facts { (one, other) } else { (other, one) };
        Some(DuplicatePair { a: a.into(), b: b.into(), similarity })
    };
    let mut pairs: Vec<DuplicatePair> = found.into_iter().filter_map(pair).collect();
    pairs.sort_by(DuplicatePair::order);
    (pairs, all_compared)
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

/// The similarity of two names: 1 if they differ only in case. If one name begins with the other, they are just similar
/// enough to be duplicates. Names with the same number of words are as similar as their least similar words, so people who
/// share only a first name are not duplicates.
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
