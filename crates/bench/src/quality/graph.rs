//! Relations: questions whose answer is a fact about somebody or something that the question does not name.
//!
//! The graph is generated, so what each question must find is known: families (sisters, brothers, marriages, parents) and
//! projects (who works on them, who leads them, which company runs them, where it is). Relations are stored in either
//! direction, and other facts about the same people and things surround them.

use super::ask::LIMIT;
use super::fill::{Item, Memories, Named};
use super::scores::{Scores, hit_at};
use super::{Bench, ask, filler};
use butler_memory::HOPS;

use crate::facts::Dice;

const FAMILIES: usize = 40;
const PROJECTS: usize = 24;
const GOAL: f64 = 0.95;

const WOMEN: [&str; 10] = ["Ada", "Cecilia", "Edda", "Gloria", "Ilse", "Kaja", "Maren", "Orla", "Ronja", "Thea"];
const MEN: [&str; 10] = ["Boris", "Dario", "Felix", "Henrik", "Jonas", "Lorenz", "Noah", "Pavel", "Silvio", "Viktor"];
const CITIES: [&str; 8] = ["Tromsø", "Malmö", "Antwerp", "Seville", "Krakow", "Zagreb", "Dublin", "Tallinn"];
const JOBS: [&str; 8] =
    ["Orion Foods", "Kestrel Air", "Lumen Press", "Vega Motors", "Tidal Bank", "Alder Labs", "Nova Toys", "Pike Mills"];
const PROJECT_NAMES: [&str; 8] = ["Marigold", "Tundra", "Sextant", "Bluebell", "Cascade", "Ember", "Falcon", "Granite"];
const TOPICS: [&str; 4] = ["billing", "search", "logistics", "payroll"];

/// A question and the position of the fact that answers it.
struct Question {
    text: String,
    answer: usize,
    /// Relations between what the question names and the answer.
    hops: usize,
}

struct Graph {
    memories: Memories,
    questions: Vec<Question>,
}

impl Graph {
    fn entity(&mut self, name: String, entity_type: &'static str) -> usize {
        self.memories.entities.push(Named { name, entity_type, aliases: Vec::new() });
        self.memories.entities.len() - 1
    }

    /// Stores a relation; returns its position.
    fn relate(&mut self, subject: usize, predicate: &str, object: usize) -> usize {
        let name = |entity: usize| self.memories.entities[entity].name.clone();
        let item = Item::Fact {
            subject: name(subject),
            predicate: predicate.to_owned(),
            content: name(object),
            entity: Some(subject),
            object: Some(object),
        };
        self.memories.items.push(item);
        self.memories.items.len() - 1
    }

    fn state(&mut self, subject: usize, predicate: &str, content: &str) {
        let name = self.memories.entities[subject].name.clone();
        self.memories.items.push(Item::Fact {
            subject: name,
            predicate: predicate.to_owned(),
            content: content.to_owned(),
            entity: Some(subject),
            object: None,
        });
    }

    fn ask(&mut self, text: String, answer: usize, hops: usize) {
        self.questions.push(Question { text, answer, hops });
    }

    fn name(&self, entity: usize) -> &str {
        &self.memories.entities[entity].name
    }
}

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let Graph { memories, questions } = graph();
    let stored = bench.fill("graph", &memories).await?;
    let mut scores = ["relations, none needed", "relations, one hop", "relations, two hops"].map(Scores::new);
    for question in questions.iter().take(bench.limit_questions) {
        let scores = &mut scores[question.hops];
        for hops in 0..=question.hops.max(HOPS) {
            let found = ask::recall_hops(&bench.world.memory, &stored, &question.text, LIMIT, hops).await?;
            for depth in [1, 3, 5] {
                let hit = hit_at(&found, question.answer, depth);
                scores.add(&format!("recall, hops {hops}"), &format!("hit@{depth}"), hit);
            }
        }
    }
    let [none, one, two] = scores;
    // following relations must not hide what is known about the entity itself
    none.report(&mut bench.report, |_, _| None);
    none.report_difference(&mut bench.report, "recall, hops 1", "recall, hops 0", "hit@1", 0.0);
    one.report(&mut bench.report, |method, depth| (method == "recall, hops 1" && depth == "hit@5").then_some(GOAL));
    two.report(&mut bench.report, |_, _| None);
    Ok(())
}

fn graph() -> Graph {
    let mut graph = Graph { memories: Memories::default(), questions: Vec::new() };
    let mut dice = Dice::new(11);
    let cities: Vec<usize> = CITIES.iter().map(|city| graph.entity((*city).to_owned(), "place")).collect();
    let companies: Vec<(usize, usize)> = JOBS
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let company = graph.entity((*name).to_owned(), "organization");
            (company, graph.relate(company, "located_in", cities[number]))
        })
        .collect();
    let mut people = Vec::new();
    for number in 0..FAMILIES {
        people.extend(family(&mut graph, &mut dice, number, &companies));
    }
    for number in 0..PROJECTS {
        project(&mut graph, &mut dice, number, &people, &companies);
    }
    for (number, person) in people.into_iter().enumerate() {
        graph.state(
            person,
            "hobby",
            dice.pick(&["plays chess", "sings in a choir", "collects stamps", "goes climbing"]),
        );
        if number.is_multiple_of(4) {
            let hobby = graph.memories.items.len() - 1;
            graph.ask(format!("What does {} do as a hobby?", graph.name(person)), hobby, 0);
            graph.ask(format!("What must {} not eat?", graph.name(person)), hobby + 1, 0);
        }
        graph.state(person, "diet", dice.pick(&["eats no meat", "cannot eat nuts", "avoids milk"]));
        graph.state(person, "phone", &format!("uses a phone that is {} years old", 1 + dice.below(6)));
    }
    filler::add(&mut graph.memories, 1500, true);
    graph
}

/// Two sisters and a brother, their parents, and whom the sisters married. Returns the people.
fn family(graph: &mut Graph, dice: &mut Dice, number: usize, companies: &[(usize, usize)]) -> Vec<usize> {
    let (mut women, mut men) = (WOMEN, MEN);
    dice.shuffle(&mut women);
    dice.shuffle(&mut men);
    let surname = format!("{}quist", ["Lind", "Berg", "Holm", "Sand", "Dahl", "Frost", "Stern", "Wester"][number % 8]);
    let person = |graph: &mut Graph, first: &str| {
        graph.entity(format!("{first} {surname}-{}", ["Alm", "Bo", "Ek", "Fors", "Gran"][number / 8]), "person")
    };
    let [anna, beth, mother, wife] = [0, 1, 2, 3].map(|first| person(graph, women[first]));
    let [carl, father, husband] = [0, 1, 2].map(|first| person(graph, men[first]));
    // each relation in one of its two directions
    let relate = |graph: &mut Graph, dice: &mut Dice, a: usize, there: &str, b: usize, back: &str| {
        if dice.below(2) == 0 { graph.relate(a, there, b) } else { graph.relate(b, back, a) }
    };
    graph.relate(anna, "has_sister", beth);
    graph.relate(anna, "has_brother", carl);
    graph.relate(carl, "has_sister", anna);
    relate(graph, dice, anna, "child_of", mother, "has_child");
    relate(graph, dice, mother, "married_to", father, "married_to");
    let beth_married = relate(graph, dice, beth, "married_to", husband, "married_to");
    relate(graph, dice, carl, "married_to", wife, "married_to");
    let mut job = |graph: &mut Graph, person: usize| {
        let (company, located) = companies[dice.below(companies.len())];
        (graph.relate(person, "works_at", company), located)
    };
    let (carl_works, carl_located) = job(graph, carl);
    let (mother_works, _) = job(graph, mother);
    let (husband_works, _) = job(graph, husband);
    job(graph, anna);
    let name = graph.name(anna).to_owned();
    let sister = if number.is_multiple_of(2) {
        format!("Who is {name}'s sister married to?")
    } else {
        format!("What is the name of the husband of {name}'s sister?")
    };
    graph.ask(sister, beth_married, 1);
    let brother = if number.is_multiple_of(2) {
        format!("Where does {name}'s brother work?")
    } else {
        format!("Which company employs the brother of {name}?")
    };
    graph.ask(brother, carl_works, 1);
    graph.ask(format!("Where does the mother of {name} work?"), mother_works, 1);
    graph.ask(format!("In which city is the company where {} works?", graph.name(carl)), carl_located, 1);
    graph.ask(format!("Where does the husband of {name}'s sister work?"), husband_works, 2);
    vec![anna, beth, carl, mother, father, husband, wife]
}

/// A project that somebody works on and somebody else leads.
fn project(graph: &mut Graph, dice: &mut Dice, number: usize, people: &[usize], companies: &[(usize, usize)]) {
    let name = format!("Project {}-{}", PROJECT_NAMES[number % 8], number / 8 + 1);
    let project = graph.entity(name.clone(), "other");
    // nobody works on two projects
    let [worker, leader] = [people[2 * number], people[people.len() - 1 - 2 * number]];
    let company = dice.pick(companies);
    graph.relate(worker, "works_on", project);
    let led = graph.relate(project, "led_by", leader);
    let run_by = graph.relate(project, "run_by", company.0);
    graph.state(project, "purpose", &format!("replaces the old {} system", TOPICS[number % 4]));
    graph.state(project, "budget", &format!("has a budget of {} thousand euros", 20 + dice.below(80)));
    graph.ask(format!("Who leads the project that {} works on?", graph.name(worker)), led, 1);
    graph.ask(format!("Which company runs the project of {}?", graph.name(worker)), run_by, 1);
    graph.ask(format!("In which city is the company that runs {name}?"), company.1, 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_the_entity_of_its_answer_only_if_no_relation_is_needed() {
        let graph = graph();
        assert!(graph.questions.len() >= 200, "{}", graph.questions.len());
        for question in &graph.questions {
            let Item::Fact { entity: Some(entity), .. } = &graph.memories.items[question.answer] else {
                panic!("an answer without an entity");
            };
            assert_eq!(question.text.contains(graph.name(*entity)), question.hops == 0, "{}", question.text);
        }
    }
}
