//! What a memory records when it stores both statements of a pair: the candidates that the database finds and the
//! thresholds of the program together. Each pair has a tenant of its own.

use std::collections::BTreeSet;

use anyhow::ensure;
use butler_domain::conflicts::{Kind, NEAR_IDENTICAL, NEAR_IDENTICAL_WORDS, Side, repeats};
use butler_domain::statements::contradiction_about;
use butler_domain::text::fact_text;
use butler_domain::{Cardinality, EntityType, TenantId};
use butler_memory::conflicts::Listing;
use butler_memory::entities::EntityInput;
use butler_memory::predicates::PredicateInput;
use butler_memory::{Call, FactInput, Memory};
use serde_json::Map;

use super::pairs::{NICKNAME, Pair, SUBJECT, Stored, pairs, pairs_of_same_words};
use super::topics::Truth;
use super::{print_if_wrong, rates, similarity};
use crate::figures::Report;
use crate::world::World;

struct Recorded {
    pair: Pair,
    sides: [Side; 2],
    similarity: f64,
    kind: Option<Kind>,
}

pub async fn run(report: &mut Report, world: &World, wrong: bool) -> anyhow::Result<()> {
    let mut all: Vec<Recorded> = Vec::new();
    for (number, pair) in pairs().into_iter().chain(pairs_of_same_words()).enumerate() {
        let sides = pair.sides();
        let texts = sides.each_ref().map(|side| fact_text(&side.subject, &side.predicate, &side.content));
        let similarity = similarity(&world.engine, texts).await?;
        let tenant = TenantId::new(format!("pair-{number}"))?;
        let kind = recorded(&world.memory, &tenant, &pair, &sides).await?;
        all.push(Recorded { pair, sides, similarity, kind });
    }
    report.note("stored pairs", all.len() as f64, "");
    let (tuned, reported): (Vec<Recorded>, Vec<Recorded>) =
        all.into_iter().partition(|recorded| recorded.pair.topic % 2 == 0);
    sweep(report, &tuned);
    for (name, stored) in [
        ("same key", Stored::SameKey),
        ("other predicate", Stored::OtherPredicate),
        ("other subject", Stored::OtherSubject),
    ] {
        let found = |of: Truth, kind: Kind| {
            let pairs = reported.iter().filter(|recorded| recorded.pair.stored == stored);
            rates(of, pairs.map(|recorded| (recorded.pair.truth, recorded.kind == Some(kind))))
        };
        let (precision, recall) = found(Truth::Paraphrase, Kind::Duplicate);
        let names = ["precision", "recall"].map(|rate| format!("recorded duplicates, {name}, {rate}"));
        if stored == Stored::SameKey {
            report.at_least(&names[0], precision, "", 0.95);
            report.at_least(&names[1], recall, "", 0.6);
        } else {
            // Of statements under another key, only those in almost the same words are recognised.
            report.note(&names[0], precision, "");
            report.note(&names[1], recall, "");
        }
        let (precision, recall) = found(Truth::Contradiction, Kind::Contradiction);
        report.note(format!("recorded contradictions, {name}, precision"), precision, "");
        report.note(format!("recorded contradictions, {name}, recall"), recall, "");
    }
    if wrong {
        for Recorded { pair, sides: [a, b], similarity, kind } in &reported {
            let shown =
                format!("stored {similarity:.3}: {} {} | {} {}", a.subject, a.statement(), b.subject, b.statement());
            let is = |wanted: Kind| *kind == Some(wanted);
            print_if_wrong(pair.truth, is(Kind::Duplicate), is(Kind::Contradiction), &shown);
        }
    }
    Ok(())
}

/// Precision and recall of each threshold for other predicates, while the other thresholds keep their values.
fn sweep(report: &mut Report, tuned: &[Recorded]) {
    let mut series = |name: &str, of: Truth, found: &dyn Fn(&Recorded, f64) -> bool| {
        for percent in (50..=95_u8).step_by(5) {
            let least = f64::from(percent) / 100.0;
            let pairs = tuned.iter().filter(|recorded| recorded.pair.stored == Stored::OtherPredicate);
            let (precision, recall) = rates(of, pairs.map(|recorded| (recorded.pair.truth, found(recorded, least))));
            report.point(format!("{name}: precision, %"), usize::from(percent), precision, "");
            report.point(format!("{name}: recall, %"), usize::from(percent), recall, "");
        }
    };
    series("repeated under another predicate, by similarity", Truth::Paraphrase, &|recorded, least| {
        let [a, b] = &recorded.sides;
        repeats(a, b, recorded.similarity, least, NEAR_IDENTICAL_WORDS)
    });
    series("repeated under another predicate, by word overlap", Truth::Paraphrase, &|recorded, least| {
        let [a, b] = &recorded.sides;
        repeats(a, b, recorded.similarity, NEAR_IDENTICAL, least)
    });
    series("contradicted under another predicate, by similarity", Truth::Contradiction, &|recorded, least| {
        let [a, b] = &recorded.sides;
        recorded.similarity >= least && contradiction_about(SUBJECT, &a.statement(), &b.statement()).is_some()
    });
}

/// The kind of conflict that is open after both facts were stored and the job has run.
async fn recorded(memory: &Memory, tenant: &TenantId, pair: &Pair, sides: &[Side; 2]) -> anyhow::Result<Option<Kind>> {
    let call = || Call::internal(memory, tenant.clone(), "bench");
    // A second value of one key supersedes the first unless the predicate holds several.
    let several = pair.holds_several || pair.stored == Stored::SameKey;
    for predicate in sides.iter().map(|side| side.predicate.as_str()).collect::<BTreeSet<&str>>() {
        memory.set_predicate(&call(), holding(predicate, several), false).await?;
    }
    if pair.stored == Stored::OtherSubject {
        // Two entities have the nickname, so a fact about it is linked to neither.
        for name in [SUBJECT, "Annie Weber"] {
            let input = EntityInput {
                canonical_name: name.to_owned(),
                entity_type: EntityType::Person,
                aliases: vec![NICKNAME.to_owned()],
                metadata: Map::new(),
            };
            memory.create_entity(&call(), input).await?;
        }
    }
    for side in sides {
        let stored = memory.store_fact(&call(), fact(&side.subject, &side.predicate, &side.content)).await?;
        ensure!(!stored.confirmed && stored.superseded_id.is_none(), "{side:?} is not stored beside the first fact");
    }
    memory.find_conflicts(Some(tenant)).await?;
    let listing = Listing { open: true, id: None, limit: 1, offset: 0 };
    let open = memory.list_conflicts(&call(), listing).await?;
    Ok(open.conflicts.first().map(|conflict| conflict.kind))
}

/// A predicate whose values do not belong to moments, whatever the built-in one of this name does.
pub fn holding(predicate: &str, several: bool) -> PredicateInput {
    PredicateInput {
        name: predicate.to_owned(),
        cardinality: Some(if several { Cardinality::Many } else { Cardinality::One }),
        temporal: Some(false),
        ..PredicateInput::default()
    }
}

pub fn fact(subject: &str, predicate: &str, content: &str) -> FactInput {
    FactInput {
        subject: subject.to_owned(),
        predicate: predicate.to_owned(),
        content: content.to_owned(),
        ..FactInput::default()
    }
}
