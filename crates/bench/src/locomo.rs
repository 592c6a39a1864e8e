//! Retrieval quality on LoCoMo: the share of each question's evidence among the first k results.
//!
//! One tenant per conversation and one episode per turn, with the content "[date] speaker: text", the session's UUID, and
//! the speaker in the metadata, stored in order. `--data` names your own copy: its licence keeps it out of the project.

use std::collections::BTreeMap;
use std::path::PathBuf;

use butler_domain::{MemoryType, TenantId};
use butler_memory::search::{Mode, SearchInput};
use butler_memory::{Call, EpisodeInput, Memory};
use serde_json::json;
use uuid::Uuid;

use crate::datasets::Conversation;
use crate::datasets::locomo::{ADVERSARIAL, read};
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

/// The numbers of results that are reported.
const DEPTHS: [usize; 3] = [5, 10, 20];

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let conversations = read(&args.data)?;
    let world = World::start(args.database_url.as_deref()).await?;
    let mut report = Report::new("locomo");
    // by mode and category: the recall of each question at each depth
    let mut recalls: BTreeMap<(String, String), Vec<[f64; 3]>> = BTreeMap::new();
    for (number, conversation) in conversations.iter().enumerate() {
        let tenant = TenantId::new(format!("locomo-{number}-{}", Uuid::new_v4().simple()))?;
        let ids = store(&world.memory, &tenant, conversation).await?;
        for question in conversation.questions.iter().filter(|question| !question.turns.is_empty()) {
            let evidence: Vec<Uuid> = question.turns.iter().map(|turn| ids[*turn]).collect();
            for mode in &args.mode {
                let found = search(&world.memory, &tenant, mode.parse()?, &question.text).await?;
                let recall = DEPTHS.map(|depth| {
                    let hit = found.iter().take(depth).filter(|id| evidence.contains(id)).count();
                    hit as f64 / evidence.len() as f64
                });
                recalls.entry((mode.clone(), question.category.clone())).or_default().push(recall);
            }
        }
    }
    for mode in &args.mode {
        summarise(&mut report, mode, &recalls);
    }
    world.stop()?;
    Ok(report)
}

/// Stores the turns as episodes and returns their ids.
async fn store(memory: &Memory, tenant: &TenantId, of: &Conversation) -> anyhow::Result<Vec<Uuid>> {
    let mut ids = Vec::with_capacity(of.turns.len());
    let mut sessions = BTreeMap::new();
    for turn in &of.turns {
        let input = EpisodeInput {
            butler: butler_domain::Butler::new("locomo")?,
            session_id: Some(*sessions.entry(turn.session).or_insert_with(Uuid::new_v4)),
            content: turn.content(),
            importance: 5.0,
            metadata: json!({"speaker": turn.speaker}).as_object().cloned().unwrap_or_default(),
            occurred_at: None,
        };
        let stored = memory.store_episode(&Call::internal(memory, tenant.clone(), "bench"), input).await?;
        ids.push(stored.id.0);
    }
    Ok(ids)
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
        hops: 0,
        explain: false,
        time_filter: Default::default(),
        holding: false,
    };
    let found = memory.search(&Call::internal(memory, tenant.clone(), "bench"), &input).await?;
    Ok(found.results.into_iter().map(|hit| hit.id).collect())
}

fn summarise(report: &mut Report, mode: &str, recalls: &BTreeMap<(String, String), Vec<[f64; 3]>>) {
    let mean = |wanted: &dyn Fn(&str) -> bool, depth: usize| {
        let of_mode = recalls.iter().filter(|((m, category), _)| m == mode && wanted(category));
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
        for category in ["1", "2", "3", "4", ADVERSARIAL] {
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
