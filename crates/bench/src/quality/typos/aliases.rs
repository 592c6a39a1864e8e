//! Misspelled aliases of entities, and aliases without their accents. The facts contain none of the words.

use super::edits::misspelled;
use super::{FILLER, SENTENCES, SPELLINGS, goal};
use crate::facts::Dice;
use crate::quality::fill::{Item, Memories, Named};
use crate::quality::scores::{Scores, hit_at};
use crate::quality::{Bench, filler};

/// Entity, alias, predicate and content of the fact, and the alias without accents if it has any.
type Alias = (&'static str, &'static str, &'static str, &'static str, Option<&'static str>);

const ALIASES: [Alias; 20] = [
    ("Katharina Brenner", "Kittykatz", "employer", "works the night shift on a ward", None),
    ("Maximilian Stadler", "Kapitanski", "possession", "has a small wooden vessel in Stralsund", None),
    ("Reinhold Achterberg", "Zauselbart", "pet", "feeds a tame crow", None),
    ("Edeltraud Wieland", "Omilein", "celebration", "turns ninety this year", None),
    ("Nordhavn Logistics", "Boxpilots", "contact", "is reached through the branch in Aarhus", None),
    ("Project Heliotrope", "Moonbadger", "deadline", "was postponed by the customer", None),
    ("Falkenstein cluster", "Grumbleboxes", "location", "stands in the cellar of the annex", None),
    ("Theodora Lindqvist", "Tedlinka", "instrument", "tunes harpsichords", None),
    ("Bartholomew Okafor", "Batomeo", "sport", "rows in an eight", None),
    ("Leonard Vasquez", "Lensparrow", "profession", "photographs weddings", None),
    ("Guadalupe Ortega", "Lupitín", "diet", "must avoid gluten", Some("Lupitin")),
    ("Gaspard Delacroix", "Jéjérôme", "studies", "writes a thesis on lichens", Some("Jejerome")),
    ("Solveig Haraldsen", "Sølvmåne", "journey", "sailed to the Azores", Some("Solvmane")),
    ("Begum Yildirim", "Gönülcüm", "craft", "weaves carpets", Some("Gonulcum")),
    ("Ignacio Ferreira", "Nachitoño", "garden", "grows figs against a wall", Some("Nachitono")),
    ("Tibor Kerekes", "Zolikám", "collection", "collects old radios", Some("Zolikam")),
    ("Anselme Lemaire", "Françounet", "fear", "does not like lifts", Some("Francounet")),
    ("Odile Marchand", "Hélénou", "transport", "commutes on a moped", Some("Helenou")),
    ("Bohumil Dvorak", "Járečku", "allowance", "receives a grant from the academy", Some("Jarecku")),
    ("Hakon Sigurdsson", "Rúnímús", "sleep", "gets up before dawn", Some("Runimus")),
];

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let stored = bench.fill("typos", &memories()).await?;
    let mut scores = Scores::new("typos in aliases");
    for (number, (_, alias, _, _, plain)) in ALIASES.iter().enumerate().take(bench.limit_questions) {
        let mut typed: Vec<(&str, String)> = Vec::new();
        for (form, errors) in [("one error", 1), ("two errors", 2)] {
            for spelling in 0..SPELLINGS {
                let mut dice = Dice::new(number as u64 * SPELLINGS + spelling);
                typed.push((form, misspelled(alias, errors, &mut dice)));
            }
        }
        typed.extend(plain.map(|plain| ("without accents", plain.to_owned())));
        for (form, name) in typed {
            let question = SENTENCES[number % SENTENCES.len()].replace("{w}", &name);
            for (method, found) in bench.ask_facts(&stored, &question).await? {
                scores.add(&method, &format!("hit@3, {form}"), hit_at(&found, number, 3));
            }
        }
    }
    scores.report(&mut bench.report, |method, _| goal(method));
    Ok(())
}

fn memories() -> Memories {
    let mut memories = Memories::default();
    for (number, (name, alias, predicate, content, _)) in ALIASES.iter().enumerate() {
        let aliases = vec![(*alias).to_owned()];
        memories.entities.push(Named { name: (*name).to_owned(), entity_type: "other", aliases });
        let mut fact = Item::fact(name, predicate, content);
        if let Item::Fact { entity, .. } = &mut fact {
            *entity = Some(number);
        }
        memories.items.push(fact);
    }
    filler::add(&mut memories, FILLER, true);
    memories
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_contains_an_alias_and_only_some_aliases_have_accents() {
        let texts: Vec<String> = memories().items.iter().map(|item| item.text().to_lowercase()).collect();
        assert_eq!(texts.len(), ALIASES.len() + FILLER);
        for (_, alias, _, _, plain) in ALIASES {
            assert!(alias.chars().count() >= 7, "{alias}");
            assert_eq!(plain.is_some(), !alias.is_ascii(), "{alias}");
            assert!(plain.is_none_or(|plain| plain.is_ascii() && plain.len() == alias.chars().count()), "{alias}");
            for word in [Some(alias), plain].into_iter().flatten() {
                assert!(!texts.iter().any(|text| text.contains(&word.to_lowercase())), "{word}");
            }
        }
    }
}
