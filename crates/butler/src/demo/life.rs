//! What the demo tells, as `life.toml` has it.

use std::collections::BTreeMap;

use butler_domain::{EntityType, Permanence};
use butler_host::error::HostError;
use serde::Deserialize;

use super::dice::Dice;

const LIFE: &str = include_str!("life.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Life {
    #[serde(rename = "self")]
    pub person: String,
    pub queries: Vec<String>,
    slots: BTreeMap<String, Vec<String>>,
    #[serde(rename = "entity")]
    pub entities: Vec<Being>,
    acquaintances: Names,
    #[serde(rename = "story")]
    pub stories: Vec<Story>,
    #[serde(rename = "talk")]
    pub talks: Vec<Talk>,
    #[serde(rename = "rule")]
    pub rules: Vec<Guidance>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Being {
    /// What stories can be told of it.
    pub kind: String,
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    pub name: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    /// A duplicate that somebody notices later.
    #[serde(default)]
    pub merge_into: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    first: Vec<String>,
    last: Vec<String>,
}

/// Something that is learned about many subjects, and changes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Story {
    pub of: Vec<String>,
    /// Of these alone; empty: of all of that kind.
    #[serde(default)]
    only: Vec<String>,
    pub predicate: String,
    pub permanence: Permanence,
    pub importance: f64,
    pub tags: Vec<String>,
    /// The values follow each other; otherwise they come in any order.
    #[serde(default)]
    pub ordered: bool,
    pub values: Vec<String>,
    pub episodes: Vec<String>,
}

impl Story {
    pub fn fits(&self, being: &Being) -> bool {
        self.of.contains(&being.kind) && (self.only.is_empty() || self.only.contains(&being.name))
    }
}

/// What happens without anything being learned.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Talk {
    pub butler: String,
    /// No attempt will make sense of it.
    #[serde(default)]
    pub poison: bool,
    pub texts: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guidance {
    pub content: String,
    pub fate: Fate,
    #[serde(default)]
    pub scope: Option<String>,
    pub tags: Vec<String>,
    #[serde(default)]
    pub reasons: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    Proven,
    Established,
    Candidate,
    /// Trusted for a while, then it harmed.
    Demoted,
    AntiPattern,
    Fading,
    Forgotten,
}

impl Life {
    pub fn load() -> Result<Self, HostError> {
        toml::from_str(LIFE).map_err(|error| HostError::Failed(format!("the demo's texts are damaged: {error}")))
    }

    /// Further people, each of another name.
    pub fn acquaintances(&self, count: usize) -> impl Iterator<Item = Being> {
        let Names { first, last } = &self.acquaintances;
        (0..count.min(first.len() * last.len())).map(|at| {
            // Seven and twenty have no divisor in common: no full name comes twice, and neighbours differ in both.
            let (given, round) = (at % first.len(), at / first.len());
            let name = format!("{} {}", first[given], last[(round * 7 + given * 3) % last.len()]);
            Being {
                kind: "acquaintance".to_owned(),
                entity_type: EntityType::Person,
                aliases: Vec::new(),
                name,
                merge_into: None,
            }
        })
    }

    /// The template with its slots filled: first those given, then words from the lists.
    pub fn fill(&self, template: &str, given: &[(&str, &str)], dice: &mut Dice) -> String {
        let mut text = String::with_capacity(template.len() + 32);
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let (slot, after) = after.split_once('}').unwrap_or((after, ""));
            let word = given.iter().find(|(name, _)| *name == slot).map(|(_, word)| *word);
            let word = word.or_else(|| self.slots.get(slot).and_then(|words| dice.pick(words)).map(String::as_str));
            text.push_str(word.unwrap_or(slot));
            rest = after;
        }
        text.push_str(rest);
        text
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_slot_and_every_kind_of_the_demos_texts_exists() {
        let life = Life::load().unwrap();
        let mut kinds: BTreeSet<&str> = life.entities.iter().map(|being| being.kind.as_str()).collect();
        kinds.extend(["self", "acquaintance"]);
        for story in &life.stories {
            assert!(story.of.iter().all(|kind| kinds.contains(kind.as_str())), "{}: {:?}", story.predicate, story.of);
        }
        let texts =
            life.stories.iter().flat_map(|story| &story.episodes).chain(life.talks.iter().flat_map(|t| &t.texts));
        for text in texts {
            for slot in text.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
                assert!(["who", "value"].contains(&slot) || life.slots.contains_key(slot), "{slot} in {text}");
            }
        }
        let names: BTreeSet<String> = life.acquaintances(400).map(|being| being.name).collect();
        assert_eq!(names.len(), 400);
    }
}
