//! The plan comes true, day by day, through the same use cases that serve everybody.

use std::sync::Arc;

use butler_domain::event::Origin;
use butler_domain::{Butler, EntityId, EpisodeId, FactId, MemoryType, MockClock, RuleId, Scope, TenantId, Timestamp};
use butler_host::error::HostError;
use butler_host::scheduler::{Scheduler, Trigger};
use butler_memory::entities::EntityInput;
use butler_memory::jobs::{CONSOLIDATION, DECAY_SWEEP, EPISODE_CLEANUP, JobRequest};
use butler_memory::{Call, EpisodeInput, FactInput, Memory, MemoryError, RecallInput, RuleInput};
use butler_store::links::End;
use chrono::TimeDelta;
use futures::StreamExt;
use serde_json::{Map, json};

use super::life::{Fate, Life};
use super::plan::{Day, Deed, Plan, Telling};
use super::script::Script;

/// What is stored at once: enough to fill the engine's batches, less than the pool has connections.
const AT_ONCE: usize = 6;
/// In the small hours, when the jobs run.
const NIGHT_HOUR: i64 = 3;
/// The night before the last day nobody answers for this butler, so that its episodes wait for another attempt.
const BROKEN_BUTLER: &str = "work";

pub struct Living<'a> {
    pub life: &'a Life,
    pub plan: &'a Plan,
    pub memory: Arc<Memory>,
    pub clock: Arc<MockClock>,
    pub script: Arc<Script>,
    pub scheduler: Arc<Scheduler>,
    pub now: Timestamp,
    beings: Vec<EntityId>,
    /// The newest version of each chain that was stored directly.
    facts: Vec<Option<FactId>>,
    rules: Vec<Option<RuleId>>,
    today: Vec<(EpisodeId, String)>,
}

impl<'a> Living<'a> {
    pub fn new(
        life: &'a Life,
        plan: &'a Plan,
        memory: Arc<Memory>,
        clock: Arc<MockClock>,
        script: Arc<Script>,
        now: Timestamp,
    ) -> Self {
        let scheduler = Scheduler::new(Arc::clone(&memory), "demo".to_owned());
        let (facts, rules) = (vec![None; plan.chains.len()], vec![None; life.rules.len()]);
        Self { life, plan, memory, clock, script, scheduler, now, beings: Vec::new(), facts, rules, today: Vec::new() }
    }

    fn call(&self, at: Timestamp, actor: &str) -> Call {
        let origin = Origin { actor: Some(actor.to_owned()), request_id: Some(format!("demo-{:x}", at.timestamp())) };
        Call { tenant: TenantId::default(), origin, now: at, idempotency_key: None }
    }

    pub async fn meet_everybody(&mut self) -> Result<(), MemoryError> {
        let at = self.plan.days.first().map_or(self.now, |day| day.midnight);
        self.clock.set(at);
        for being in &self.plan.beings {
            let input = EntityInput {
                canonical_name: being.name.clone(),
                entity_type: being.entity_type,
                aliases: being.aliases.clone(),
                metadata: object(json!({"kind": being.kind})),
            };
            let call = self.call(at, "demo");
            self.beings.push(self.memory.create_entity(&call, input).await?.entity_id);
        }
        Ok(())
    }

    pub async fn day(&mut self, index: usize) -> Result<(), HostError> {
        let plan = self.plan;
        let day = &plan.days[index];
        self.clock.set(day.midnight);
        self.tell(day).await.map_err(failed)?;
        for (at, deed) in &day.deeds {
            self.clock.set(*at);
            self.act(*at, deed).await.map_err(failed)?;
        }
        self.night(index).await
    }

    /// The day's episodes, and what the agent writes down at once because of them.
    async fn tell(&mut self, day: &Day) -> Result<(), MemoryError> {
        let tellings = day.episodes.iter().map(|told| self.episode(told));
        let stored: Vec<_> = futures::stream::iter(tellings).buffered(AT_ONCE).collect().await;
        let mut today = Vec::new();
        for (told, id) in day.episodes.iter().zip(stored) {
            let id = id?;
            today.push((id, told.butler.clone()));
            if told.poison {
                self.script.poison(id);
            }
            let Some((chain, version)) = told.learned else { continue };
            let plan = &self.plan.chains[chain];
            if plan.consolidated {
                let fact = json!({"subject": plan.subject, "predicate": plan.predicate, "content": plan.values[version],
                                  "permanence": plan.permanence, "importance": plan.importance, "tags": plan.tags,
                                  "episode_ids": [id]});
                self.script.learn(id, fact);
            } else {
                let stored = self.fact(told, id, chain, version).await?;
                self.facts[chain] = Some(stored);
            }
        }
        self.today = today;
        Ok(())
    }

    async fn episode(&self, told: &Telling) -> Result<EpisodeId, MemoryError> {
        let input = EpisodeInput {
            butler: name(&told.butler)?,
            session_id: Some(told.session),
            content: told.content.clone(),
            importance: told.importance.clamp(1.0, 10.0),
            metadata: Map::new(),
        };
        Ok(self.memory.store_episode(&self.call(told.at, &told.butler), input).await?.id)
    }

    async fn fact(
        &self,
        told: &Telling,
        source: EpisodeId,
        chain: usize,
        version: usize,
    ) -> Result<FactId, MemoryError> {
        let plan = &self.plan.chains[chain];
        let input = FactInput {
            subject: plan.subject.clone(),
            predicate: plan.predicate.clone(),
            content: plan.values[version].clone(),
            importance: plan.importance,
            permanence: plan.permanence,
            scope: scope(plan.scope)?,
            tags: plan.tags.clone(),
            entity_id: plan.being.map(|being| self.beings[being]),
            source_episode_id: Some(source),
            source_butler: Some(told.butler.clone()),
            metadata: Map::new(),
        };
        let call = self.call(told.at + TimeDelta::seconds(20), &told.butler);
        Ok(self.memory.store_fact(&call, input).await?.id)
    }

    async fn act(&mut self, at: Timestamp, deed: &Deed) -> Result<(), MemoryError> {
        let call = self.call(at, "demo");
        match deed {
            Deed::Confirm(chain) => {
                let Some(fact) = self.facts[*chain] else { return Ok(()) };
                // Every other one by what the episodes say, the rest by somebody who was asked.
                if chain % 2 == 0 {
                    self.script.confirm(fact.0);
                } else {
                    ignore_ended(self.memory.confirm(&call, MemoryType::Fact, fact.0).await)?;
                }
            }
            Deed::Retract(chain) => {
                if let Some(fact) = self.facts[*chain] {
                    self.memory.forget(&call, MemoryType::Fact, fact.0).await?;
                }
            }
            Deed::Link(a, b, relation) => {
                let end = |fact: FactId| End { memory_type: MemoryType::Fact, id: fact.0 };
                if let (Some(a), Some(b)) = (self.facts[*a], self.facts[*b]) {
                    self.memory.create_link(&call, end(a), end(b), *relation).await?;
                }
            }
            Deed::StoreRule(rule) => self.store_rule(&call, *rule).await?,
            Deed::Mark { rule, helpful, reason } => {
                let Some(id) = self.rule_id(&call, *rule).await? else { return Ok(()) };
                if *helpful {
                    self.memory.mark_helpful(&call, id).await?;
                } else {
                    self.memory.mark_harmful(&call, id, reason.as_deref()).await?;
                }
            }
            Deed::ForgetRule(rule) => {
                if let Some(id) = self.rule_id(&call, *rule).await? {
                    self.memory.forget(&call, MemoryType::Rule, id.0).await?;
                }
            }
            Deed::ConfirmRule(rule) => {
                if let Some(id) = self.rule_id(&call, *rule).await? {
                    ignore_ended(self.memory.confirm(&call, MemoryType::Rule, id.0).await)?;
                }
            }
            Deed::ForgetEpisode => {
                if let Some((id, _)) = self.today.first() {
                    self.memory.forget(&call, MemoryType::Episode, id.0).await?;
                }
            }
            Deed::Merge(source, target) => {
                self.memory.merge_entities(&call, self.beings[*source], self.beings[*target]).await?;
            }
            Deed::Recall(topic) => {
                let input = RecallInput {
                    topic: topic.clone(),
                    scope: None,
                    limit: 5,
                    min_confidence: 0.2,
                    min_relevance: None,
                    explain: false,
                };
                self.memory.recall(&call, &input).await?;
            }
        }
        Ok(())
    }

    /// By the agent, or by the next consolidation where there is an episode it can come from.
    async fn store_rule(&mut self, call: &Call, rule: usize) -> Result<(), MemoryError> {
        let guidance = &self.life.rules[rule];
        let source = self.today.iter().find(|(_, butler)| butler == "demo").map(|(id, _)| *id);
        let learned = guidance.scope.is_none() && matches!(guidance.fate, Fate::Candidate | Fate::Established);
        if let Some(source) = source.filter(|_| learned) {
            let rule = json!({"content": guidance.content, "tags": guidance.tags, "episode_ids": [source]});
            self.script.learn_rule(source, rule);
            return Ok(());
        }
        let input = RuleInput {
            content: guidance.content.clone(),
            scope: scope(guidance.scope.as_deref().unwrap_or("global"))?,
            permanence: None,
            tags: guidance.tags.clone(),
            source_episode_id: source,
            source_butler: Some(guidance.scope.clone().unwrap_or_else(|| "demo".to_owned())),
            metadata: Map::new(),
        };
        self.rules[rule] = Some(self.memory.store_rule(call, input).await?.id);
        Ok(())
    }

    /// A rule that consolidation made is found by its words.
    async fn rule_id(&mut self, call: &Call, rule: usize) -> Result<Option<RuleId>, MemoryError> {
        if self.rules[rule].is_none() {
            let content = &self.life.rules[rule].content;
            let found = self.memory.keyword_search(call, MemoryType::Rule, content, None, 1).await?;
            self.rules[rule] = found.first().filter(|hit| hit.content == *content).map(|hit| RuleId(hit.id));
        }
        Ok(self.rules[rule])
    }

    /// What the jobs do while everybody sleeps, under their schedules' names and with their records.
    async fn night(&mut self, index: usize) -> Result<(), HostError> {
        let night = self.plan.days[index].midnight + TimeDelta::days(1) + TimeDelta::hours(NIGHT_HOUR);
        if night > self.now {
            return Ok(());
        }
        let next_night = night + TimeDelta::days(1);
        self.script.down((next_night > self.now).then_some(BROKEN_BUTLER));
        for (job, minutes) in [(CONSOLIDATION, 0), (DECAY_SWEEP, 10), (EPISODE_CLEANUP, 60)] {
            self.clock.set(night + TimeDelta::minutes(minutes));
            let run = self.scheduler.run_now(job, Trigger::Schedule, JobRequest::default()).await;
            run.map_err(|error| HostError::Failed(format!("{job}: {error}")))?;
        }
        // Marks wake this in a running server.
        self.memory.invert_pending(None).await.map_err(failed)?;
        Ok(())
    }
}

fn failed(error: MemoryError) -> HostError {
    HostError::Failed(format!("the demo could not be filled: {error}"))
}

/// A fact that faded away before its confirmation came stays so.
fn ignore_ended<T>(outcome: Result<T, MemoryError>) -> Result<(), MemoryError> {
    match outcome {
        Ok(_) | Err(MemoryError::Gone { .. } | MemoryError::InvalidState { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

fn name(text: &str) -> Result<Butler, MemoryError> {
    Butler::new(text).map_err(|error| butler_domain::validate::Invalid::new("butler", error.to_string()).into())
}

fn scope(text: &str) -> Result<Scope, MemoryError> {
    Scope::new(text).map_err(|error| butler_domain::validate::Invalid::new("scope", error.to_string()).into())
}

fn object(value: serde_json::Value) -> Map<String, serde_json::Value> {
    match value {
        serde_json::Value::Object(map) => map,
        _ => Map::new(),
    }
}
