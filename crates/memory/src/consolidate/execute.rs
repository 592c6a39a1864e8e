//! Applies the model's actions in one transaction, with a savepoint for each action, and only while the lease is held.

use butler_domain::consolidation::{
    Confirmation, ConsolidationResult, NewEntity, NewFact, NewRule, UpdatedFact, idempotency_key,
};
use butler_domain::dates::GivenDate;
use butler_domain::event::Origin;
use butler_domain::times::{GivenTexts, StatedDates};
use butler_domain::{EntityId, EpisodeId, FactId, MemoryType, RuleId, Scope, Source, Timestamp};
use butler_store::confirm::{self, ConfirmOutcome};
use butler_store::consolidation::actions::{self, Target};
use butler_store::consolidation::{lease, outcome};
use butler_store::entities::{self, CreateOutcome};
use butler_store::facts::{self, FactOutcome, Object};
use butler_store::rules::{self, RuleOutcome};
use butler_store::trust::Trust;
use butler_store::{Embedded, Session, WriteContext};
use chrono_tz::Tz;

use super::batch::Batch;
use super::prepare::PreparedAction;
use super::report::{Counts, GroupReport};
use crate::suppressed::Cause;
use crate::{Memory, MemoryError};

/// The outcome of one action.
enum Applied {
    EntityCreated,
    FactCreated,
    FactSuperseded,
    RuleCreated,
    Confirmed,
    /// It waits for a person's approval.
    Proposed,
    /// Nothing was written, and nothing is wrong.
    LeftOut(Cause),
    /// Nothing was written, for this reason.
    Rejected(String),
}

/// Applies the actions of one batch.
struct Executor<'a> {
    memory: &'a Memory,
    batch: &'a Batch<'a>,
    /// The episodes of the batch that still exist.
    episodes: Vec<EpisodeId>,
    origin: &'a Origin,
    now: Timestamp,
    zone: Tz,
}

impl Memory {
    /// Applies the answer and marks the episodes as consolidated. A rejected action only appears in the report, because
    /// asking the model again would hardly help. Returns the reason if the database failed for every action; then
    /// nothing was written.
    pub(super) async fn execute(
        &self,
        batch: &Batch<'_>,
        result: &ConsolidationResult,
        origin: &Origin,
        report: &mut GroupReport,
    ) -> Result<Option<String>, MemoryError> {
        let tenant = &batch.group.tenant;
        let mut problems = Vec::new();
        let actions = self.prepare(batch, result, &mut problems).await?;
        let mut conn = self.db().tenant(tenant).await?;
        let mut tx = conn.begin().await?;
        let Some(episodes) = lease::hold(&mut tx, tenant, &batch.ids(), batch.token).await? else {
            report.problem("the lease was lost: another worker has the episodes; nothing was written".to_owned());
            return Ok(None);
        };
        let executor = Executor { memory: self, batch, episodes, origin, now: self.now(), zone: self.zone() };
        let mut counts = Counts::default();
        let mut errors = 0;
        for action in &actions {
            match executor.apply(&mut tx, action).await {
                Ok(applied) => count(applied, action, &mut counts, &mut problems),
                // The transaction is lost; the batch is rolled back and retried.
                Err(error) if error.is_unavailable() || error.was_aborted() => return Err(error.into()),
                Err(error) => {
                    errors += 1;
                    problems.push(format!("{}: {error}", action.describe()));
                }
            }
        }
        if errors > 0 && errors == actions.len() {
            tx.rollback().await?;
            return Ok(Some(format!("no action could be applied: {}", problems.join("; "))));
        }
        counts.consolidated = outcome::consolidated(executor.write(&mut tx), &executor.episodes, batch.token).await?;
        tx.commit().await?;
        counts.refused = problems.len() as u64;
        counts.actions = result.action_count() as u64;
        report.counts.add(&counts);
        if !problems.is_empty() {
            // The problems name subjects and rules, which do not belong into a log.
            let count = problems.len();
            tracing::warn!(tenant = %tenant, butler = %batch.group.butler, count, "actions were not applied; the report names them");
        }
        problems.into_iter().for_each(|problem| report.problem(problem));
        Ok(None)
    }
}

impl Executor<'_> {
    fn write<'a>(&'a self, session: &'a mut Session) -> WriteContext<'a> {
        WriteContext { session, tenant: &self.batch.group.tenant, now: self.now, origin: self.origin }
    }

    /// Applies an action in its own savepoint, so that a failed one changes nothing and does not affect the next.
    async fn apply(
        &self,
        session: &mut Session,
        action: &PreparedAction<'_>,
    ) -> Result<Applied, butler_store::StoreError> {
        let mut savepoint = session.begin().await?;
        let group = self.batch.group;
        let key = idempotency_key(&group.tenant, &group.butler, &self.batch.ids(), action.to_domain());
        if !actions::claim(&mut savepoint, &group.tenant, key, self.now).await? {
            savepoint.rollback().await?;
            return Ok(Applied::LeftOut(Cause::Repeated));
        }
        let applied = match action {
            // Untrusted text adds no names and confirms nothing.
            PreparedAction::Entity(_) | PreparedAction::Confirm(_) if self.is_untrusted() => {
                Applied::LeftOut(Cause::Untrusted)
            }
            PreparedAction::Entity(entity) => self.new_entity(&mut savepoint, entity).await?,
            PreparedAction::NewFact(fact, embedding) => self.new_fact(&mut savepoint, fact, embedding).await?,
            PreparedAction::UpdateFact(fact, target, embedding) => {
                self.update_fact(&mut savepoint, fact, target, embedding).await?
            }
            PreparedAction::NewRule(rule, embedding) => self.new_rule(&mut savepoint, rule, embedding).await?,
            PreparedAction::Confirm(confirmation) => self.confirm(&mut savepoint, confirmation).await?,
        };
        if matches!(applied, Applied::Rejected(_)) {
            savepoint.rollback().await?;
        } else {
            savepoint.commit().await?;
        }
        Ok(applied)
    }

    /// Creates an entity unless one has its name.
    async fn new_entity(&self, session: &mut Session, entity: &NewEntity) -> Result<Applied, butler_store::StoreError> {
        if !entities::named(session, &self.batch.group.tenant, &entity.name).await?.is_empty() {
            return Ok(Applied::LeftOut(Cause::Repeated));
        }
        // A second holder of a name would keep facts from being linked.
        let mut aliases = Vec::new();
        for alias in &entity.aliases {
            if entities::named(session, &self.batch.group.tenant, alias).await?.is_empty() {
                aliases.push(alias.clone());
            }
        }
        let new = entities::NewEntity {
            id: EntityId::new(self.now),
            canonical_name: entity.name.clone(),
            entity_type: entity.entity_type,
            aliases,
            metadata: serde_json::Map::new(),
        };
        Ok(match entities::create(self.write(session), &new).await? {
            CreateOutcome::Created(_) => Applied::EntityCreated,
            CreateOutcome::Exists(_) => Applied::LeftOut(Cause::Repeated),
        })
    }

    /// Stores a fact, or confirms the known one that says the same.
    async fn new_fact(
        &self,
        session: &mut Session,
        fact: &NewFact,
        embedding: &Embedded,
    ) -> Result<Applied, butler_store::StoreError> {
        let new = facts::NewFact {
            id: FactId::new(self.now),
            subject: fact.subject.clone(),
            predicate: fact.predicate.clone(),
            content: fact.content.clone(),
            scope: Scope::default(),
            importance: fact.importance,
            permanence: fact.permanence,
            entity_id: None,
            object: fact.object.clone().map_or(Object::None, Object::Name),
            replaces: None,
            corrects: false,
            dates: self.dates(&fact.dates, &fact.episode_ids),
            regrades: false,
            source_episode_id: self.only_source(&fact.episode_ids),
            derived_from: self.sources(&fact.episode_ids),
            source_butler: Some(self.batch.group.butler.to_string()),
            tags: fact.tags.clone(),
            metadata: serde_json::Map::new(),
            embedding: embedding.clone(),
            trust: self.trust(MemoryType::Fact),
        };
        let outcome = match facts::store(self.write(session), &new, None).await? {
            // A model may name the subject as the object.
            FactOutcome::EdgeToItself => {
                let plain = facts::NewFact { object: Object::None, ..new };
                facts::store(self.write(session), &plain, None).await?
            }
            outcome => outcome,
        };
        Ok(applied(outcome))
    }

    /// Supersedes the target with new content. Subject, predicate and scope are the target's, whatever the answer says.
    async fn update_fact(
        &self,
        session: &mut Session,
        fact: &UpdatedFact,
        target: &Target,
        embedding: &Embedded,
    ) -> Result<Applied, butler_store::StoreError> {
        let new = facts::NewFact {
            id: FactId::new(self.now),
            subject: target.subject.clone(),
            predicate: target.predicate.clone(),
            content: fact.content.clone(),
            scope: target.scope.clone(),
            importance: fact.importance,
            permanence: fact.permanence,
            entity_id: target.entity_id,
            object: Object::None,
            replaces: Some(target.id),
            corrects: false,
            dates: self.dates(&fact.dates, &fact.episode_ids),
            regrades: false,
            source_episode_id: self.only_source(&fact.episode_ids),
            derived_from: self.sources(&fact.episode_ids),
            source_butler: Some(self.batch.group.butler.to_string()),
            tags: fact.tags.clone(),
            metadata: serde_json::Map::new(),
            embedding: embedding.clone(),
            trust: self.trust(MemoryType::Fact),
        };
        Ok(applied(facts::store(self.write(session), &new, None).await?))
    }

    /// Stores a rule, or confirms the active rule with the same content.
    async fn new_rule(
        &self,
        session: &mut Session,
        rule: &NewRule,
        embedding: &Embedded,
    ) -> Result<Applied, butler_store::StoreError> {
        let (tenant, scope) = (&self.batch.group.tenant, Scope::default());
        if let Some(id) = actions::standing_rule(session, tenant, &scope, &rule.content).await? {
            if self.is_untrusted() {
                return Ok(Applied::LeftOut(Cause::Untrusted));
            }
            return self.confirm_rule(session, id, &rule.episode_ids).await;
        }
        let new = rules::NewRule {
            id: RuleId::new(self.now),
            content: rule.content.clone(),
            scope,
            permanence: rule.permanence,
            source_episode_id: self.only_source(&rule.episode_ids),
            derived_from: self.sources(&rule.episode_ids),
            source_butler: Some(self.batch.group.butler.to_string()),
            tags: rule.tags.clone(),
            metadata: serde_json::Map::new(),
            embedding: embedding.clone(),
            trust: self.trust(MemoryType::Rule),
        };
        Ok(match rules::store(self.write(session), &new, None).await? {
            RuleOutcome::Stored => Applied::RuleCreated,
            RuleOutcome::Proposed(_) => Applied::Proposed,
            RuleOutcome::Known(_) => Applied::LeftOut(Cause::Untrusted),
            RuleOutcome::Forgotten(statement) => Applied::LeftOut((&statement).into()),
            RuleOutcome::ProposalRejected => Applied::LeftOut(Cause::Rejected),
            RuleOutcome::NoEpisode => Applied::Rejected("its source episode no longer exists".to_owned()),
        })
    }

    /// Confirms an active fact or rule of this tenant.
    async fn confirm(
        &self,
        session: &mut Session,
        confirmation: &Confirmation,
    ) -> Result<Applied, butler_store::StoreError> {
        let id = confirmation.id;
        // Only the episodes that the answer names support the memory: not every episode of the batch is about it.
        let episodes = self.named(&confirmation.episode_ids);
        let outcome = match confirm::fact(self.write(session), FactId(id), &episodes).await? {
            Some(outcome) => outcome,
            None => match confirm::rule(self.write(session), RuleId(id), &episodes).await? {
                Some(outcome) => outcome,
                None => return Ok(Applied::Rejected("there is no such fact or rule".to_owned())),
            },
        };
        Ok(confirm_outcome(outcome))
    }

    async fn confirm_rule(
        &self,
        session: &mut Session,
        id: RuleId,
        episode_ids: &[EpisodeId],
    ) -> Result<Applied, butler_store::StoreError> {
        let outcome = confirm::rule(self.write(session), id, &self.sources(episode_ids)).await?;
        Ok(outcome.map_or_else(|| Applied::Rejected("it no longer exists".to_owned()), confirm_outcome))
    }

    /// The episodes of the batch that an action names.
    fn named(&self, episode_ids: &[EpisodeId]) -> Vec<EpisodeId> {
        episode_ids.iter().copied().filter(|id| self.episodes.contains(id)).collect()
    }

    /// The episodes that an action names, or the whole batch if it names none of the batch.
    fn sources(&self, episode_ids: &[EpisodeId]) -> Vec<EpisodeId> {
        let named = self.named(episode_ids);
        if named.is_empty() { self.episodes.clone() } else { named }
    }

    /// The dates of a fact. What was said long before it was stored, in an import, was observed then.
    fn dates(&self, given: &GivenTexts, episode_ids: &[EpisodeId]) -> StatedDates {
        let date = |text: &Option<String>| GivenDate::parse(text.as_deref()?, self.zone).ok();
        let sources = self.sources(episode_ids);
        let latest =
            self.batch.episodes.iter().filter(|episode| sources.contains(&episode.id)).max_by_key(|e| e.occurred_at);
        let earlier = latest.filter(|episode| episode.occurred_at < episode.created_at);
        let observed = date(&given.observed_at)
            .filter(|date| date.at <= self.now)
            .or_else(|| earlier.map(|e| GivenDate::instant(e.occurred_at)));
        StatedDates::new(date(&given.valid_from), date(&given.valid_to), observed).unwrap_or_default()
    }

    /// A model only retells its episodes, so it is trusted as they are.
    fn trust(&self, memory_type: MemoryType) -> Trust {
        self.memory.trust_in_source(Source::Person, memory_type)
    }

    fn is_untrusted(&self) -> bool {
        self.batch.episodes.iter().any(|episode| episode.untrusted)
    }

    /// The source episode if there is exactly one.
    fn only_source(&self, episode_ids: &[EpisodeId]) -> Option<EpisodeId> {
        match self.sources(episode_ids)[..] {
            [id] => Some(id),
            _ => None,
        }
    }
}

fn applied(outcome: FactOutcome) -> Applied {
    match outcome {
        FactOutcome::Stored(stored) if stored.proposed => Applied::Proposed,
        FactOutcome::Stored(stored) if stored.confirmed => Applied::Confirmed,
        FactOutcome::Stored(stored) if stored.superseded_id.is_some() => Applied::FactSuperseded,
        FactOutcome::Stored(_) => Applied::FactCreated,
        FactOutcome::Known(_) => Applied::LeftOut(Cause::Untrusted),
        FactOutcome::Forgotten(statement) => Applied::LeftOut((&statement).into()),
        FactOutcome::ProposalRejected => Applied::LeftOut(Cause::Rejected),
        FactOutcome::NotActive => Applied::Rejected("the fact is no longer active".to_owned()),
        rejected => Applied::Rejected(format!("{rejected:?}")),
    }
}

fn confirm_outcome(outcome: ConfirmOutcome) -> Applied {
    match outcome {
        ConfirmOutcome::Confirmed { .. } => Applied::Confirmed,
        ConfirmOutcome::NotActive { state } => Applied::Rejected(format!("it is {state}")),
    }
}

fn count(applied: Applied, action: &PreparedAction<'_>, counts: &mut Counts, problems: &mut Vec<String>) {
    match applied {
        Applied::EntityCreated => counts.entities_created += 1,
        Applied::FactCreated => counts.facts_created += 1,
        Applied::FactSuperseded => counts.facts_superseded += 1,
        Applied::RuleCreated => counts.rules_created += 1,
        Applied::Confirmed => counts.confirmations += 1,
        Applied::Proposed => counts.proposed += 1,
        Applied::LeftOut(cause) => {
            counts.suppressed += 1;
            counts.suppressed_by.count(cause);
        }
        Applied::Rejected(reason) => problems.push(format!("{}: {reason}", action.describe())),
    }
}
