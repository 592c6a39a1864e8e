//! The configuration `[modules.memory]` of a butler.toml: every key, its default and its valid values.

mod check;
mod secrets;
mod trust;

use std::path::PathBuf;

use butler_domain::Mode;
use butler_domain::context::ContextQuotas;
use butler_domain::scoring::ScoreWeights;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use secrets::{SecretPattern, SecretsConfig};
pub use trust::TrustConfig;

/// An invalid configuration value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} {problem}")]
pub struct InvalidValue {
    /// The key, relative to `[modules.memory]`.
    pub key: String,
    /// The rest of a sentence that begins with the key.
    pub problem: String,
}

/// The settings of one butler's memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// `false` disables the module for this butler.
    pub enabled: bool,
    /// Days for which the record of the memories served to each session and call is kept. 0 records nothing.
    pub injections_retention_days: u32,
    pub embedding: EmbeddingConfig,
    pub episodes: EpisodesConfig,
    pub confidence: ConfidenceConfig,
    pub rules: RulesConfig,
    pub retrieval: RetrievalConfig,
    pub context: ContextConfig,
    pub secrets: SecretsConfig,
    pub consolidation: ConsolidationConfig,
    pub trust: TrustConfig,
    pub conflicts: ConflictsConfig,
    pub schedule: ScheduleConfig,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            injections_retention_days: 90,
            embedding: EmbeddingConfig::default(),
            episodes: EpisodesConfig::default(),
            confidence: ConfidenceConfig::default(),
            rules: RulesConfig::default(),
            retrieval: RetrievalConfig::default(),
            context: ContextConfig::default(),
            secrets: SecretsConfig::default(),
            consolidation: ConsolidationConfig::default(),
            trust: TrustConfig::default(),
            conflicts: ConflictsConfig::default(),
            schedule: ScheduleConfig::default(),
        }
    }
}

/// The model that computes the vectors by which memories are found by meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingConfig {
    /// The embedding model. Only `all-MiniLM-L6-v2` is supported.
    pub model: String,
    /// The model's vector size, 384.
    pub dimensions: usize,
    /// A directory with the unpacked model. Default: the model downloaded into the cache directory.
    pub model_dir: Option<PathBuf>,
}

impl EmbeddingConfig {
    /// The only supported model. Its vector size is fixed by the `vector(384)` columns of the tables.
    pub const MODEL: &'static str = butler_embed::MODEL;
    /// The only supported vector size, that of [`Self::MODEL`].
    pub const DIMENSIONS: usize = butler_embed::DIMENSIONS;
}

impl Default for EmbeddingConfig {
    fn default() -> Self {
        Self { model: Self::MODEL.to_owned(), dimensions: Self::DIMENSIONS, model_dir: None }
    }
}

/// How many episodes are kept, and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EpisodesConfig {
    /// Days until an episode expires. One that was not consolidated does not expire.
    pub default_ttl_days: f64,
    /// Episodes a tenant may keep. Beyond this, the cleanup deletes the oldest consolidated ones.
    pub max_entries: u64,
    /// Unconsolidated episodes that a tenant may keep. Beyond this, the oldest expire.
    pub max_unlearned: u64,
}

impl EpisodesConfig {
    /// From this many unlearned episodes on a person is warned: 90 % of those that may be kept.
    pub const fn many_unlearned(&self) -> u64 {
        self.max_unlearned - self.max_unlearned / 10
    }
}

impl Default for EpisodesConfig {
    fn default() -> Self {
        Self { default_ttl_days: 7.0, max_entries: 10_000, max_unlearned: 100_000 }
    }
}

/// Below which confidence a memory is left out of results, and below which it expires.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConfidenceConfig {
    /// Below this effective confidence (0 to 0.5) a memory is fading and is not retrieved, except a warning.
    pub retrieval_threshold: f64,
    /// Below this effective confidence (0 to 1) a fact expires and a rule is forgotten.
    pub expiry_threshold: f64,
}

impl Default for ConfidenceConfig {
    fn default() -> Self {
        Self { retrieval_threshold: 0.2, expiry_threshold: 0.05 }
    }
}

/// What moves a rule from one maturity to the next.
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
    /// Days since the rule was stored.
    pub age_days: f64,
}

impl Default for Proven {
    fn default() -> Self {
        Self { successes: 15, effectiveness: 0.8, age_days: 30.0 }
    }
}

/// When a rule becomes an anti-pattern: it has at least this many harmful marks, and its effectiveness is below this
/// value.
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

/// How many words of the query the keyword search requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeywordMatch {
    /// Memories with all terms of the query first, then those with any.
    #[default]
    Broad,
    /// Only memories with all terms of the query.
    Strict,
}

/// The defaults of search, recall and context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetrievalConfig {
    /// The maximum size of a context block in tokens, headers included.
    pub context_token_budget: usize,
    /// The default `limit` of the read tools (10 if omitted), the recall depth of `memory_context` and the page size of
    /// lists (both 20 if omitted).
    pub default_limit: Option<usize>,
    /// The default `mode` of `memory_search`.
    pub default_mode: Mode,
    /// The default `mode` of `memory_recall` and `memory_context`: the search that finds and ranks the candidates.
    pub recall_mode: Mode,
    /// `broad`: memories with all words first, then those with any; `strict`: only those with all.
    pub keyword_match: KeywordMatch,
    pub score_weights: ScoreWeights,
}

impl RetrievalConfig {
    /// The recall depth of `memory_context` and the page size of lists, unless configured.
    pub const DEFAULT_LIMIT: usize = 20;
    const TOOL_LIMIT: usize = 10;

    /// How many facts and rules `memory_context` recalls, and the page size of lists.
    pub fn depth(&self) -> usize {
        self.default_limit.unwrap_or(Self::DEFAULT_LIMIT)
    }

    /// The default `limit` of `memory_search` and `memory_recall`: 10 unless `default_limit` is configured.
    pub fn tool_limit(&self) -> usize {
        self.default_limit.unwrap_or(Self::TOOL_LIMIT)
    }
}

impl Default for RetrievalConfig {
    fn default() -> Self {
        Self {
            context_token_budget: 3000,
            default_limit: None,
            default_mode: Mode::default(),
            recall_mode: Mode::default(),
            keyword_match: KeywordMatch::default(),
            score_weights: ScoreWeights::default(),
        }
    }
}

/// What a context block contains and how it looks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContextConfig {
    /// Whether a context block includes episodes: those most relevant to the prompt, then the latest.
    pub include_episodes: bool,
    /// Whether a context block leaves out facts and rules that almost certainly have nothing to do with the prompt. This
    /// takes more time, and can lose a memory that shares neither words nor a name with the prompt.
    pub leave_out_filler: bool,
    /// Whether each line ends with a reference to its memory: the shortest unique end of its id, such as ` [a3f9]`.
    /// `memory_get`, `memory_mark_helpful` and `memory_mark_harmful` accept it instead of the id.
    pub references: bool,
    pub quotas: ContextQuotas,
}

impl Default for ContextConfig {
    fn default() -> Self {
        Self { include_episodes: true, leave_out_filler: false, references: false, quotas: ContextQuotas::default() }
    }
}

/// How the LLM turns episodes into facts and rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConsolidationConfig {
    /// The maximum number of episodes in a prompt.
    pub batch_size: usize,
    /// After this many failed attempts an episode becomes a dead letter.
    pub max_attempts: u32,
    /// The maximum number of tokens in a prompt. The default fits a local model's context window with room for the
    /// answer.
    pub prompt_token_cap: usize,
}

impl Default for ConsolidationConfig {
    fn default() -> Self {
        Self { batch_size: 50, max_attempts: 5, prompt_token_cap: 24_000 }
    }
}

/// Pairs of facts that contradict or repeat each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConflictsConfig {
    /// `false`: neither storing a fact nor the job looks for conflicts.
    pub enabled: bool,
    /// `true`: the job has the LLM of `[butler.runtime]` judge the pairs it found. It closes those that are no conflict.
    pub judge: bool,
}

impl Default for ConflictsConfig {
    fn default() -> Self {
        Self { enabled: true, judge: false }
    }
}

/// When the jobs run. Each schedule has five cron fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScheduleConfig {
    /// `false` disables all schedules. Jobs can still be started by hand.
    pub enabled: bool,
    /// Turns episodes into facts and rules.
    pub consolidation: String,
    /// Marks decayed facts and rules as fading and expires them.
    pub decay_sweep: String,
    /// Removes expired and surplus episodes.
    pub episode_cleanup: String,
    /// Compares the facts stored lately with all others, and records contradictions and duplicates.
    pub conflicts: String,
    /// Turns harmful rules into anti-patterns. A mark starts this job at once; the schedule finds what a crash left
    /// behind.
    pub inversion: String,
    /// Retrains vector indexes that the data has outgrown.
    pub retrain_indexes: String,
    /// Embeds memories again after a change of the model; otherwise does nothing.
    pub reembed: String,
    /// The time zone of the schedules, a name from the IANA database.
    pub time_zone: String,
}

impl Default for ScheduleConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            consolidation: "0 */6 * * *".to_owned(),
            decay_sweep: "0 3 * * *".to_owned(),
            episode_cleanup: "0 4 * * *".to_owned(),
            conflicts: "30 3 * * *".to_owned(),
            inversion: "*/10 * * * *".to_owned(),
            retrain_indexes: "30 4 * * *".to_owned(),
            reembed: "15 * * * *".to_owned(),
            time_zone: "UTC".to_owned(),
        }
    }
}
