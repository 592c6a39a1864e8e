//! The shapes of the overview.

use butler_domain::Timestamp;
use butler_store::browse::figures::{BacklogDay, Confidence, Effectiveness, Produced};
use butler_store::jobs::RunRow;
use butler_store::stats::{EpisodeStats, FactStats, RuleStats, Stats};
use schemars::JsonSchema;
use serde::Serialize;

/// Of one butler, as read.
pub struct Part {
    pub stats: Stats,
    pub confidence: Confidence,
    /// Retrieval and expiry.
    pub thresholds: (f64, f64),
    pub effectiveness: Effectiveness,
    pub produced: Produced,
    pub backlog: Vec<BacklogDay>,
    pub entities: i64,
    pub next_run_at: Option<Timestamp>,
    pub last_run: Option<RunRow>,
    pub runtime: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct StatsView {
    /// The state in one sentence.
    pub summary: String,
    pub facts: FactFigures,
    pub rules: RuleFigures,
    pub episodes: EpisodeFigures,
    pub entities: i64,
    /// Facts and rules that are soon forgotten unless confirmed.
    pub fading: i64,
    pub pipeline: Pipeline,
    pub confidence: ConfidenceFigures,
    /// Thirty days, oldest first, ending today.
    pub backlog: Vec<BacklogDay>,
    pub effectiveness: EffectivenessFigures,
    /// The most urgent first; empty when all is well.
    pub attention: Vec<Attention>,
    /// The figures of each butler that answered.
    pub butlers: Vec<ButlerFigures>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct FactFigures {
    #[serde(flatten)]
    pub states: FactStats,
    /// Active ones, the fading included.
    pub known: i64,
    /// Active facts, the fading ones included.
    pub by_permanence: ByPermanence,
    /// Fading facts that expire within a week unless confirmed.
    pub expiring_7d: i64,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ByPermanence {
    pub permanent: i64,
    pub stable: i64,
    pub standard: i64,
    pub volatile: i64,
    pub ephemeral: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleFigures {
    #[serde(flatten)]
    pub states: RuleStats,
    /// All that are not forgotten.
    pub known: i64,
    pub by_maturity: ByMaturity,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ByMaturity {
    pub candidate: i64,
    pub established: i64,
    pub proven: i64,
    pub anti_pattern: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct EpisodeFigures {
    #[serde(flatten)]
    pub states: EpisodeStats,
    pub by_status: ByStatus,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ByStatus {
    pub pending: i64,
    pub consolidated: i64,
    pub failed: i64,
    pub dead_letter: i64,
}

/// From what happened to what is known.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Pipeline {
    pub pending: i64,
    pub failed: i64,
    pub dead_letters: i64,
    pub consolidated: i64,
    /// Facts and rules that were ever made from episodes.
    pub facts_produced: i64,
    pub rules_produced: i64,
    pub last_run_at: Option<Timestamp>,
    /// `running`, `succeeded` or `failed`.
    pub last_run_status: Option<String>,
    pub last_run_error: Option<String>,
    pub next_run_at: Option<Timestamp>,
    /// Without an LLM consolidation only counts.
    pub runtime_configured: bool,
}

/// Effective confidence in twentieths: the first bin is 0 to 0.05.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfidenceFigures {
    pub facts: Vec<i64>,
    pub rules: Vec<i64>,
    /// Below this a memory fades and is not retrieved.
    pub retrieval_threshold: f64,
    /// Below this it expires.
    pub expiry_threshold: f64,
}

/// How well remembered rules do, in tenths.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct EffectivenessFigures {
    pub bins: Vec<i64>,
    pub never_applied: i64,
    /// Of the rules that were ever applied; null without any.
    pub mean: Option<f64>,
    pub applications: i64,
    pub helpful: i64,
    pub harmful: i64,
    /// Rules that wait to be turned into a warning.
    pub needs_inversion: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Something is lost or stands still.
    High,
    /// Something will be lost.
    Medium,
    /// Worth a look.
    Low,
}

/// Something a person should look at.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Attention {
    /// `butler_unavailable`, `dead_letters`, `consolidation_failed`, `expiring_unlearned`, `no_runtime`, `expiring_facts`,
    /// `fading`, `needs_inversion`, `failed_episodes`.
    pub what: &'static str,
    pub severity: Severity,
    pub count: i64,
    pub message: String,
    /// The page where something can be done about it.
    pub page: &'static str,
}

/// The figures of one butler, for comparison.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ButlerFigures {
    pub butler: String,
    pub facts: i64,
    pub rules: i64,
    pub episodes: i64,
    pub unconsolidated: i64,
    pub fading: i64,
    pub dead_letters: i64,
    pub entities: i64,
}

impl ButlerFigures {
    pub fn of(name: &str, part: &Part) -> Self {
        let (facts, rules, episodes) = (&part.stats.facts, &part.stats.rules, &part.stats.episodes);
        Self {
            butler: name.to_owned(),
            facts: facts.known(),
            rules: rules.known(),
            episodes: episodes.total,
            unconsolidated: episodes.unconsolidated,
            fading: facts.fading + rules.fading,
            dead_letters: episodes.dead_letter,
            entities: part.entities,
        }
    }
}
