//! The texts of the demo, loaded from `life.toml`.

use std::collections::BTreeMap;

use butler_domain::{EntityType, Permanence};
use butler_host::error::HostError;
use serde::Deserialize;

use super::rng::Rng;

const LIFE: &str = include_str!("life.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Life {
    #[serde(rename = "self")]
    pub person: String,
    pub queries: Vec<String>,
    slots: BTreeMap<String, Vec<String>>,
    pub known: Known,
    #[serde(rename = "entity")]
    pub entities: Vec<DemoEntity>,
    acquaintances: Names,
    #[serde(rename = "story")]
    pub stories: Vec<Story>,
    #[serde(rename = "talk")]
    pub talks: Vec<Talk>,
    #[serde(rename = "rule")]
    pub rules: Vec<DemoRule>,
}

/// What is known from the first day, each as subject, predicate and object or content.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    pub relations: Vec<[String; 3]>,
    /// Facts whose predicates hold several values.
    pub values: Vec<[String; 3]>,
    /// A life with moves and jobs: subject, predicate, content, since when and until when. Empty: unknown. `+60` is a plan, so
    /// many days from now.
    pub dated: Vec<[String; 5]>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DemoEntity {
    /// Selects the stories about this entity.
    pub kind: String,
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    pub name: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The entity that this duplicate is merged into later.
    #[serde(default)]
    pub merge_into: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    first: Vec<String>,
    last: Vec<String>,
}

/// A kind of fact about several subjects, with the values it takes over time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Story {
    /// The kinds of entities that the story is about.
    pub of: Vec<String>,
    /// The names of the only entities it is about; empty for all of these kinds.
    #[serde(default)]
    only: Vec<String>,
    pub predicate: String,
    pub permanence: Permanence,
    pub importance: f64,
    pub tags: Vec<String>,
    /// Whether the values come in order; otherwise the first value is random.
    #[serde(default)]
    pub ordered: bool,
    pub values: Vec<String>,
    pub episodes: Vec<String>,
}

impl Story {
    pub fn fits(&self, entity: &DemoEntity) -> bool {
        self.of.contains(&entity.kind) && (self.only.is_empty() || self.only.contains(&entity.name))
    }
}

/// Episodes from which no fact is learned.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Talk {
    pub butler: String,
    /// Whether consolidation fails on these episodes, so that they become dead letters.
    #[serde(default)]
    pub poison: bool,
    pub texts: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DemoRule {
    pub content: String,
    /// What happened that suggests the rule.
    pub episode: String,
    pub final_state: FinalState,
    #[serde(default)]
    pub scope: Option<String>,
    pub tags: Vec<String>,
    #[serde(default)]
    pub reasons: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinalState {
    Proven,
    Established,
    Candidate,
    /// Established at first, then marked harmful and demoted.
    Demoted,
    AntiPattern,
    Fading,
    Forgotten,
}

impl Life {
    pub fn load() -> Result<Self, HostError> {
        toml::from_str(LIFE).map_err(|error| HostError::Failed(format!("invalid demo texts: {error}")))
    }

    /// Generates further people with distinct names.
    pub fn acquaintances(&self, count: usize) -> impl Iterator<Item = DemoEntity> {
        let Names { first, last } = &self.acquaintances;
        (0..count.min(first.len() * last.len())).map(|at| {
            // 7 and the 20 last names are coprime, so no full name repeats, and neighbours differ in both names.
            let (given, round) = (at % first.len(), at / first.len());
            let name = format!("{} {}", first[given], last[(round * 7 + given * 3) % last.len()]);
            DemoEntity {
                kind: "acquaintance".to_owned(),
                entity_type: EntityType::Person,
                aliases: Vec::new(),
                name,
                merge_into: None,
            }
        })
    }

    /// Fills the slots of a template with the given words, or else with random words from the slot lists.
    pub fn fill(&self, template: &str, given: &[(&str, &str)], rng: &mut Rng) -> String {
        let mut text = String::with_capacity(template.len() + 32);
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let (slot, after) = after.split_once('}').unwrap_or((after, ""));
            let word = given.iter().find(|(name, _)| *name == slot).map(|(_, word)| *word);
            let word = word.or_else(|| self.slots.get(slot).and_then(|words| rng.pick(words)).map(String::as_str));
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
    fn every_slot_and_every_kind_in_the_demo_texts_exists() {
        let life = Life::load().unwrap();
        let mut kinds: BTreeSet<&str> = life.entities.iter().map(|entity| entity.kind.as_str()).collect();
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
        let known: BTreeSet<&str> = life.entities.iter().map(|entity| entity.name.as_str()).collect();
        for [subject, _, object] in &life.known.relations {
            let exists = |name: &str| name == life.person || known.contains(name);
            assert!(exists(subject) && exists(object), "{subject} and {object}");
        }
        let names: BTreeSet<String> = life.acquaintances(400).map(|entity| entity.name).collect();
        assert_eq!(names.len(), 400);
    }
}
