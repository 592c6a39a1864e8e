//! What the agents do during a day besides storing episodes.

use butler_domain::times::TimeFilter;
use butler_domain::{FactId, MemoryType, RuleId, Timestamp};
use butler_memory::search::Mode;
use butler_memory::{Call, ContextRequest, MarkNote, MemoryError, RecallInput, RuleInput};
use butler_store::links::End;
use serde_json::{Map, json};

use super::{Player, name, scope};
use crate::demo::life::FinalState;
use crate::demo::plan::Action;

/// The agents that query memory: the first at the start of a session, the others during one. The question decides which.
const AGENTS: [&str; 3] = ["claude-code", "claude-desktop", "cursor"];
/// Enough for a few memories of each type.
const CONTEXT_TOKENS: usize = 400;

impl Player<'_> {
    pub(super) async fn act(&mut self, at: Timestamp, action: &Action) -> Result<(), MemoryError> {
        let call = self.call(at, "demo");
        match action {
            Action::Confirm(chain) => {
                let Some(fact) = self.facts[*chain] else { return Ok(()) };
                // Consolidation confirms every other fact, and the agent confirms the rest.
                if chain % 2 == 0 {
                    self.scripted_llm.confirm(fact.0);
                } else {
                    ignore_ended(self.memory.confirm(&call, MemoryType::Fact, fact.0).await)?;
                }
            }
            Action::Retract(chain) => {
                if let Some(fact) = self.facts[*chain] {
                    self.memory.forget(&call, MemoryType::Fact, fact.0).await?;
                }
            }
            Action::Link(a, b, relation) => {
                let end = |fact: FactId| End { memory_type: MemoryType::Fact, id: fact.0 };
                if let (Some(a), Some(b)) = (self.facts[*a], self.facts[*b]) {
                    self.memory.create_link(&call, end(a), end(b), *relation).await?;
                }
            }
            Action::StoreRule(rule) => self.store_rule(&call, *rule).await?,
            Action::Mark { rule, helpful, reason } => {
                let Some(id) = self.rule_id(&call, *rule).await? else { return Ok(()) };
                let note = MarkNote { reason: reason.clone(), ..MarkNote::default() };
                if *helpful {
                    self.memory.mark_helpful(&call, id, &note).await?;
                } else {
                    self.memory.mark_harmful(&call, id, &note).await?;
                }
            }
            Action::ForgetRule(rule) => {
                if let Some(id) = self.rule_id(&call, *rule).await? {
                    self.memory.forget(&call, MemoryType::Rule, id.0).await?;
                }
            }
            Action::ConfirmRule(rule) => {
                if let Some(id) = self.rule_id(&call, *rule).await? {
                    ignore_ended(self.memory.confirm(&call, MemoryType::Rule, id.0).await)?;
                }
            }
            Action::ForgetEpisode => {
                if let Some(id) = self.today.first() {
                    self.memory.forget(&call, MemoryType::Episode, id.0).await?;
                }
            }
            Action::Merge(source, target) => {
                self.memory.merge_entities(&call, self.entities[*source], self.entities[*target]).await?;
            }
            Action::Recall(topic) => self.ask(at, topic).await?,
        }
        Ok(())
    }

    /// One of the agents asks, at the start of a session or during one.
    async fn ask(&self, at: Timestamp, topic: &str) -> Result<(), MemoryError> {
        let agent = AGENTS[topic.len() % AGENTS.len()];
        let call = self.call(at, agent);
        if agent == AGENTS[0] {
            let request = ContextRequest {
                trigger_prompt: topic.to_owned(),
                butler: name("demo")?,
                token_budget: CONTEXT_TOKENS,
                mode: Mode::Hybrid,
                min_relevance: None,
                hops: butler_memory::HOPS,
                time_filter: TimeFilter::default(),
                changes_since: None,
            };
            self.memory.context(&call, &request).await?;
        } else {
            let input = RecallInput {
                topic: topic.to_owned(),
                scope: None,
                mode: Mode::Hybrid,
                limit: 5,
                min_confidence: 0.2,
                min_relevance: None,
                hops: butler_memory::HOPS,
                explain: false,
                time_filter: TimeFilter::default(),
            };
            self.memory.recall(&call, &input).await?;
        }
        Ok(())
    }

    /// Stores a rule directly, or lets the next consolidation learn it if there is an episode to learn it from.
    async fn store_rule(&mut self, call: &Call, rule: usize) -> Result<(), MemoryError> {
        let rule_plan = &self.life.rules[rule];
        let source = self.suggested_by[rule];
        let learned = rule_plan.scope.is_none()
            && matches!(rule_plan.final_state, FinalState::Candidate | FinalState::Established);
        if let Some(source) = source.filter(|_| learned) {
            let rule = json!({"content": rule_plan.content, "tags": rule_plan.tags, "episode_ids": [source]});
            self.scripted_llm.learn_rule(source, rule);
            return Ok(());
        }
        let input = RuleInput {
            override_tombstone: false,
            content: rule_plan.content.clone(),
            scope: scope(rule_plan.scope.as_deref().unwrap_or("global"))?,
            permanence: None,
            tags: rule_plan.tags.clone(),
            source_episode_id: source,
            source_butler: Some(rule_plan.scope.clone().unwrap_or_else(|| "demo".to_owned())),
            metadata: Map::new(),
        };
        self.rules[rule] = Some(self.memory.store_rule(call, input).await?.id);
        Ok(())
    }

    /// Returns the id of a rule. A rule that consolidation created is found by its text.
    async fn rule_id(&mut self, call: &Call, rule: usize) -> Result<Option<RuleId>, MemoryError> {
        if self.rules[rule].is_none() {
            let content = &self.life.rules[rule].content;
            let found = self.memory.keyword_search(call, MemoryType::Rule, content, None, 1).await?;
            self.rules[rule] = found.first().filter(|hit| hit.content == *content).map(|hit| RuleId(hit.id));
        }
        Ok(self.rules[rule])
    }
}

/// Ignores the error for a memory that expired before its planned confirmation.
fn ignore_ended<T>(outcome: Result<T, MemoryError>) -> Result<(), MemoryError> {
    match outcome {
        Ok(_) | Err(MemoryError::Gone { .. } | MemoryError::InvalidState { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
