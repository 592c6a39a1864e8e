//! Which entity a name means: tiers of match, what the conversation hints at, and the order of the candidates.
//! Also what two entities become when they turn out to be one.

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

/// The most that shared keywords can add: enough to decide within a tier, never to overtake the next.
pub const NEIGHBOURHOOD_BOOST: f64 = 20.0;
/// An entity may carry any number of facts; this many tell what it is about.
pub const NEIGHBOURHOOD_FACTS: usize = 500;
pub const FUZZY_THRESHOLD: f64 = 0.3;
/// Shorter names have too few trigrams to be compared.
pub const FUZZY_MIN_CHARS: usize = 3;
/// The metadata key that makes an entity a tombstone.
pub const MERGED_INTO: &str = "merged_into";

/// How a name was found; the order is that of the tiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NameMatch {
    Exact,
    Alias,
    Prefix,
    Fuzzy,
}

impl NameMatch {
    pub const fn base_score(self) -> f64 {
        match self {
            Self::Exact => 100.0,
            Self::Alias => 80.0,
            Self::Prefix => 50.0,
            Self::Fuzzy => 20.0,
        }
    }

    /// The tier of an entity for a name; fuzzy matches are the database's to find.
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

pub fn fuzzy_applies(name: &str, enable_fuzzy: bool) -> bool {
    enable_fuzzy && name.chars().count() >= FUZZY_MIN_CHARS
}

/// A name to be stored or looked up: one line, not empty, not a document. Composed (NFC), since keyboards and file systems
/// differ in how they write an é, and a name is the same either way.
pub fn entity_name(field: &str, raw: &str) -> Result<String, Invalid> {
    let composed: String = text::preprocess_search_query(raw).nfc().collect();
    validate::required_text(field, &composed, limits::ENTITY_NAME_BYTES)
}

/// What the caller knows about the conversation. Keys it does not know are ignored: they are hints.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hints {
    terms: HashSet<String>,
    domain_scores: HashMap<EntityId, f64>,
}

impl Hints {
    pub fn parse(value: &Value) -> Result<Self, Invalid> {
        let map = validate::object("context_hints", value)?;
        let mut terms = HashSet::new();
        if let Some(topic) = map.get("topic").filter(|v| !v.is_null()) {
            terms.extend(keywords(validate::string("context_hints.topic", topic)?));
        }
        for name in mentioned(map.get("mentioned_with").unwrap_or(&Value::Null))? {
            terms.extend(keywords(&name));
        }
        let scores = validate::object("context_hints.domain_scores", map.get("domain_scores").unwrap_or(&Value::Null))?;
        let score = |(id, score): (&String, &Value)| {
            let field = format!("context_hints.domain_scores[{id:?}]");
            let bound = 1e6; // far above every tier; keeps sums exact to the four places that are shown
            Ok((EntityId(validate::uuid(&field, id)?), validate::number(&field, score, -bound, bound)?))
        };
        Ok(Self { terms, domain_scores: scores.iter().map(score).collect::<Result<_, Invalid>>()? })
    }

    /// Whether facts of the candidates are worth fetching.
    pub fn needs_neighbourhood(&self) -> bool {
        !self.terms.is_empty()
    }

    /// The entities the caller has a score for.
    pub fn scored(&self) -> impl Iterator<Item = EntityId> {
        self.domain_scores.keys().copied()
    }

    pub fn domain_score(&self, id: EntityId) -> f64 {
        self.domain_scores.get(&id).copied().unwrap_or(0.0)
    }

    /// Jaccard overlap of the hints with the keywords of an entity's facts (predicate and content), times 20.
    pub fn neighbourhood_boost<S: AsRef<str>>(&self, fact_texts: impl IntoIterator<Item = S>) -> f64 {
        let known: HashSet<String> =
            fact_texts.into_iter().take(NEIGHBOURHOOD_FACTS).flat_map(|text| keywords(text.as_ref())).collect();
        NEIGHBOURHOOD_BOOST * jaccard(&self.terms, &known)
    }
}

fn mentioned(value: &Value) -> Result<Vec<String>, Invalid> {
    let field = "context_hints.mentioned_with";
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(one) => Ok(vec![one.clone()]),
        Value::Array(list) => list.iter().map(|v| validate::string(field, v).map(str::to_owned)).collect(),
        other => Err(Invalid::wrong_type(field, "a string or a list of strings", other)),
    }
}

/// Words that say nothing about what a text is about.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "in", "is", "it", "its", "of", "on",
    "or", "that", "the", "this", "to", "was", "were", "with",
];

/// Lower-case words; `works_at` is two.
pub fn keywords(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !STOP_WORDS.contains(&word.as_str()))
        .collect()
}

pub fn jaccard(a: &HashSet<String>, b: &HashSet<String>) -> f64 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Candidate {
    pub entity_id: EntityId,
    pub canonical_name: String,
    pub entity_type: EntityType,
    pub score: f64,
    pub name_match: NameMatch,
    pub aliases: Vec<String>,
}

/// The final list: an entity once, at its best tier; scores to four places; score DESC, canonical_name ASC, then id.
pub fn rank(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut best: HashMap<Uuid, Candidate> = HashMap::with_capacity(candidates.len());
    for candidate in candidates {
        match best.get(&candidate.entity_id.0) {
            Some(known) if known.name_match <= candidate.name_match => {}
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

/// What a merged entity is called, beside its canonical name, and which of it is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedAliases {
    pub aliases: Vec<String>,
    pub added: Vec<String>,
}

/// The target's aliases, then the source's, then the source's own name. The first spelling of a name stays.
pub fn merge_aliases(
    target_name: &str,
    target_aliases: &[String],
    source_name: &str,
    source_aliases: &[String],
) -> MergedAliases {
    let mut seen = HashSet::from([target_name.to_lowercase()]);
    let mut fresh = |alias: &&String| !alias.trim().is_empty() && seen.insert(alias.to_lowercase());
    let kept: Vec<String> = target_aliases.iter().filter(&mut fresh).cloned().collect();
    let source_name = source_name.to_owned();
    let added: Vec<String> = source_aliases.iter().chain([&source_name]).filter(&mut fresh).cloned().collect();
    MergedAliases { aliases: [kept, added.clone()].concat(), added }
}

/// The target wins where both know a key. A tombstone's mark is never inherited.
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
