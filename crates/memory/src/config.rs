//! `[modules.memory]` of a butler.toml: every key, its default, and which values make sense.

mod check;

use std::path::PathBuf;

use butler_domain::context::ContextQuotas;
use butler_domain::scoring::ScoreWeights;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value that cannot work, and the key (below `[modules.memory]`) that holds it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} {problem}")]
pub struct InvalidValue {
    pub key: String,
    pub problem: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// `false` leaves the module out of this butler.
    pub enabled: bool,
    pub embedding: EmbeddingConfig,
    pub episodes: EpisodesConfig,
    pub confidence: ConfidenceConfig,
    pub rules: RulesConfig,
    pub retrieval: RetrievalConfig,
    pub context: ContextConfig,
    pub consolidation: ConsolidationConfig,
    pub schedule: ScheduleConfig,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            embedding: EmbeddingConfig::default(),
            episodes: EpisodesConfig::default(),
            confidence: ConfidenceConfig::default(),
            rules: RulesConfig::default(),
            retrieval: RetrievalConfig::default(),
            context: ContextConfig::default(),
            consolidation: ConsolidationConfig::default(),
            schedule: ScheduleConfig::default(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingConfig {
    /// `all-MiniLM-L6-v2` is the only one so far.
    pub model: String,
    /// 384, as that model has.
    pub dimensions: usize,
    /// An unpacked model; omitted: the one fetched into the cache directory.
    pub model_dir: Option<PathBuf>,
}

impl EmbeddingConfig {
    /// The only model in this version: its vectors are what the tables' `vector(384)` columns hold.
    pub const MODEL: &'static str = "all-MiniLM-L6-v2";
    pub const DIMENSIONS: usize = 384;
}

impl Default for EmbeddingConfig {
    fn default() -> Self {
        Self { model: Self::MODEL.to_owned(), dimensions: Self::DIMENSIONS, model_dir: None }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EpisodesConfig {
    /// How long an episode is kept.
    pub default_ttl_days: f64,
    /// Beyond this the oldest consolidated episodes go first.
    pub max_entries: u64,
    /// How long an expired episode that was never consolidated is kept.
    pub pending_grace_days: f64,
}

impl Default for EpisodesConfig {
    fn default() -> Self {
        Self { default_ttl_days: 7.0, max_entries: 10_000, pending_grace_days: 0.0 }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConfidenceConfig {
    /// Below this effective confidence a memory fades and is not retrieved.
    pub retrieval_threshold: f64,
    /// Below this it expires.
    pub expiry_threshold: f64,
}

impl Default for ConfidenceConfig {
    fn default() -> Self {
        Self { retrieval_threshold: 0.2, expiry_threshold: 0.05 }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RulesConfig {
    pub established: Established,
    pub proven: Proven,
    pub anti_pattern: AntiPattern,
}

/// What a candidate needs to become established.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Established {
    /// Helpful marks.
    pub successes: u32,
    pub effectiveness: f64,
}

impl Default for Established {
    fn default() -> Self {
        Self { successes: 5, effectiveness: 0.6 }
    }
}

/// What an established rule needs to become proven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Proven {
    /// Helpful marks.
    pub successes: u32,
    pub effectiveness: f64,
    /// Days since it was stored.
    pub age_days: f64,
}

impl Default for Proven {
    fn default() -> Self {
        Self { successes: 15, effectiveness: 0.8, age_days: 30.0 }
    }
}

/// From this many harmful marks, and below this effectiveness, a rule is turned into a warning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AntiPattern {
    /// Harmful marks.
    pub harmful: u32,
    pub effectiveness: f64,
}

impl Default for AntiPattern {
    fn default() -> Self {
        Self { harmful: 3, effectiveness: 0.3 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchMode {
    #[default]
    Hybrid,
    Semantic,
    Keyword,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeywordMatch {
    /// Memories with all terms first, then those with any.
    #[default]
    Broad,
    /// Only memories with all terms.
    Strict,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetrievalConfig {
    /// The most tokens of a context block, headers included.
    pub context_token_budget: usize,
    /// The limit of the read tools (10 if left out), the recall depth of `memory_context` and the page size of lists (20 if left out).
    pub default_limit: Option<usize>,
    /// How `memory_search` looks if it is not told.
    pub default_mode: SearchMode,
    /// `broad`: memories with all words first, then those with any; `strict`: only those with all.
    pub keyword_match: KeywordMatch,
    pub score_weights: ScoreWeights,
}

impl RetrievalConfig {
    pub const DEFAULT_LIMIT: usize = 20;
    const TOOL_LIMIT: usize = 10;

    /// How deep `memory_context` recalls, and the page size of lists.
    pub fn depth(&self) -> usize {
        self.default_limit.unwrap_or(Self::DEFAULT_LIMIT)
    }

    /// The default `limit` of `memory_search` and `memory_recall`: 10 unless the file sets `default_limit` itself.
    pub fn tool_limit(&self) -> usize {
        self.default_limit.unwrap_or(Self::TOOL_LIMIT)
    }
}

impl Default for RetrievalConfig {
    fn default() -> Self {
        Self {
            context_token_budget: 3000,
            default_limit: None,
            default_mode: SearchMode::default(),
            keyword_match: KeywordMatch::default(),
            score_weights: ScoreWeights::default(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContextConfig {
    /// Whether a context block ends with recent episodes.
    pub include_episodes: bool,
    pub quotas: ContextQuotas,
}

impl Default for ContextConfig {
    fn default() -> Self {
        Self { include_episodes: true, quotas: ContextQuotas::default() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConsolidationConfig {
    /// Episodes a prompt holds at most.
    pub batch_size: usize,
    /// After this many failed attempts an episode is a dead letter.
    pub max_attempts: u32,
    /// Tokens a prompt holds at most; small enough for a local model's window with room for the answer.
    pub prompt_token_cap: usize,
}

impl Default for ConsolidationConfig {
    fn default() -> Self {
        Self { batch_size: 50, max_attempts: 5, prompt_token_cap: 24_000 }
    }
}

/// When the jobs run: five cron fields each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScheduleConfig {
    /// `false` runs no job on its own; by hand they still do.
    pub enabled: bool,
    /// Turns episodes into facts and rules.
    pub consolidation: String,
    /// Lets unconfirmed facts and rules fade and expire.
    pub decay_sweep: String,
    /// Removes expired and surplus episodes.
    pub episode_cleanup: String,
    /// Rules that marks left to be turned into warnings are taken up at once; this finds what a crash left.
    pub inversion: String,
    /// Fits the vector indexes to the data.
    pub retrain_indexes: String,
    /// Finds nothing to do unless the model changed.
    pub reembed: String,
    /// A name of the IANA database.
    pub time_zone: String,
}

impl Default for ScheduleConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            consolidation: "0 */6 * * *".to_owned(),
            decay_sweep: "0 3 * * *".to_owned(),
            episode_cleanup: "0 4 * * *".to_owned(),
            inversion: "*/10 * * * *".to_owned(),
            retrain_indexes: "30 4 * * *".to_owned(),
            reembed: "15 * * * *".to_owned(),
            time_zone: "UTC".to_owned(),
        }
    }
}
