//! Facts about many people that surround the facts a set asks for.

use std::collections::{HashMap, HashSet};

use super::fill::{Item, Memories, Named};
use crate::facts::Dice;

/// Facts about one person, on average.
const FACTS_PER_PERSON: usize = 4;

const FIRST_NAMES: [&str; 40] = [
    "Anna", "Bernd", "Clara", "David", "Elena", "Farid", "Greta", "Hugo", "Irene", "Jakob", "Klara", "Lars", "Mona",
    "Nils", "Olga", "Paul", "Rita", "Sven", "Tanja", "Uwe", "Amira", "Bruno", "Chiara", "Deniz", "Emil", "Fiona",
    "Gustav", "Hanna", "Ivan", "Julia", "Karim", "Leonie", "Marek", "Nadia", "Oskar", "Petra", "Quentin", "Rosa",
    "Stefan", "Yusuf",
];
/// Surnames are made of a beginning and an end, which gives enough of them for 100,000 facts.
const SURNAME_BEGINNINGS: [&str; 30] = [
    "Ahorn", "Bach", "Berg", "Birken", "Blumen", "Buch", "Dorn", "Eichen", "Falken", "Feld", "Fichten", "Gold",
    "Hasel", "Heide", "Hirsch", "Kirch", "Linden", "Lerchen", "Mühl", "Nuss", "Rosen", "Sand", "Silber", "Sommer",
    "Stein", "Tannen", "Wald", "Weiden", "Winter", "Wolfs",
];
const SURNAME_ENDS: [&str; 25] = [
    "acker", "au", "bauer", "baum", "berger", "blatt", "brunn", "burg", "dorf", "egger", "furt", "garten", "hauer",
    "heim", "hofer", "holz", "huber", "kamp", "länder", "mann", "meier", "moser", "reiter", "thaler", "weg",
];
/// Predicate and content. The words in braces are replaced by one of their list.
const STATEMENTS: [(&str, &str); 24] = [
    ("employer", "works as a {job} at {place}"),
    ("diet", "cannot eat {food}"),
    ("birthday", "turns {number} on the {day} of {month}"),
    ("contract", "the contract with {place} was renewed for {number} years"),
    ("version", "runs version {day}.{number} on the laptop"),
    ("deadline", "must deliver the {thing} by the end of {month}"),
    ("possession", "owns a {thing} in {city}"),
    ("contact", "the contact at {place} is {person}"),
    ("hobby", "likes {hobby} and {food}"),
    ("trip", "travelled to {city} in {month}"),
    ("residence", "moved from {city} to {city} in {month}"),
    ("appointment", "meets {person} on the {day} of {month}"),
    ("health", "had an operation in {city} and cannot lift a {thing}"),
    ("family", "has {day} cousins in {city}"),
    ("pet", "keeps a dog that is afraid of the {thing}"),
    ("education", "studied {subject} in {city}"),
    ("language", "is learning a language for a trip to {city}"),
    ("plan", "wants to sell the {thing} before {month}"),
    ("loan", "lent the {thing} to {person}"),
    ("membership", "joined the club for {hobby} in {month}"),
    ("payment", "pays {number} euros a month for the {thing}"),
    ("opinion", "thinks that {subject} is harder than {hobby}"),
    ("meeting", "has a meeting about the {thing} with {person}"),
    ("habit", "goes {hobby} before work on the {day} of each month"),
];
const WORDS: [(&str, &[&str]); 8] = [
    ("job", &["nurse", "teacher", "driver", "cook", "baker", "lawyer", "clerk", "gardener", "plumber", "translator"]),
    (
        "place",
        &[
            "St. Mary hospital",
            "the city hall",
            "Baltic Freight",
            "Sonnen AG",
            "Delta Bank",
            "the harbour office",
            "the mill",
        ],
    ),
    ("food", &["nuts", "fish", "eggs", "milk", "soy", "celery", "strawberries", "bread", "cheese", "mushrooms"]),
    ("month", &["January", "March", "May", "July", "October", "December"]),
    ("city", &["Kiel", "Rostock", "Graz", "Basel", "Turin", "Lyon", "Porto", "Gdansk", "Bergen", "Ghent"]),
    (
        "thing",
        &[
            "report",
            "sailing boat",
            "garden house",
            "presentation",
            "old piano",
            "camper van",
            "red bicycle",
            "washing machine",
        ],
    ),
    ("hobby", &["swimming", "climbing", "chess", "painting", "running", "singing", "fishing", "dancing"]),
    ("subject", &["chemistry", "law", "history", "economics", "medicine", "music", "geography", "physics"]),
];

/// Adds `number` facts about made-up people. With `entities`, each fact is linked to the entity of its person.
pub fn add(memories: &mut Memories, number: usize, entities: bool) {
    let mut dice = Dice::new(3);
    let people: Vec<String> = (0..number.div_ceil(FACTS_PER_PERSON)).map(|_| person(&mut dice)).collect();
    let mut seen = HashSet::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    while seen.len() < number {
        let subject = people[dice.below(people.len())].clone();
        let (predicate, statement) = dice.pick(&STATEMENTS);
        let content = fill_in(statement, &people, &mut dice);
        if !seen.insert(format!("{subject} {content}")) {
            continue;
        }
        let entity = entities.then(|| {
            *known.entry(subject.clone()).or_insert_with(|| {
                memories.entities.push(Named {
                    name: subject.clone(),
                    entity_type: "person",
                    aliases: nickname(&subject),
                });
                memories.entities.len() - 1
            })
        });
        memories.items.push(Item::Fact { subject, predicate: predicate.to_owned(), content, entity, object: None });
    }
}

/// The names of this many different people.
pub fn people(number: usize, dice: &mut Dice) -> Vec<String> {
    let mut seen = HashSet::new();
    std::iter::repeat_with(|| person(dice)).filter(|name| seen.insert(name.clone())).take(number).collect()
}

fn person(dice: &mut Dice) -> String {
    let surname = format!("{}{}", dice.pick(&SURNAME_BEGINNINGS), dice.pick(&SURNAME_ENDS));
    format!("{} {surname}", dice.pick(&FIRST_NAMES))
}

/// Every third person has a nickname.
fn nickname(name: &str) -> Vec<String> {
    let short: String = name.chars().take(3).collect();
    if name.len().is_multiple_of(3) { vec![format!("{short}chen")] } else { Vec::new() }
}

fn fill_in(statement: &str, people: &[String], dice: &mut Dice) -> String {
    let mut text = statement.to_owned();
    for (name, words) in WORDS {
        let gap = format!("{{{name}}}");
        while text.contains(&gap) {
            text = text.replacen(&gap, dice.pick(words), 1);
        }
    }
    let (number, day) = ((2 + dice.below(94)).to_string(), (1 + dice.below(28)).to_string());
    text.replace("{number}", &number).replace("{day}", &day).replace("{person}", &people[dice.below(people.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_are_distinct_complete_and_the_same_every_time() {
        let texts = || {
            let mut memories = Memories::default();
            add(&mut memories, 500, true);
            memories.items.iter().map(Item::text).collect::<Vec<String>>()
        };
        let first = texts();
        assert_eq!((first.len(), first.iter().collect::<HashSet<_>>().len()), (500, 500));
        assert!(first.iter().all(|text| !text.contains('{')), "a gap was not filled");
        assert_eq!(first, texts());
    }
}
