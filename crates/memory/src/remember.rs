//! Stores episodes, facts and rules.

use std::time::Duration;

use butler_domain::fact::UNLINKED_OBJECT;
use butler_domain::text::fact_text;
use butler_domain::times::StatedDates;
use butler_domain::validate::Invalid;
use butler_domain::{
    Butler, EntityId, EpisodeId, FactId, MemoryType, Permanence, RuleId, Scope, StoredFact, Timestamp,
};
use butler_store::episodes::{self, NewEpisode};
use butler_store::facts::{self, FactOutcome, NewFact, Object};
use butler_store::idempotency::Keyed;
use butler_store::rules::{self, NewRule, RuleOutcome};
use butler_store::{Constraint, StoreError};
use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::idempotency::Replay;
use crate::tool::ToolDefinition;
use crate::tools::memory_store_episode::MemoryStoreEpisode;
use crate::tools::memory_store_fact::MemoryStoreFact;
use crate::tools::memory_store_rule::MemoryStoreRule;
use crate::trust::{episode_source, held_for, was_forgotten, was_rejected};
use crate::{Call, Memory, MemoryError};

/// Writers of one key wait for each other's lock. Only a merge or an import, which move facts without that lock, can
/// still conflict with a writer, and hardly five times in a row.
pub(crate) const ATTEMPTS: u32 = 5;

/// The validated fields of an episode.
#[derive(Debug, Clone, Serialize)]
pub struct EpisodeInput {
    pub butler: Butler,
    pub session_id: Option<Uuid>,
    pub content: String,
    pub importance: f64,
    /// When it happened; `None`: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<Timestamp>,
    pub metadata: Map<String, Value>,
}

/// The answer to storing an episode.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredEpisode {
    /// The new episode's id, for memory_get and as the source of facts and rules.
    pub id: EpisodeId,
    /// When it expires. Consolidation derives facts and rules from it before then.
    pub expires_at: Timestamp,
    /// Whether it is untrusted and looks like an instruction. Until a person releases it, no context contains it and nothing
    /// is learned from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
}

/// The validated fields of a fact.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FactInput {
    pub subject: String,
    pub predicate: String,
    pub content: String,
    /// `None` keeps the importance of the superseded fact, if any; else the default applies. The same holds for `permanence`
    /// and `tags`.
    pub importance: Option<f64>,
    pub permanence: Option<Permanence>,
    pub scope: Scope,
    pub tags: Option<Vec<String>>,
    pub entity_id: Option<EntityId>,
    /// The other end of a relation, by id or by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_entity_id: Option<EntityId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    pub source_episode_id: Option<EpisodeId>,
    pub source_butler: Option<String>,
    /// When it is true.
    #[serde(default, skip_serializing_if = "StatedDates::is_empty")]
    pub dates: StatedDates,
    /// Store it although the same was forgotten.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub override_tombstone: bool,
    pub metadata: Map<String, Value>,
}

/// The validated fields of a rule.
#[derive(Debug, Clone, Serialize)]
pub struct RuleInput {
    pub content: String,
    pub scope: Scope,
    /// `None` means `standard`, with the default decay rate of rules.
    pub permanence: Option<Permanence>,
    pub tags: Vec<String>,
    pub source_episode_id: Option<EpisodeId>,
    pub source_butler: Option<String>,
    /// Store it although the same was forgotten.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub override_tombstone: bool,
    pub metadata: Map<String, Value>,
}

/// The answer to storing a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredRule {
    /// The new rule's id, for memory_mark_helpful and memory_mark_harmful.
    pub id: RuleId,
    /// Whether it waits for a person's approval. Until then it has no effect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proposed: bool,
}

impl Memory {
    /// Embeds and stores an episode. With an idempotency key that was used before, it returns the first answer.
    pub async fn store_episode(&self, call: &Call, input: EpisodeInput) -> Result<StoredEpisode, MemoryError> {
        let keyed = match self.replay(call, MemoryStoreEpisode::NAME, &input).await? {
            Replay::Answer(answer) => return Ok(answer),
            Replay::First(keyed) => keyed,
        };
        let embedding = self.embed(&input.content).await?;
        let source = episode_source(call, &input.metadata);
        let episode = NewEpisode {
            id: EpisodeId::new(call.now),
            butler: input.butler,
            session_id: input.session_id,
            importance: input.importance,
            occurred_at: input.occurred_at,
            expires_at: after_days(call.now, self.config().episodes.default_ttl_days),
            source,
            held_for: held_for(source, &input.content),
            metadata: input.metadata,
            content: input.content,
            embedding,
        };
        let written = self.write_episode(call, &episode, keyed.as_ref()).await;
        self.written_or_replayed(call, keyed.as_ref(), written).await
    }

    async fn write_episode(
        &self,
        call: &Call,
        episode: &NewEpisode,
        keyed: Option<&Keyed>,
    ) -> Result<StoredEpisode, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        episodes::store(call.write(&mut conn), episode, keyed).await?;
        self.training().record_writes(1);
        Ok(StoredEpisode { id: episode.id, expires_at: episode.expires_at, held: episode.held_for.is_some() })
    }

    /// Embeds and stores a fact and supersedes the active one with the same key. With an idempotency key that was used
    /// before, it returns the first answer.
    pub async fn store_fact(&self, call: &Call, input: FactInput) -> Result<StoredFact, MemoryError> {
        reject_reserved_metadata(&input.metadata)?;
        let keyed = match self.replay(call, MemoryStoreFact::NAME, &input).await? {
            Replay::Answer(answer) => return Ok(answer),
            Replay::First(keyed) => keyed,
        };
        let fact = self.new_fact(call, input).await?;
        let written = self.write_fact(call, &fact, keyed.as_ref()).await;
        self.written_or_replayed(call, keyed.as_ref(), written).await
    }

    /// Embeds a fact for `butler_store::facts::store`, which may run in the caller's own transaction. A new version
    /// passes on the metadata of the version before, including reserved keys.
    pub async fn new_fact(&self, call: &Call, input: FactInput) -> Result<NewFact, MemoryError> {
        // JSON would turn NaN into null, which means "as before".
        if input.importance.is_some_and(f64::is_nan) {
            return Err(Invalid::new("importance", "is not a number").into());
        }
        let object = match (input.object_entity_id, input.object) {
            (Some(id), _) => Object::Entity(id),
            (None, Some(name)) => Object::Name(name),
            (None, None) => Object::None,
        };
        let embedding = self.embed(&fact_text(&input.subject, &input.predicate, &input.content)).await?;
        Ok(NewFact {
            id: FactId::new(call.now),
            subject: input.subject,
            predicate: input.predicate,
            content: input.content,
            scope: input.scope,
            importance: input.importance,
            permanence: input.permanence,
            entity_id: input.entity_id,
            object,
            replaces: None,
            corrects: false,
            dates: input.dates,
            regrades: true,
            source_episode_id: input.source_episode_id,
            derived_from: Vec::new(),
            source_butler: Some(input.source_butler.unwrap_or_else(|| self.butler().to_string())),
            tags: input.tags,
            metadata: input.metadata,
            embedding,
            trust: self.trust_in(call, MemoryType::Fact, input.override_tombstone),
        })
    }

    async fn write_fact(&self, call: &Call, fact: &NewFact, keyed: Option<&Keyed>) -> Result<StoredFact, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let mut attempt = 1;
        loop {
            match facts::store(call.write(&mut conn), fact, keyed).await {
                Err(error) if attempt < ATTEMPTS && is_race(&error) => attempt += 1,
                Err(error) => return Err(error.into()),
                Ok(outcome) => {
                    let stored = stored(fact, outcome)?;
                    self.training().record_writes(1);
                    if !(stored.confirmed || stored.proposed || stored.alone) {
                        self.find_conflicts_later(call, stored.id, fact.side());
                    }
                    return Ok(stored.with_hint());
                }
            }
        }
    }

    /// Embeds and stores a rule as a candidate. With an idempotency key that was used before, it returns the first
    /// answer.
    pub async fn store_rule(&self, call: &Call, input: RuleInput) -> Result<StoredRule, MemoryError> {
        let keyed = match self.replay(call, MemoryStoreRule::NAME, &input).await? {
            Replay::Answer(answer) => return Ok(answer),
            Replay::First(keyed) => keyed,
        };
        let rule = self.new_rule(call, input).await?;
        let written = self.write_rule(call, &rule, keyed.as_ref()).await;
        self.written_or_replayed(call, keyed.as_ref(), written).await
    }

    /// Validates and embeds a rule for `butler_store::rules::store`, which may run in the caller's own transaction.
    pub async fn new_rule(&self, call: &Call, input: RuleInput) -> Result<NewRule, MemoryError> {
        reject_reserved_metadata(&input.metadata)?;
        let embedding = self.embed(&input.content).await?;
        Ok(NewRule {
            id: RuleId::new(call.now),
            content: input.content,
            scope: input.scope,
            permanence: input.permanence,
            source_episode_id: input.source_episode_id,
            derived_from: Vec::new(),
            source_butler: Some(input.source_butler.unwrap_or_else(|| self.butler().to_string())),
            tags: input.tags,
            metadata: input.metadata,
            embedding,
            trust: self.trust_in(call, MemoryType::Rule, input.override_tombstone),
        })
    }

    async fn write_rule(&self, call: &Call, rule: &NewRule, keyed: Option<&Keyed>) -> Result<StoredRule, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        match rules::store(call.write(&mut conn), rule, keyed).await? {
            RuleOutcome::Stored => {
                self.training().record_writes(1);
                Ok(StoredRule { id: rule.id, proposed: false })
            }
            RuleOutcome::Proposed(id) => Ok(StoredRule { id, proposed: true }),
            RuleOutcome::Known(id) => Ok(StoredRule { id, proposed: false }),
            RuleOutcome::Forgotten(statement) => Err(was_forgotten(MemoryType::Rule, &statement)),
            RuleOutcome::ProposalRejected => Err(was_rejected()),
            RuleOutcome::NoEpisode => Err(no_episode(rule.source_episode_id).into()),
        }
    }
}

/// The stored fact, or the reason why it was rejected.
pub fn stored(fact: &NewFact, outcome: FactOutcome) -> Result<StoredFact, MemoryError> {
    let object = if let Object::Entity(id) = fact.object { Some(id) } else { None };
    let invalid = match outcome {
        FactOutcome::Stored(stored) | FactOutcome::Known(stored) => return Ok(stored),
        FactOutcome::NoEntity => no_entity("entity_id", fact.entity_id),
        FactOutcome::EntityMerged { into } => entity_merged("entity_id", fact.entity_id, into),
        FactOutcome::NoObject => no_entity("object_entity_id", object),
        FactOutcome::ObjectMerged { into } => entity_merged("object_entity_id", object, into),
        FactOutcome::EdgeToItself => Invalid::new("object", "is the same entity as the subject")
            .hint("name another entity as the object, or leave it out"),
        FactOutcome::NoEpisode => no_episode(fact.source_episode_id),
        FactOutcome::NotActive => Invalid::new("fact", "is no longer active").hint("read it again"),
        FactOutcome::Forgotten(statement) => return Err(was_forgotten(MemoryType::Fact, &statement)),
        FactOutcome::ProposalRejected => return Err(was_rejected()),
    };
    Err(invalid.into())
}

fn no_entity(field: &str, id: Option<EntityId>) -> Invalid {
    let id = id.map(|id| id.to_string()).unwrap_or_default();
    Invalid::new(field, format!("entity {id} does not exist"))
        .hint("find the entity with entity_resolve, or create it with entity_create")
}

fn entity_merged(field: &str, id: Option<EntityId>, into: Option<EntityId>) -> Invalid {
    let id = id.map(|id| id.to_string()).unwrap_or_default();
    match into {
        Some(target) => {
            Invalid::new(field, format!("entity {id} was merged into {target}")).hint(format!("use {target}"))
        }
        None => Invalid::new(field, format!("entity {id} was merged into another one"))
            .hint("find the remaining entity with entity_resolve"),
    }
}

fn no_episode(id: Option<EpisodeId>) -> Invalid {
    let id = id.map(|id| id.to_string()).unwrap_or_default();
    Invalid::new("source_episode_id", format!("episode {id} does not exist"))
        .hint("the episode may have expired; omit source_episode_id")
}

pub(crate) fn is_race(error: &StoreError) -> bool {
    error.constraint() == Some(&Constraint::OneActiveFact) || error.was_aborted()
}

/// Rejects metadata that record the state of a memory: only storing, confirming, marking, forgetting and the sweep set them.
fn reject_reserved_metadata(metadata: &Map<String, Value>) -> Result<(), Invalid> {
    let is = |key: &str, value: Value| metadata.get(key) == Some(&value);
    let key = if is("status", "fading".into()) {
        "status"
    } else if is("forgotten", true.into()) {
        "forgotten"
    } else if is("needs_inversion", true.into()) {
        "needs_inversion"
    } else if metadata.contains_key(UNLINKED_OBJECT) {
        UNLINKED_OBJECT
    } else {
        return Ok(());
    };
    Err(Invalid::new(format!("metadata.{key}"), "is reserved for the state of the memory").hint("use another key"))
}

/// The time `days` after `from`, at most the end of the calendar.
pub(crate) fn after_days(from: Timestamp, days: f64) -> Timestamp {
    Duration::try_from_secs_f64(days * 86_400.0)
        .ok()
        .and_then(|span| TimeDelta::from_std(span).ok())
        .and_then(|span| from.checked_add_signed(span))
        .unwrap_or(Timestamp::MAX_UTC)
}
