//! Validation of configuration values that parse but cannot work.

use butler_domain::limits;

use super::{ConfidenceConfig, ConsolidationConfig, ContextConfig, EmbeddingConfig, EpisodesConfig};
use super::{InvalidValue, MemoryConfig};
use super::{RetrievalConfig, RulesConfig, ScheduleConfig};
use crate::schedule::Schedule;

type Checked = Result<(), InvalidValue>;

/// More than the context window of common models; a larger value is most likely a typo.
const MAX_TOKENS: usize = 1_000_000;
const MAX_DAYS: f64 = limits::DAYS as f64;
/// Models do not process more episodes in one prompt reliably.
const MAX_BATCH: usize = 1000;

impl MemoryConfig {
    /// Returns the first invalid value, so that the host can point at its line.
    pub fn validate(&self) -> Checked {
        days("injections_retention_days", f64::from(self.injections_retention_days))?;
        self.embedding.validate()?;
        self.episodes.validate()?;
        self.confidence.validate()?;
        self.rules.validate()?;
        self.retrieval.validate()?;
        self.context.validate()?;
        self.secrets.redactor()?;
        self.consolidation.validate()?;
        self.schedule.validate()
    }
}

fn require(holds: bool, key: &str, problem: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(InvalidValue { key: key.to_owned(), problem: problem() }) }
}

fn fraction(key: &str, value: f64) -> Checked {
    require((0.0..=1.0).contains(&value), key, || format!("must be between 0 and 1, not {value}"))
}

fn days(key: &str, value: f64) -> Checked {
    require((0.0..=MAX_DAYS).contains(&value), key, || format!("must be between 0 and {MAX_DAYS} days, not {value}"))
}

fn between(key: &str, value: usize, least: usize, most: usize) -> Checked {
    require((least..=most).contains(&value), key, || format!("must be between {least} and {most}, not {value}"))
}

impl EmbeddingConfig {
    fn validate(&self) -> Checked {
        require(self.model == Self::MODEL, "embedding.model", || {
            format!("is {:?}, but this version supports only {:?}", self.model, Self::MODEL)
        })?;
        require(self.dimensions == Self::DIMENSIONS, "embedding.dimensions", || {
            format!("is {}, but {} produces vectors of {} dimensions", self.dimensions, Self::MODEL, Self::DIMENSIONS)
        })
    }
}

impl EpisodesConfig {
    fn validate(&self) -> Checked {
        days("episodes.default_ttl_days", self.default_ttl_days)?;
        require(self.default_ttl_days > 0.0, "episodes.default_ttl_days", || {
            "must be more than 0, otherwise an episode would expire when it is stored".to_owned()
        })?;
        require(self.max_entries > 0, "episodes.max_entries", || "must be at least 1".to_owned())?;
        require(self.max_unlearned > 0, "episodes.max_unlearned", || "must be at least 1".to_owned())
    }
}

impl ConfidenceConfig {
    fn validate(&self) -> Checked {
        fraction("confidence.retrieval_threshold", self.retrieval_threshold)?;
        let new_rule = butler_store::rules::INITIAL_CONFIDENCE;
        require(self.retrieval_threshold <= new_rule, "confidence.retrieval_threshold", || {
            format!(
                "is {}, above {new_rule}, the confidence of a new rule: no new rule would ever be recalled; use at most \
                 {new_rule}",
                self.retrieval_threshold
            )
        })?;
        fraction("confidence.expiry_threshold", self.expiry_threshold)?;
        require(self.expiry_threshold <= self.retrieval_threshold, "confidence.expiry_threshold", || {
            format!(
                "is {}, above retrieval_threshold ({}): a memory would expire before it fades",
                self.expiry_threshold, self.retrieval_threshold
            )
        })
    }
}

impl RulesConfig {
    fn validate(&self) -> Checked {
        fraction("rules.established.effectiveness", self.established.effectiveness)?;
        fraction("rules.proven.effectiveness", self.proven.effectiveness)?;
        fraction("rules.anti_pattern.effectiveness", self.anti_pattern.effectiveness)?;
        days("rules.proven.age_days", self.proven.age_days)?;
        require(self.established.successes > 0, "rules.established.successes", || "must be at least 1".to_owned())?;
        require(self.proven.successes >= self.established.successes, "rules.proven.successes", || {
            format!("is {}, below established.successes ({})", self.proven.successes, self.established.successes)
        })?;
        require(self.anti_pattern.harmful > 0, "rules.anti_pattern.harmful", || "must be at least 1".to_owned())
    }
}

impl RetrievalConfig {
    fn validate(&self) -> Checked {
        between("retrieval.context_token_budget", self.context_token_budget, 1, MAX_TOKENS)?;
        if let Some(limit) = self.default_limit {
            between("retrieval.default_limit", limit, 1, butler_domain::limits::RESULTS)?;
        }
        let weights = &self.score_weights;
        let parts = [
            ("relevance", weights.relevance),
            ("importance", weights.importance),
            ("recency", weights.recency),
            ("confidence", weights.confidence),
        ];
        for (name, weight) in parts {
            require(weight.is_finite() && weight >= 0.0, &format!("retrieval.score_weights.{name}"), || {
                format!("must be a number of at least 0, not {weight}")
            })?;
        }
        require(parts.iter().any(|(_, weight)| *weight > 0.0), "retrieval.score_weights", || {
            "must not all be 0, otherwise every memory would have the same score".to_owned()
        })
    }
}

impl ContextConfig {
    fn validate(&self) -> Checked {
        let quotas = &self.quotas;
        fraction("context.quotas.facts", quotas.facts)?;
        fraction("context.quotas.rules", quotas.rules)?;
        fraction("context.quotas.episodes", quotas.episodes)?;
        let sum = quotas.facts + quotas.rules + quotas.episodes;
        // The tolerance is needed because 0.5 + 0.3 + 0.2 is not exactly 1 in binary.
        require(sum <= 1.0 + 1e-9, "context.quotas", || format!("add up to {sum}, more than the whole budget"))?;
        require(sum > 0.0, "context.quotas", || {
            "must not all be 0, otherwise the context block would always be empty".to_owned()
        })
    }
}

impl ConsolidationConfig {
    fn validate(&self) -> Checked {
        between("consolidation.batch_size", self.batch_size, 1, MAX_BATCH)?;
        require(self.max_attempts > 0, "consolidation.max_attempts", || "must be at least 1".to_owned())?;
        between("consolidation.prompt_token_cap", self.prompt_token_cap, 1000, MAX_TOKENS)
    }
}

impl ScheduleConfig {
    fn validate(&self) -> Checked {
        let invalid = |key: &str, problem| InvalidValue { key: format!("schedule.{key}"), problem };
        butler_domain::dates::zone(&self.time_zone).map_err(|problem| invalid("time_zone", problem))?;
        for (key, cron) in [
            ("consolidation", &self.consolidation),
            ("decay_sweep", &self.decay_sweep),
            ("episode_cleanup", &self.episode_cleanup),
            ("conflicts", &self.conflicts),
            ("inversion", &self.inversion),
            ("retrain_indexes", &self.retrain_indexes),
            ("reembed", &self.reembed),
        ] {
            Schedule::parse(cron, &self.time_zone).map_err(|problem| invalid(key, problem))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SecretPattern;
    use butler_domain::context::ContextQuotas;
    use butler_domain::scoring::ScoreWeights;

    fn problem(change: impl FnOnce(&mut MemoryConfig)) -> String {
        let mut config = MemoryConfig::default();
        change(&mut config);
        config.validate().expect_err("the value must be rejected").to_string()
    }

    fn pattern(name: &str, pattern: &str) -> SecretPattern {
        SecretPattern { name: name.to_owned(), pattern: pattern.to_owned() }
    }

    #[test]
    fn an_invalid_pattern_is_rejected_with_its_name_also_if_redaction_is_off() {
        let off = problem(|c| {
            c.secrets.redact = false;
            c.secrets.patterns = vec![pattern("visitor", r"\d+"), pattern("badge", "(")];
        });
        assert_eq!(off, "secrets.patterns has an invalid entry: the pattern of `badge` is invalid: unclosed group");
    }

    #[test]
    fn default_configuration_values() {
        let config = MemoryConfig::default();
        assert_eq!(config.validate(), Ok(()));
        assert!(config.enabled);
        assert_eq!(config.retrieval.context_token_budget, 3000);
        assert_eq!(config.retrieval.depth(), 20);
        assert_eq!(config.retrieval.tool_limit(), 10);
        assert_eq!(serde_json::json!(config.retrieval.default_mode), "hybrid");
        assert_eq!(
            config.retrieval.score_weights,
            ScoreWeights { relevance: 0.4, importance: 0.3, recency: 0.2, confidence: 0.1 }
        );
    }

    #[test]
    fn a_configured_default_limit_also_applies_to_the_read_tools() {
        let retrieval = RetrievalConfig { default_limit: Some(7), ..RetrievalConfig::default() };
        assert_eq!((retrieval.depth(), retrieval.tool_limit()), (7, 7));
    }

    #[test]
    fn invalid_values_are_rejected_with_their_key() {
        let cases: [(&str, String); 10] = [
            ("retrieval.score_weights.recency", problem(|c| c.retrieval.score_weights.recency = -0.1)),
            ("retrieval.default_limit", problem(|c| c.retrieval.default_limit = Some(0))),
            ("confidence.retrieval_threshold", problem(|c| c.confidence.retrieval_threshold = 1.5)),
            ("confidence.expiry_threshold", problem(|c| c.confidence.expiry_threshold = 0.3)),
            ("consolidation.batch_size", problem(|c| c.consolidation.batch_size = 0)),
            ("embedding.dimensions", problem(|c| c.embedding.dimensions = 768)),
            ("episodes.default_ttl_days", problem(|c| c.episodes.default_ttl_days = f64::NAN)),
            ("context.quotas", problem(|c| c.context.quotas = ContextQuotas { facts: 0.9, rules: 0.9, episodes: 0.0 })),
            ("secrets.patterns", problem(|c| c.secrets.patterns = vec![pattern("badge", "(")])),
            ("schedule.decay_sweep", problem(|c| c.schedule.decay_sweep = "0 25 * * *".to_owned())),
        ];
        for (key, message) in cases {
            assert!(message.starts_with(&format!("{key} ")), "{key}: {message}");
        }
    }
}
