//! Aliases: facts about entities, asked for by names that are in none of the texts.

use super::Bench;
use super::fill::{Item, Memories, Named};
use super::filler;
use super::scores::{Scores, hit_at};

/// Facts in the store, with those that are asked for. The last size takes minutes to store.
const SIZES: [usize; 2] = [1000, 2500];
const LARGE: usize = 100_000;

struct Alias {
    name: &'static str,
    entity_type: &'static str,
    aliases: &'static [&'static str],
    fact: (&'static str, &'static str),
    question: &'static str,
}

const ALIASES: [Alias; 8] = [
    Alias {
        name: "Katharina Brenner",
        entity_type: "person",
        aliases: &["Kathi"],
        fact: ("employer", "works as a nurse at St. Anna hospital"),
        question: "Where does Kathi work?",
    },
    Alias {
        name: "Maximilian Stadler",
        entity_type: "person",
        aliases: &["Maxl", "Captain"],
        fact: ("boat", "owns a small wooden sailing boat in Kiel"),
        question: "What does the Captain own?",
    },
    Alias {
        name: "Project Heliotrope",
        entity_type: "other",
        aliases: &["PHX"],
        fact: ("deadline", "must be delivered by the end of March"),
        question: "When is PHX due?",
    },
    Alias {
        name: "International Business Machines",
        entity_type: "organization",
        aliases: &["IBM"],
        fact: ("contract", "the support contract was renewed for two years"),
        question: "What about the contract with IBM?",
    },
    Alias {
        name: "Guadalupe Hernández",
        entity_type: "person",
        aliases: &["Lupe"],
        fact: ("diet", "cannot eat gluten"),
        question: "What can Lupe not eat?",
    },
    Alias {
        name: "Nordhavn Logistics",
        entity_type: "organization",
        aliases: &["NHL"],
        fact: ("contact", "the account manager is Birgit Sommer"),
        question: "Who is the contact at NHL?",
    },
    Alias {
        name: "Grandmother Edeltraud",
        entity_type: "person",
        aliases: &["Oma"],
        fact: ("birthday", "turns ninety on the 9th of July"),
        question: "When is Oma's birthday?",
    },
    Alias {
        name: "Kubernetes cluster Falkenstein",
        entity_type: "other",
        aliases: &["k8s-fsn"],
        fact: ("version", "runs version 1.31 since last week"),
        question: "Which version does k8s-fsn run?",
    },
];

pub async fn run(bench: &mut Bench, large: bool) -> anyhow::Result<()> {
    for size in SIZES.into_iter().chain(large.then_some(LARGE)) {
        let stored = bench.fill("aliases", &memories(size)).await?;
        let mut scores = Scores::new(format!("aliases among {size} facts"));
        for (number, alias) in ALIASES.iter().enumerate().take(bench.limit_questions) {
            for (method, found) in bench.ask_facts(&stored, alias.question).await? {
                scores.add(&method, "hit@10", hit_at(&found, number, 10));
            }
        }
        scores.report_found(&mut bench.report, "hit@10", |method| matches!(method, "hybrid" | "fused" | "recall"));
    }
    Ok(())
}

fn memories(size: usize) -> Memories {
    let mut memories = Memories::default();
    for (number, alias) in ALIASES.iter().enumerate() {
        let aliases = alias.aliases.iter().map(|alias| (*alias).to_owned()).collect();
        memories.entities.push(Named { name: alias.name.to_owned(), entity_type: alias.entity_type, aliases });
        let mut fact = Item::fact(alias.name, alias.fact.0, alias.fact.1);
        if let Item::Fact { entity, .. } = &mut fact {
            *entity = Some(number);
        }
        memories.items.push(fact);
    }
    filler::add(&mut memories, size - ALIASES.len(), true);
    memories
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_contains_an_alias() {
        let memories = memories(1000);
        assert_eq!(memories.items.len(), 1000);
        for alias in ALIASES.iter().flat_map(|alias| alias.aliases) {
            let is_word = |text: &String| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == *alias);
            assert!(!memories.items.iter().map(Item::text).any(|text| is_word(&text)), "{alias}");
        }
    }
}
