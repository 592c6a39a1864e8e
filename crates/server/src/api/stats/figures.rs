//! The types of the statistics response.

use butler_domain::Timestamp;
use butler_memory::browse::{BacklogDay, EpisodeStats, FactStats, Figures, RuleStats};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct StatsView {
    /// The state in one sentence.
    pub summary: String,
    pub facts: FactFigures,
    pub rules: RuleFigures,
    pub episodes: EpisodeFigures,
    pub entities: i64,
    /// Number of facts and rules that will expire unless confirmed.
    pub fading: i64,
    pub pipeline: Pipeline,
    pub confidence: ConfidenceFigures,
    /// The last thirty days, oldest first, ending today.
    pub backlog: Vec<BacklogDay>,
    pub effectiveness: EffectivenessFigures,
    /// What needs a person's attention, the most urgent first.
    pub attention: Vec<Attention>,
    /// The figures of each butler that responded.
    pub butlers: Vec<ButlerFigures>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct FactFigures {
    #[serde(flatten)]
    pub states: FactStats,
    /// Number of active facts, including fading ones.
    pub known: i64,
    /// Active facts, including fading ones.
    pub by_permanence: ByPermanence,
    /// Number of fading facts that expire within a week unless confirmed.
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

#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct RuleFigures {
    #[serde(flatten)]
    pub states: RuleStats,
    /// Number of rules that are not forgotten.
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

#[derive(Debug, Default, Serialize, JsonSchema)]
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

/// The consolidation of episodes into facts and rules.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Pipeline {
    pub pending: i64,
    pub failed: i64,
    pub dead_letters: i64,
    pub consolidated: i64,
    /// Number of facts ever learned from episodes.
    pub facts_produced: i64,
    /// Number of rules ever learned from episodes.
    pub rules_produced: i64,
    pub last_run_at: Option<Timestamp>,
    /// `running`, `succeeded` or `failed`.
    pub last_run_status: Option<String>,
    pub last_run_error: Option<String>,
    pub next_run_at: Option<Timestamp>,
    /// Whether an LLM is configured. Without one, consolidation is a dry run.
    pub runtime_configured: bool,
}

/// Histograms of the effective confidence, in bins of 0.05.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ConfidenceFigures {
    pub facts: Vec<i64>,
    pub rules: Vec<i64>,
    /// Below this confidence a memory is fading and is not retrieved.
    pub retrieval_threshold: f64,
    /// Below this confidence a memory expires.
    pub expiry_threshold: f64,
}

/// A histogram of the effectiveness of rules that are not forgotten, in bins of 0.1.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct EffectivenessFigures {
    pub bins: Vec<i64>,
    pub never_applied: i64,
    /// Mean effectiveness of the rules that were applied at least once; null if there are none.
    pub mean: Option<f64>,
    pub applications: i64,
    pub helpful: i64,
    pub harmful: i64,
    /// Number of rules that wait to be turned into a warning.
    pub needs_inversion: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Data is being lost, or something does not work.
    High,
    /// Data will be lost.
    Medium,
    /// Worth checking.
    Low,
}

/// Something that needs a person's attention.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Attention {
    /// `butler_unavailable`, `clock`, `dead_letters`, `consolidation_failed`, `expiring_unlearned`, `many_unlearned`,
    /// `no_runtime`, `expiring_facts`, `fading`, `needs_inversion`, `failed_episodes`.
    pub what: &'static str,
    pub severity: Severity,
    pub count: i64,
    pub message: String,
    /// The dashboard page to resolve it.
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
    pub fn of(name: &str, part: &Figures) -> Self {
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
