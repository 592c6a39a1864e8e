//! Executes the plan day by day through the same use cases that serve real clients.

mod actions;

use std::sync::Arc;

use butler_domain::event::Origin;
use butler_domain::times::StatedDates;
use butler_domain::{
    Butler, EntityId, EpisodeId, FactId, MockClock, Permanence, RuleId, Scope, Source, TenantId, Timestamp,
};
use butler_host::error::HostError;
use butler_host::scheduler::{RunError, Scheduler, Trigger};
use butler_memory::entities::EntityInput;
use butler_memory::jobs::{CONSOLIDATION, DECAY_SWEEP, EPISODE_CLEANUP, JobRequest};
use butler_memory::times::DateTexts;
use butler_memory::{Call, EpisodeInput, FactInput, Memory, MemoryError};
use chrono::TimeDelta;
use futures::StreamExt;
use serde_json::{Map, json};

use super::life::Life;
use super::plan::{Day, Plan, PlannedEpisode};
use super::scripted_llm::ScriptedLlm;

/// Episodes stored concurrently: enough to fill the embedding batches, fewer than the connections in the pool.
const CONCURRENT_EPISODES: usize = 6;
/// The hour at which the nightly jobs run.
const NIGHT_HOUR: i64 = 3;
/// The LLM is unavailable for this butler on the last night, so that its episodes wait for a retry.
const BROKEN_BUTLER: &str = "work";

pub struct Player<'a> {
    pub life: &'a Life,
    pub plan: &'a Plan,
    pub memory: Arc<Memory>,
    pub clock: Arc<MockClock>,
    pub scripted_llm: Arc<ScriptedLlm>,
    pub scheduler: Arc<Scheduler>,
    pub now: Timestamp,
    entities: Vec<EntityId>,
    /// The newest fact of each chain that the agent stores itself.
    facts: Vec<Option<FactId>>,
    rules: Vec<Option<RuleId>>,
    /// The episode that suggests each rule.
    suggested_by: Vec<Option<EpisodeId>>,
    /// The episodes of the current day from which nothing is learned.
    today: Vec<EpisodeId>,
}

impl<'a> Player<'a> {
    pub fn new(
        life: &'a Life,
        plan: &'a Plan,
        memory: Arc<Memory>,
        clock: Arc<MockClock>,
        scripted_llm: Arc<ScriptedLlm>,
        now: Timestamp,
    ) -> Self {
        let scheduler = Scheduler::new(Arc::clone(&memory), "demo".to_owned());
        let (facts, rules) = (vec![None; plan.chains.len()], vec![None; life.rules.len()]);
        Self {
            life,
            plan,
            memory,
            clock,
            scripted_llm,
            scheduler,
            now,
            entities: Vec::new(),
            facts,
            rules,
            suggested_by: vec![None; life.rules.len()],
            today: Vec::new(),
        }
    }

    pub(super) fn call(&self, at: Timestamp, actor: &str) -> Call {
        let origin = Origin { actor: Some(actor.to_owned()), request_id: Some(format!("demo-{:x}", at.timestamp())) };
        Call {
            tenant: TenantId::default(),
            origin,
            now: at,
            session: None,
            idempotency_key: None,
            source: Source::Agent,
        }
    }

    pub async fn create_entities(&mut self) -> Result<(), MemoryError> {
        let at = self.plan.days.first().map_or(self.now, |day| day.midnight);
        self.clock.set(at);
        for entity in &self.plan.entities {
            let input = EntityInput {
                canonical_name: entity.name.clone(),
                entity_type: entity.entity_type,
                aliases: entity.aliases.clone(),
                metadata: object(json!({"kind": entity.kind})),
            };
            let call = self.call(at, "demo");
            self.entities.push(self.memory.create_entity(&call, input).await?.entity_id);
        }
        self.memory.mark_owner(&self.plan.owner).await?;
        for [subject, predicate, object] in &self.plan.known.relations {
            self.store_known(at, [subject, predicate, object], Some(object.clone()), StatedDates::default()).await?;
        }
        for [subject, predicate, content] in &self.plan.known.values {
            self.store_known(at, [subject, predicate, content], None, StatedDates::default()).await?;
        }
        for [subject, predicate, content, from, to] in &self.plan.known.dated {
            let plan = from.strip_prefix('+').and_then(|days| days.parse().ok()).map(TimeDelta::days);
            let from = plan.map_or_else(|| from.clone(), |ahead| (self.now + ahead).format("%Y-%m-%d").to_string());
            let texts = DateTexts { valid_from: Some(&from), valid_to: Some(to), observed_at: None };
            let dates = self.memory.stated(at, texts)?;
            self.store_known(at, [subject, predicate, content], None, dates).await?;
        }
        Ok(())
    }

    /// Stores what is known from the first day. It stays true, so it does not fade within the demo.
    async fn store_known(
        &self,
        at: Timestamp,
        [subject, predicate, content]: [&String; 3],
        object: Option<String>,
        dates: StatedDates,
    ) -> Result<(), MemoryError> {
        let input = FactInput {
            subject: subject.clone(),
            predicate: predicate.clone(),
            content: content.clone(),
            permanence: Some(Permanence::Permanent),
            object,
            dates,
            ..FactInput::default()
        };
        self.memory.store_fact(&self.call(at, "demo"), input).await?;
        Ok(())
    }

    pub async fn day(&mut self, index: usize) -> Result<(), HostError> {
        let plan = self.plan;
        let day = &plan.days[index];
        self.clock.set(day.midnight);
        self.store_episodes(day).await.map_err(failed)?;
        for (at, action) in &day.actions {
            self.clock.set(*at);
            self.act(*at, action).await.map_err(failed)?;
        }
        self.night(index).await
    }

    /// Stores the day's episodes and the facts that the agent learns from them immediately.
    async fn store_episodes(&mut self, day: &Day) -> Result<(), MemoryError> {
        let episodes = day.episodes.iter().map(|planned| self.store_episode(planned));
        let stored: Vec<_> = futures::stream::iter(episodes).buffered(CONCURRENT_EPISODES).collect().await;
        let mut today = Vec::new();
        for (planned, id) in day.episodes.iter().zip(stored) {
            let id = id?;
            if planned.learned.is_none() && planned.suggests.is_none() {
                today.push(id);
            }
            if planned.poison {
                self.scripted_llm.poison(id);
            }
            if let Some(rule) = planned.suggests {
                self.suggested_by[rule] = Some(id);
            }
            let Some((chain, version)) = planned.learned else { continue };
            let plan = &self.plan.chains[chain];
            if plan.consolidated {
                let fact = json!({"subject": plan.subject, "predicate": plan.predicate, "content": plan.values[version],
                                  "permanence": plan.permanence, "importance": plan.importance, "tags": plan.tags,
                                  "episode_ids": [id]});
                self.scripted_llm.learn(id, fact);
            } else {
                let stored = self.store_fact(planned, id, chain, version).await?;
                self.facts[chain] = Some(stored);
            }
        }
        self.today = today;
        Ok(())
    }

    async fn store_episode(&self, planned: &PlannedEpisode) -> Result<EpisodeId, MemoryError> {
        let input = EpisodeInput {
            butler: name(&planned.butler)?,
            session_id: Some(planned.session),
            content: planned.content.clone(),
            importance: planned.importance.clamp(1.0, 10.0),
            occurred_at: None,
            metadata: Map::new(),
        };
        Ok(self.memory.store_episode(&self.call(planned.at, &planned.butler), input).await?.id)
    }

    async fn store_fact(
        &self,
        planned: &PlannedEpisode,
        source: EpisodeId,
        chain: usize,
        version: usize,
    ) -> Result<FactId, MemoryError> {
        let plan = &self.plan.chains[chain];
        let input = FactInput {
            override_tombstone: false,
            subject: plan.subject.clone(),
            predicate: plan.predicate.clone(),
            content: plan.values[version].clone(),
            importance: Some(plan.importance),
            permanence: Some(plan.permanence),
            scope: scope(plan.scope)?,
            tags: Some(plan.tags.clone()),
            entity_id: plan.entity.map(|entity| self.entities[entity]),
            object_entity_id: None,
            object: None,
            source_episode_id: Some(source),
            source_butler: Some(planned.butler.clone()),
            dates: StatedDates::default(),
            metadata: Map::new(),
        };
        let call = self.call(planned.at + TimeDelta::seconds(20), &planned.butler);
        Ok(self.memory.store_fact(&call, input).await?.id)
    }

    /// Runs the nightly jobs and records the runs as scheduled.
    async fn night(&mut self, index: usize) -> Result<(), HostError> {
        let night = self.plan.days[index].midnight + TimeDelta::days(1) + TimeDelta::hours(NIGHT_HOUR);
        if night > self.now {
            return Ok(());
        }
        let next_night = night + TimeDelta::days(1);
        self.scripted_llm.down((next_night > self.now).then_some(BROKEN_BUTLER));
        for (job, minutes) in [(CONSOLIDATION, 0), (DECAY_SWEEP, 10), (EPISODE_CLEANUP, 60)] {
            self.clock.set(night + TimeDelta::minutes(minutes));
            let run = self.scheduler.run_now(job, Trigger::Schedule, JobRequest::default()).await;
            match run {
                // On some nights every group is one that the plan lets fail, which makes the whole run a failed one.
                Ok(_) | Err(RunError::Reported(_)) if job == CONSOLIDATION => {}
                outcome => outcome.map(drop).map_err(|error| HostError::Failed(format!("{job}: {error}")))?,
            }
        }
        // In a running server a harmful mark triggers this.
        self.memory.invert_pending(None).await.map_err(failed)?;
        Ok(())
    }
}

fn failed(error: MemoryError) -> HostError {
    HostError::Failed(format!("cannot fill the demo: {error}"))
}

pub(super) fn name(text: &str) -> Result<Butler, MemoryError> {
    Butler::new(text).map_err(|error| butler_domain::validate::Invalid::new("butler", error.to_string()).into())
}

pub(super) fn scope(text: &str) -> Result<Scope, MemoryError> {
    Scope::new(text).map_err(|error| butler_domain::validate::Invalid::new("scope", error.to_string()).into())
}

pub(super) fn object(value: serde_json::Value) -> Map<String, serde_json::Value> {
    match value {
        serde_json::Value::Object(map) => map,
        _ => Map::new(),
    }
}
