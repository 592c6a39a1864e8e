//! Builds the context block that a session starts with: sections, line formats and order. `packing` decides which lines
//! fit into the budget.

mod packing;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::ids::{EpisodeId, FactId, RuleId};
use crate::kinds::Maturity;
use crate::scoring::by_score;
use crate::text::flatten_line;
use packing::{Line, Section, pack};

/// The first line of every context block.
pub const HEADER: &str = "# Memory Context\n";
const TITLES: [&str; 3] = ["\n## Key Facts\n", "\n## Active Rules\n", "\n## Recent Episodes\n"];
/// The specification's approximation of a token. The block also respects the tokenizer's own count.
pub const CHARS_PER_TOKEN: usize = 4;

/// Counts tokens deterministically. The model's own tokenizer is unknown, so a bundled one stands in for it.
pub trait TokenCounter {
    /// The number of tokens in `text`.
    fn count(&self, text: &str) -> usize;
}

/// A fact that may become a line of the context block.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextFact<'a> {
    pub id: FactId,
    /// Composite score; higher comes first.
    pub score: f64,
    pub created_at: Timestamp,
    pub subject: &'a str,
    pub predicate: &'a str,
    pub content: &'a str,
    /// Since when or until when it is true: "since 2023". `None`: nobody said.
    pub validity: Option<String>,
    /// Confidence after decay, 0 to 1; printed in the line.
    pub effective_confidence: f64,
}

/// A rule that may become a line of the context block. Rules are ordered by maturity first, then by score.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextRule<'a> {
    pub id: RuleId,
    pub score: f64,
    pub created_at: Timestamp,
    pub content: &'a str,
    pub maturity: Maturity,
    pub effectiveness: f64,
}

/// An episode that may become a line of the context block.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextEpisode<'a> {
    pub id: EpisodeId,
    pub created_at: Timestamp,
    pub content: &'a str,
}

/// The candidates for a context block: facts and rules in any order, the most important episodes first. The block shows
/// the episodes in the order of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextInput<'a> {
    /// Pairs of facts that contradict each other. If a block shows both, each line says so.
    pub conflicts: Vec<(Uuid, Uuid)>,
    pub facts: Vec<ContextFact<'a>>,
    pub rules: Vec<ContextRule<'a>>,
    pub episodes: Vec<ContextEpisode<'a>>,
    /// What to end the line of a memory with, by its id: the reference `a3f9` as ` [a3f9]`.
    pub references: HashMap<Uuid, String>,
}

/// Each section's share of the token budget, 0 to 1. Budget that a section leaves unused passes to the next one. Budget
/// left at the end goes to memories that did not fit before, in the order of the sections. A share of 0 omits the
/// section.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContextQuotas {
    pub facts: f64,
    pub rules: f64,
    pub episodes: f64,
}

impl Default for ContextQuotas {
    fn default() -> Self {
        Self { facts: 0.5, rules: 0.3, episodes: 0.2 }
    }
}

/// The rendered block and the ids of the memories in it, whose reference counts the caller raises.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextBlock {
    pub text: String,
    /// Tokens of `text` as the [`TokenCounter`] counts them.
    pub tokens: usize,
    pub facts: Vec<FactId>,
    pub rules: Vec<RuleId>,
    pub episodes: Vec<EpisodeId>,
}

/// Assembles the context block within `token_budget` tokens and four times as many characters, headers included. If not
/// even the header fits, the text is empty.
pub fn assemble(
    input: &ContextInput<'_>,
    token_budget: usize,
    quotas: &ContextQuotas,
    counter: &dyn TokenCounter,
) -> ContextBlock {
    let sections = [
        Section::new(TITLES[0], quotas.facts, fact_lines(input)),
        Section::new(TITLES[1], quotas.rules, rule_lines(input)),
        Section::new(TITLES[2], quotas.episodes, episode_lines(input)),
    ];
    let packed = pack(HEADER, sections, token_budget, counter);
    let [facts, rules, episodes] = packed.ids;
    ContextBlock {
        text: packed.text,
        tokens: packed.tokens,
        facts: facts.into_iter().map(FactId).collect(),
        rules: rules.into_iter().map(RuleId).collect(),
        episodes: episodes.into_iter().map(EpisodeId).collect(),
    }
}

/// What a line of a fact ends with that contradicts another one in the block.
pub const CONFLICTING: &str = " (conflicting)";

/// A line, with the reference of its memory if it has one.
fn line(id: Uuid, text: &str, references: &HashMap<Uuid, String>) -> Line {
    match references.get(&id) {
        Some(reference) => Line::new(id, format!("{text} [{reference}]\n")),
        None => Line::new(id, format!("{text}\n")),
    }
}

fn fact_lines(input: &ContextInput<'_>) -> Vec<Line> {
    let has = |id: Uuid| input.facts.iter().any(|fact| fact.id.0 == id);
    let conflicting: Vec<Uuid> =
        input.conflicts.iter().filter(|(a, b)| has(*a) && has(*b)).flat_map(|(a, b)| [*a, *b]).collect();
    let mut facts: Vec<_> = input.facts.iter().collect();
    facts.sort_by(|a, b| by_score((a.score, a.created_at, a.id.0), (b.score, b.created_at, b.id.0)));
    let shown = |f: &ContextFact<'_>| {
        let (subject, predicate, content) =
            (flatten_line(f.subject), flatten_line(f.predicate), flatten_line(f.content));
        let validity = f.validity.as_ref().map(|validity| format!("{validity}, ")).unwrap_or_default();
        let mark = if conflicting.contains(&f.id.0) { CONFLICTING } else { "" };
        let confidence = f.effective_confidence;
        let text = format!("- [{subject}] [{predicate}]: {content} ({validity}confidence: {confidence:.2}){mark}");
        line(f.id.0, &text, &input.references)
    };
    facts.into_iter().map(shown).collect()
}

fn rule_lines(input: &ContextInput<'_>) -> Vec<Line> {
    let mut rules: Vec<_> = input.rules.iter().collect();
    rules.sort_by(|a, b| {
        let key = |r: &ContextRule<'_>| (r.score, r.created_at, r.id.0);
        a.maturity.trust_rank().cmp(&b.maturity.trust_rank()).then_with(|| by_score(key(a), key(b)))
    });
    let shown = |r: &ContextRule<'_>| {
        let (content, maturity) = (flatten_line(r.content), r.maturity);
        let text = format!("- {content} (maturity: {maturity}, effectiveness: {:.2})", r.effectiveness);
        line(r.id.0, &text, &input.references)
    };
    rules.into_iter().map(shown).collect()
}

fn episode_lines(input: &ContextInput<'_>) -> Vec<Line> {
    let shown = |e: &ContextEpisode<'_>| {
        let text = format!("- [{}] {}", e.created_at.date_naive(), flatten_line(e.content));
        line(e.id.0, &text, &input.references).shown_at(e.created_at)
    };
    input.episodes.iter().map(shown).collect()
}

/// The result of `packing`.
struct Packed {
    text: String,
    tokens: usize,
    /// The ids of the included lines, one list per section.
    ids: [Vec<Uuid>; 3],
}
