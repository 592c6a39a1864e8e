//! Retrieval quality on LoCoMo: the share of each question's evidence among the first k results.
//!
//! One tenant per conversation and one episode per turn, with the content "[date] speaker: text", the session's UUID, and
//! the speaker in the metadata, stored in order. `--data` names your own copy: its licence keeps it out of the project.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use anyhow::Context;
use butler_domain::{MemoryType, TenantId};
use butler_memory::search::{Mode, SearchInput};
use butler_memory::{Call, EpisodeInput, Memory};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::figures::Report;
use crate::world::World;

#[derive(clap::Args)]
pub struct Args {
    /// The LoCoMo file as published: a list of conversations with questions.
    #[arg(long)]
    data: PathBuf,
    /// Search modes to measure.
    #[arg(long, default_values = ["hybrid", "deep"])]
    mode: Vec<String>,
    /// Use this database instead of a new one.
    #[arg(long)]
    database_url: Option<String>,
}

#[derive(Deserialize)]
struct Conversation {
    conversation: Map<String, Value>,
    qa: Vec<Question>,
}

#[derive(Deserialize)]
struct Question {
    question: String,
    category: u8,
    #[serde(default)]
    evidence: Vec<String>,
}

/// The numbers of results that are reported.
const DEPTHS: [usize; 3] = [5, 10, 20];
/// Adversarial questions, which ask about the wrong person. Their evidence still has to be found.
const ADVERSARIAL: u8 = 5;

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let text = std::fs::read_to_string(&args.data).with_context(|| format!("cannot read {}", args.data.display()))?;
    let conversations: Vec<Conversation> = serde_json::from_str(&text)?;
    let world = World::start(args.database_url.as_deref()).await?;
    let mut report = Report::new("locomo");
    // by mode and category: the recall of each question at each depth
    let mut recalls: BTreeMap<(String, u8), Vec<[f64; 3]>> = BTreeMap::new();
    for (number, conversation) in conversations.iter().enumerate() {
        let tenant = TenantId::new(format!("locomo-{number}-{}", Uuid::new_v4().simple()))?;
        let turns = store(&world.memory, &tenant, conversation).await?;
        for question in &conversation.qa {
            let evidence = evidence(question, &turns);
            if evidence.is_empty() {
                continue;
            }
            for mode in &args.mode {
                let found = search(&world.memory, &tenant, mode.parse()?, &question.question).await?;
                let recall = DEPTHS.map(|depth| {
                    let hit = found.iter().take(depth).filter(|id| evidence.contains(id)).count();
                    hit as f64 / evidence.len() as f64
                });
                recalls.entry((mode.clone(), question.category)).or_default().push(recall);
            }
        }
    }
    for mode in &args.mode {
        summarise(&mut report, mode, &recalls);
    }
    world.stop()?;
    Ok(report)
}

async fn store(memory: &Memory, tenant: &TenantId, of: &Conversation) -> anyhow::Result<HashMap<String, Uuid>> {
    let mut turns = HashMap::new();
    for session in 1.. {
        let Some(date) = of.conversation.get(&format!("session_{session}_date_time")).and_then(Value::as_str) else {
            break;
        };
        let session_id = Uuid::new_v4();
        let spoken = of.conversation.get(&format!("session_{session}")).and_then(Value::as_array);
        for turn in spoken.into_iter().flatten() {
            let part = |key: &str| turn[key].as_str().unwrap_or_default();
            let input = EpisodeInput {
                butler: butler_domain::Butler::new("locomo")?,
                session_id: Some(session_id),
                content: format!("[{date}] {}: {}", part("speaker"), part("text")),
                importance: 5.0,
                metadata: json!({"speaker": part("speaker")}).as_object().cloned().unwrap_or_default(),
            };
            let stored = memory.store_episode(&Call::internal(memory, tenant.clone(), "bench"), input).await?;
            turns.insert(part("dia_id").to_owned(), stored.id.0);
        }
    }
    Ok(turns)
}

/// The turns that contain the answer. Some questions name several turns in one text, some a turn that does not exist.
fn evidence(question: &Question, turns: &HashMap<String, Uuid>) -> HashSet<Uuid> {
    let named = question.evidence.iter().flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == ':')));
    named.filter_map(|dialogue| turns.get(dialogue)).copied().collect()
}

async fn search(memory: &Memory, tenant: &TenantId, mode: Mode, query: &str) -> anyhow::Result<Vec<Uuid>> {
    let input = SearchInput {
        query: query.to_owned(),
        types: vec![MemoryType::Episode],
        scope: None,
        mode,
        limit: DEPTHS[2],
        min_confidence: 0.0,
        min_relevance: None,
        explain: false,
    };
    let found = memory.search(&Call::internal(memory, tenant.clone(), "bench"), &input).await?;
    Ok(found.results.into_iter().map(|hit| hit.id).collect())
}

fn summarise(report: &mut Report, mode: &str, recalls: &BTreeMap<(String, u8), Vec<[f64; 3]>>) {
    let mean = |wanted: &dyn Fn(u8) -> bool, depth: usize| {
        let of_mode = recalls.iter().filter(|((m, category), _)| m == mode && wanted(*category));
        let values: Vec<f64> = of_mode.flat_map(|(_, values)| values.iter().map(|value| value[depth])).collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    for (depth, k) in DEPTHS.iter().enumerate() {
        let value = mean(&|category| category != ADVERSARIAL, depth);
        let what = format!("{mode} R@{k}, categories 1–4");
        match (mode, k) {
            ("hybrid", 5) => report.at_least(what, value, "", 0.56),
            ("hybrid", 10) => report.at_least(what, value, "", 0.65),
            ("deep", 10) => report.at_least(what, value, "", 0.75),
            ("deep", 20) => report.at_least(what, value, "", 0.82),
            _ => report.note(what, value, ""),
        }
        for category in 1..=ADVERSARIAL {
            let value = mean(&|c| c == category, depth);
            let what = format!("{mode} R@{k}, category {category}");
            if (mode, *k, category) == ("deep", 10, ADVERSARIAL) {
                report.at_least(what, value, "", 0.80);
            } else {
                report.note(what, value, "");
            }
        }
    }
}
