//! Entity resolution: match tiers, context hints and the order of the candidates. Also the names and metadata of an
//! entity after a merge.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;
use uuid::Uuid;

use crate::ids::EntityId;
use crate::kinds::EntityType;
use crate::limits;
use crate::text;
use crate::validate::{self, Invalid};

/// The maximum bonus for keywords shared with the hints: it can decide within a tier but never reaches the next tier.
pub const NEIGHBOURHOOD_BOOST: f64 = 20.0;
/// The number of an entity's facts that are compared with the hints; an entity may have any number of them.
pub const NEIGHBOURHOOD_FACTS: usize = 500;
/// The minimum trigram similarity of a fuzzy match, 0 to 1.
pub const FUZZY_THRESHOLD: f64 = 0.3;
/// Shorter names have too few trigrams for a fuzzy match.
pub const FUZZY_MIN_CHARS: usize = 3;
/// The metadata key of a tombstone: the id of the entity that this one was merged into.
pub const MERGED_INTO: &str = "merged_into";
/// The metadata key of a forgotten entity: when it was forgotten.
pub const FORGOTTEN_AT: &str = "forgotten_at";

/// The metadata key with the ids of entities that a person said are different ones.
pub const KEPT_APART: &str = "kept_apart";

/// The tier in which a name matched an entity, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NameMatch {
    Exact,
    Alias,
    Prefix,
    Fuzzy,
}

impl NameMatch {
    /// The score of the tier. Neighbourhood and domain scores are added to it.
    pub const fn base_score(self) -> f64 {
        match self {
            Self::Exact => 100.0,
            Self::Alias => 80.0,
            Self::Prefix => 50.0,
            Self::Fuzzy => 20.0,
        }
    }

    /// The tier in which `name` matches an entity. It never returns `Fuzzy`, which only the database can determine.
    pub fn of<S: AsRef<str>>(name: &str, canonical_name: &str, aliases: &[S]) -> Option<Self> {
        let name = name.to_lowercase();
        let canonical = canonical_name.to_lowercase();
        let mut aliases = aliases.iter().map(|alias| alias.as_ref().to_lowercase());
        if canonical == name {
            Some(Self::Exact)
        } else if aliases.clone().any(|alias| alias == name) {
            Some(Self::Alias)
        } else if canonical.contains(&name) || aliases.any(|alias| alias.contains(&name)) {
            Some(Self::Prefix)
        } else {
            None
        }
    }
}

/// Whether fuzzy matching is enabled and the name is long enough for it.
pub fn fuzzy_applies(name: &str, enable_fuzzy: bool) -> bool {
    enable_fuzzy && name.chars().count() >= FUZZY_MIN_CHARS
}

/// Validates a name and normalises it for storing or looking up: one line, not empty, within the length limit. Unicode
/// is composed (NFC), because keyboards and file systems encode an é differently.
pub fn entity_name(field: &str, raw: &str) -> Result<String, Invalid> {
    let composed: String = text::single_spaced(&text::without_control(&text::strip_nul(raw))).nfc().collect();
    validate::required_text(field, &composed, limits::ENTITY_NAME_BYTES)
}

/// What the caller knows about the conversation, from the argument `context_hints`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hints {
    terms: HashSet<String>,
    domain_scores: HashMap<EntityId, f64>,
}

impl Hints {
    /// Reads `topic`, `mentioned_with` and `domain_scores`, and ignores unknown keys.
    pub fn parse(value: &Value) -> Result<Self, Invalid> {
        let map = validate::object("context_hints", value)?;
        let mut terms = HashSet::new();
        if let Some(topic) = map.get("topic").filter(|v| !v.is_null()) {
            terms.extend(keywords(validate::string("context_hints.topic", topic)?));
        }
        for name in mentioned_names(map.get("mentioned_with").unwrap_or(&Value::Null))? {
            terms.extend(keywords(&name));
        }
        let scores = validate::object("context_hints.domain_scores", map.get("domain_scores").unwrap_or(&Value::Null))?;
        let score = |(id, score): (&String, &Value)| {
            let field = format!("context_hints.domain_scores[{id:?}]");
            // Far above every tier, and small enough to keep sums exact to the four decimal places of a result.
            let bound = 1e6;
            Ok((EntityId(validate::uuid(&field, id)?), validate::number(&field, score, -bound, bound)?))
        };
        Ok(Self { terms, domain_scores: scores.iter().map(score).collect::<Result<_, Invalid>>()? })
    }

    /// Whether the facts of the candidates influence the result and must be fetched.
    pub fn needs_neighbourhood(&self) -> bool {
        !self.terms.is_empty()
    }

    /// The entities that have a domain score.
    pub fn scored_entities(&self) -> impl Iterator<Item = EntityId> {
        self.domain_scores.keys().copied()
    }

    /// The score the caller gave for an entity, else 0.
    pub fn domain_score(&self, id: EntityId) -> f64 {
        self.domain_scores.get(&id).copied().unwrap_or(0.0)
    }

    /// Jaccard similarity of the hints and the keywords of an entity's facts (predicate and content), times 20.
    pub fn neighbourhood_boost<S: AsRef<str>>(&self, fact_texts: impl IntoIterator<Item = S>) -> f64 {
        let known: HashSet<String> =
            fact_texts.into_iter().take(NEIGHBOURHOOD_FACTS).flat_map(|text| keywords(text.as_ref())).collect();
        NEIGHBOURHOOD_BOOST * jaccard(&self.terms, &known)
    }
}

fn mentioned_names(value: &Value) -> Result<Vec<String>, Invalid> {
    let field = "context_hints.mentioned_with";
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(one) => Ok(vec![one.clone()]),
        Value::Array(list) => list.iter().map(|v| validate::string(field, v).map(str::to_owned)).collect(),
        other => Err(Invalid::wrong_type(field, "a string or a list of strings", other)),
    }
}

/// Words that say nothing about the topic of a text.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "in", "is", "it", "its", "of", "on",
    "or", "that", "the", "this", "to", "was", "were", "with",
];

/// The distinct words of a text in lower case, without stop words. `works_at` counts as two words.
pub fn keywords(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !STOP_WORDS.contains(&word.as_str()))
        .collect()
}

/// The size of the intersection divided by the size of the union; 0 if both sets are empty.
pub fn jaccard(a: &HashSet<String>, b: &HashSet<String>) -> f64 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

/// An entity that a name may refer to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Candidate {
    pub entity_id: EntityId,
    pub canonical_name: String,
    pub entity_type: EntityType,
    pub score: f64,
    pub name_match: NameMatch,
    pub aliases: Vec<String>,
}

/// Sorts the candidates by score (descending), canonical name and id. Each entity appears once, with its best tier, and
/// scores are rounded to four decimal places.
pub fn rank(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut best: HashMap<Uuid, Candidate> = HashMap::with_capacity(candidates.len());
    for candidate in candidates {
        match best.get(&candidate.entity_id.0) {
            Some(current) if current.name_match <= candidate.name_match => {}
            _ => drop(best.insert(candidate.entity_id.0, candidate)),
        }
    }
    let mut ranked: Vec<_> = best.into_values().map(|c| Candidate { score: round4(c.score), ..c }).collect();
    ranked.sort_by(order);
    ranked
}

fn order(a: &Candidate, b: &Candidate) -> Ordering {
    b.score
        .total_cmp(&a.score)
        .then_with(|| a.canonical_name.cmp(&b.canonical_name))
        .then_with(|| a.entity_id.cmp(&b.entity_id))
}

fn round4(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}

/// The aliases of an entity after a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedAliases {
    /// All aliases.
    pub aliases: Vec<String>,
    /// The aliases that the target did not have before.
    pub added: Vec<String>,
}

/// Joins the target's aliases, the source's aliases and the source's name. Of names that differ only in case, the first
/// is kept.
pub fn merge_aliases(
    target_name: &str,
    target_aliases: &[String],
    source_name: &str,
    source_aliases: &[String],
) -> MergedAliases {
    let mut seen = HashSet::from([target_name.to_lowercase()]);
    let mut is_new = |alias: &&String| !alias.trim().is_empty() && seen.insert(alias.to_lowercase());
    let kept: Vec<String> = target_aliases.iter().filter(&mut is_new).cloned().collect();
    let source_name = source_name.to_owned();
    let added: Vec<String> = source_aliases.iter().chain([&source_name]).filter(&mut is_new).cloned().collect();
    MergedAliases { aliases: [kept, added.clone()].concat(), added }
}

/// Joins the metadata of both entities. The target's value wins, and the tombstone key is never copied.
pub fn merge_metadata(target: &Map<String, Value>, source: &Map<String, Value>) -> Map<String, Value> {
    let mut merged = target.clone();
    for (key, value) in source {
        if key != MERGED_INTO && !merged.contains_key(key) {
            merged.insert(key.clone(), value.clone());
        }
    }
    merged
}

#[cfg(test)]
mod tests;
