//! Two hundred lives with known truth: homes, jobs and partners that change, told late, ahead of time, contradicted and
//! taken back. Every answer about what was true, and what was believed, is exact.
//!
//! The expected answers come from a rule that is simpler than the program's, because each key is told in one way: with
//! starts only, or without dates.

use std::collections::BTreeMap;

use butler_domain::Timestamp;
use butler_testkit::MemoryFixture;
use chrono::TimeDelta;
use futures::stream::{self, StreamExt as _};
use serde_json::{Value, json};

const PEOPLE: usize = 200;
const PREDICATES: [&str; 3] = ["lives_in", "works_at", "married_to"];
/// Something is told about each key in each round; a round is a year.
const ROUNDS: usize = 5;

/// A small generator, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

#[derive(Debug, Clone)]
struct Told {
    value: String,
    /// `None`: without a date.
    from: Option<Timestamp>,
    at: Timestamp,
    forgotten: Option<Timestamp>,
}

type Lives = BTreeMap<(usize, usize), Vec<Told>>;

fn year(number: usize) -> Timestamp {
    format!("{number:04}-01-01T00:00:00Z").parse().unwrap()
}

/// What was true at `valid`, as believed at `belief`: of all that was told by then, the latest start counts.
fn expected(told: &[Told], valid: Timestamp, belief: Timestamp) -> Option<String> {
    let first = told.iter().map(|one| one.at).min()?;
    let start = |one: &Told| one.from.or((one.at > first).then_some(one.at));
    let mut known: Vec<&Told> = told.iter().filter(|one| one.at <= belief).collect();
    // A plan that was taken back before its time never counts.
    known.retain(|one| {
        let taken_back = one.forgotten.filter(|at| *at <= belief);
        taken_back.is_none_or(|at| start(one).is_none_or(|start| start < at))
    });
    let holds = known.into_iter().filter(|one| start(one).is_none_or(|start| start <= valid));
    let latest = holds.max_by_key(|one| (start(one), one.at))?;
    latest.forgotten.is_none_or(|at| at > belief).then(|| latest.value.clone())
}

/// What is told about a key in a round.
fn next(dice: &mut Dice, dated: bool, round: usize, before: &[Told]) -> Told {
    let at = year(2031 + round);
    let value = format!("value{round}x{}", dice.roll(1000));
    let from = dated.then(|| match dice.roll(4) {
        // a contradiction: another value for the same start
        0 if !before.is_empty() => before[dice.roll(before.len())].from.unwrap(),
        // a plan
        1 => year(2031 + round) + TimeDelta::days(100 + i64::try_from(dice.roll(700)).unwrap()),
        // told late
        _ => year(2000) + TimeDelta::days(i64::try_from(dice.roll(11_000)).unwrap()),
    });
    Told { value, from, at, forgotten: None }
}

async fn tell(memory: &MemoryFixture, (person, predicate): (usize, usize), told: &Told) -> Value {
    let mut fact =
        json!({"subject": format!("person{person}"), "predicate": PREDICATES[predicate], "content": told.value});
    if let Some(from) = told.from {
        fact["valid_from"] = json!(from);
    }
    memory.call("memory_store_fact", fact).await.unwrap()["id"].clone()
}

#[tokio::test]
async fn every_answer_about_two_hundred_lives_is_exact() {
    let memory = MemoryFixture::new().await;
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let keys: Vec<(usize, usize)> =
        (0..PEOPLE).flat_map(|person| (0..PREDICATES.len()).map(move |it| (person, it))).collect();
    let mut lives = Lives::new();
    let mut ids: BTreeMap<(usize, usize), Vec<Value>> = BTreeMap::new();
    for round in 0..ROUNDS {
        memory.clock.set(year(2031 + round));
        for key in &keys {
            let told = lives.entry(*key).or_default();
            let new = next(&mut dice, key.0 % 3 != 0, round, told);
            told.push(new);
        }
        let memory = &memory;
        let stored: Vec<((usize, usize), Value)> = stream::iter(keys.iter().map(|key| {
            let told = &lives[key][round];
            async move { (*key, tell(memory, *key, told).await) }
        }))
        .buffered(4)
        .collect()
        .await;
        for (key, id) in stored {
            ids.entry(key).or_default().push(id);
        }
        // Half a year later some of it is taken back.
        memory.clock.set(year(2031 + round) + TimeDelta::days(180));
        for key in &keys {
            if dice.roll(10) > 0 {
                continue;
            }
            let told = lives.get_mut(key).unwrap();
            let at = dice.roll(told.len());
            if told[at].forgotten.is_none() {
                told[at].forgotten = Some(year(2031 + round) + TimeDelta::days(180));
                let arguments = json!({"memory_type": "fact", "memory_id": ids[key][at]});
                memory.call("memory_forget", arguments).await.unwrap();
            }
        }
    }
    let now = year(2031 + ROUNDS);
    memory.clock.set(now);

    let mut questions = Vec::new();
    for key in &keys {
        for kind in 0..4 {
            let valid = year(2000) + TimeDelta::days(i64::try_from(dice.roll(14_000)).unwrap()) + TimeDelta::hours(7);
            let belief =
                year(2031) + TimeDelta::days(i64::try_from(dice.roll(365 * ROUNDS)).unwrap()) + TimeDelta::hours(5);
            let (time_filter, valid, belief) = match kind {
                0 => (json!({"valid_at": valid}), valid, now),
                1 => (json!({"as_of": belief}), belief, belief),
                _ => (json!({"valid_at": valid, "as_of": belief}), valid, belief),
            };
            questions.push((*key, time_filter, expected(&lives[key], valid, belief)));
        }
    }
    let known = questions.iter().filter(|(_, _, expected)| expected.is_some()).count();
    assert!(known > questions.len() / 2, "{known} of {} have an answer", questions.len());
    let memory = &memory;
    let wrong: Vec<String> =
        stream::iter(questions.iter().map(|((person, predicate), time_filter, expected)| async move {
            let mut arguments = time_filter.clone();
            arguments["query"] = json!(format!("person{person}"));
            arguments["types"] = json!(["fact"]);
            arguments["limit"] = json!(20);
            arguments["mode"] = json!("keyword");
            let answer = memory.call("memory_search", arguments).await.unwrap();
            let found: Vec<&str> = answer["results"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|hit| hit["subject"] == format!("person{person}") && hit["predicate"] == PREDICATES[*predicate])
                .map(|hit| hit["content"].as_str().unwrap())
                .collect();
            let exact = found == expected.as_deref().into_iter().collect::<Vec<_>>();
            (!exact).then(|| {
                format!("person{person} {} {time_filter}: {found:?}, not {expected:?}", PREDICATES[*predicate])
            })
        }))
        .buffered(4)
        .filter_map(std::future::ready)
        .collect()
        .await;
    let shown: Vec<String> = wrong
        .iter()
        .take(5)
        .map(|line| {
            let person: usize = line[6..line.find(' ').unwrap()].parse().unwrap();
            let told: Vec<_> = lives.iter().filter(|(key, _)| key.0 == person).collect();
            format!("{line}\n  {told:?}")
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} answers are wrong:\n{}", wrong.len(), questions.len(), shown.join("\n"));
}
