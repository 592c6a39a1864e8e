//! Applying the model's actions: one transaction, a savepoint for each, fenced by the lease.

use std::collections::HashMap;

use butler_domain::consolidation::{
    Action, Confirmation, ConsolidationResult, NewFact, NewRule, UpdatedFact, idempotency_key,
};
use butler_domain::event::Origin;
use butler_domain::text::fact_text;
use butler_domain::{EpisodeId, FactId, MemoryType, RuleId, Scope, Timestamp};
use butler_store::confirm::{self, ConfirmOutcome};
use butler_store::consolidation::actions::{self, Target};
use butler_store::consolidation::{lease, outcome};
use butler_store::facts::{self, FactOutcome};
use butler_store::links::{self, End};
use butler_store::rules::{self, RuleOutcome};
use butler_store::{Embedded, Session, WriteContext};

use super::batch::Batch;
use super::report::{Counts, GroupReport};
use crate::{Memory, MemoryError};

/// An action with all that takes time beforehand: its vector, and the fact it updates.
enum Step<'a> {
    NewFact(&'a NewFact, Embedded),
    UpdateFact(&'a UpdatedFact, Target, Embedded),
    NewRule(&'a NewRule, Embedded),
    Confirm(&'a Confirmation),
}

/// What one action came to.
enum Applied {
    FactCreated,
    FactUpdated,
    RuleCreated,
    Confirmed,
    Replayed,
    /// Nothing was written, for this reason.
    Refused(String),
}

struct Run<'a> {
    batch: &'a Batch<'a>,
    /// Those of the batch that are still there.
    episodes: Vec<EpisodeId>,
    origin: &'a Origin,
    now: Timestamp,
}

impl Memory {
    /// An action that is refused is an error of the report, no more: asked again, the model would hardly say better.
    /// `Some`: the database failed every action, for this reason, and nothing was written.
    pub(super) async fn execute(
        &self,
        batch: &Batch<'_>,
        result: &ConsolidationResult,
        origin: &Origin,
        report: &mut GroupReport,
    ) -> Result<Option<String>, MemoryError> {
        let tenant = &batch.group.tenant;
        let mut problems = Vec::new();
        let steps = self.prepare(batch, result, &mut problems).await?;
        let mut conn = self.db().tenant(tenant).await?;
        let mut tx = conn.begin().await?;
        let Some(episodes) = lease::hold(&mut tx, tenant, &batch.ids(), batch.token).await? else {
            report.problem("the lease was lost: another worker has the episodes; nothing was written".to_owned());
            return Ok(None);
        };
        let run = Run { batch, episodes, origin, now: self.now() };
        let mut counts = Counts::default();
        let mut broken = 0;
        for step in &steps {
            match run.apply(&mut tx, step).await {
                Ok(applied) => count(applied, step, &mut counts, &mut problems),
                // Without its database nothing of the batch can be kept: it is rolled back, and comes again.
                Err(error) if error.is_unavailable() => return Err(error.into()),
                Err(error) => {
                    broken += 1;
                    problems.push(format!("{}: {error}", name(step)));
                }
            }
        }
        if broken > 0 && broken == steps.len() {
            tx.rollback().await?;
            return Ok(Some(format!("no action could be applied: {}", problems.join("; "))));
        }
        counts.consolidated = outcome::consolidated(run.write(&mut tx), &run.episodes, batch.token).await?;
        tx.commit().await?;
        counts.actions_failed = problems.len() as u64;
        report.counts.add(&counts);
        for problem in problems {
            tracing::warn!(tenant = %tenant, butler = %batch.group.butler, problem, "an action was not applied");
            report.problem(problem);
        }
        Ok(None)
    }

    /// Embeds outside the transaction, and puts the steps into the order in which every worker takes its locks: facts by
    /// key, rules, then confirmations by id. Steps of one key stay in the model's order.
    async fn prepare<'a>(
        &self,
        batch: &Batch<'_>,
        result: &'a ConsolidationResult,
        problems: &mut Vec<String>,
    ) -> Result<Vec<Step<'a>>, MemoryError> {
        let wanted: Vec<FactId> = result.updated_facts.iter().map(|fact| fact.target_id).collect();
        let mut targets: HashMap<FactId, Target> = HashMap::new();
        if !wanted.is_empty() {
            let mut conn = self.db().tenant(&batch.group.tenant).await?;
            let found = actions::targets(&mut conn, &batch.group.tenant, &wanted).await?;
            targets.extend(found.into_iter().map(|target| (target.id, target)));
        }
        let mut updates = Vec::new();
        for fact in &result.updated_facts {
            match targets.get(&fact.target_id) {
                Some(target) => updates.push((fact, target)),
                None => problems.push(format!("updated fact {}: there is no such active fact", fact.target_id)),
            }
        }
        let texts = (result.new_facts.iter().map(|fact| fact_text(&fact.subject, &fact.predicate, &fact.content)))
            .chain(updates.iter().map(|(fact, target)| fact_text(&target.subject, &target.predicate, &fact.content)))
            .chain(result.new_rules.iter().map(|rule| rule.content.clone()));
        let mut vectors = self.embed_all(texts.collect()).await?.into_iter();
        let mut keyed = Vec::new();
        for (fact, vector) in result.new_facts.iter().zip(vectors.by_ref()) {
            keyed.push(((fact.subject.clone(), fact.predicate.clone()), Step::NewFact(fact, vector)));
        }
        for ((fact, target), vector) in updates.into_iter().zip(vectors.by_ref()) {
            let key = (target.subject.clone(), target.predicate.clone());
            keyed.push((key, Step::UpdateFact(fact, target.clone(), vector)));
        }
        keyed.sort_by(|a, b| a.0.cmp(&b.0));
        let mut steps: Vec<Step<'a>> = keyed.into_iter().map(|(_, step)| step).collect();
        steps.extend(result.new_rules.iter().zip(vectors).map(|(rule, vector)| Step::NewRule(rule, vector)));
        let mut confirmations: Vec<&Confirmation> = result.confirmations.iter().collect();
        confirmations.sort_by_key(|confirmation| confirmation.id);
        steps.extend(confirmations.into_iter().map(Step::Confirm));
        Ok(steps)
    }

    async fn embed_all(&self, texts: Vec<String>) -> Result<Vec<Embedded>, MemoryError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let vectors = self.embedder().embed_batch(texts).await?;
        let model = self.model();
        Ok(vectors.into_iter().map(|vector| Embedded { vector, model: model.clone() }).collect())
    }
}

impl Run<'_> {
    fn write<'a>(&'a self, session: &'a mut Session) -> WriteContext<'a> {
        WriteContext { session, tenant: &self.batch.group.tenant, now: self.now, origin: self.origin }
    }

    /// In a savepoint of its own: what fails leaves no trace, and the next action starts clean.
    async fn apply(&self, session: &mut Session, step: &Step<'_>) -> Result<Applied, butler_store::StoreError> {
        let mut savepoint = session.begin().await?;
        let key = idempotency_key(&self.batch.group.tenant, &self.batch.group.butler, &self.batch.ids(), action(step));
        if !actions::claim(&mut savepoint, &self.batch.group.tenant, key, self.now).await? {
            savepoint.rollback().await?;
            return Ok(Applied::Replayed);
        }
        let applied = match step {
            Step::NewFact(fact, embedding) => self.new_fact(&mut savepoint, fact, embedding).await?,
            Step::UpdateFact(fact, target, embedding) => {
                self.update_fact(&mut savepoint, fact, target, embedding).await?
            }
            Step::NewRule(rule, embedding) => self.new_rule(&mut savepoint, rule, embedding).await?,
            Step::Confirm(confirmation) => self.confirm(&mut savepoint, confirmation).await?,
        };
        if matches!(applied, Applied::Refused(_)) {
            savepoint.rollback().await?;
        } else {
            savepoint.commit().await?;
        }
        Ok(applied)
    }

    /// The same words about the same thing are no news but a confirmation. A fact about a known entity stays about it.
    async fn new_fact(
        &self,
        session: &mut Session,
        fact: &NewFact,
        embedding: &Embedded,
    ) -> Result<Applied, butler_store::StoreError> {
        let (tenant, scope) = (&self.batch.group.tenant, Scope::default());
        let standing = actions::standing_fact(session, tenant, &scope, &fact.subject, &fact.predicate).await?;
        if let Some(standing) = &standing
            && standing.content == fact.content
        {
            return self.confirm_fact(session, standing.id, &fact.episode_ids).await;
        }
        let new = facts::NewFact {
            id: FactId::new(self.now),
            subject: fact.subject.clone(),
            predicate: fact.predicate.clone(),
            content: fact.content.clone(),
            scope,
            importance: fact.importance,
            permanence: fact.permanence,
            entity_id: standing.and_then(|standing| standing.entity_id),
            source_episode_id: self.only_source(&fact.episode_ids),
            source_butler: Some(self.batch.group.butler.to_string()),
            tags: fact.tags.clone(),
            metadata: serde_json::Map::new(),
            embedding: embedding.clone(),
        };
        Ok(match self.store_fact(session, &new, &fact.episode_ids).await? {
            FactOutcome::Stored { .. } => Applied::FactCreated,
            refused => Applied::Refused(format!("{refused:?}")),
        })
    }

    /// Identity is the target's, whatever the model calls it.
    async fn update_fact(
        &self,
        session: &mut Session,
        fact: &UpdatedFact,
        target: &Target,
        embedding: &Embedded,
    ) -> Result<Applied, butler_store::StoreError> {
        if target.content == fact.content {
            return self.confirm_fact(session, target.id, &fact.episode_ids).await;
        }
        let new = facts::NewFact {
            id: FactId::new(self.now),
            subject: target.subject.clone(),
            predicate: target.predicate.clone(),
            content: fact.content.clone(),
            scope: target.scope.clone(),
            importance: fact.importance.unwrap_or(target.importance),
            permanence: fact.permanence.unwrap_or(target.permanence),
            entity_id: target.entity_id,
            source_episode_id: self.only_source(&fact.episode_ids),
            source_butler: Some(self.batch.group.butler.to_string()),
            tags: fact.tags.clone().unwrap_or_else(|| target.tags.clone()),
            metadata: serde_json::Map::new(),
            embedding: embedding.clone(),
        };
        Ok(match self.store_fact(session, &new, &fact.episode_ids).await? {
            FactOutcome::Stored { superseded_id } if superseded_id == Some(target.id) => Applied::FactUpdated,
            FactOutcome::Stored { .. } => Applied::Refused("it is no longer active".to_owned()),
            refused => Applied::Refused(format!("{refused:?}")),
        })
    }

    async fn store_fact(
        &self,
        session: &mut Session,
        fact: &facts::NewFact,
        named: &[EpisodeId],
    ) -> Result<FactOutcome, butler_store::StoreError> {
        let stored = facts::store(self.write(session), fact, None).await?;
        if matches!(stored, FactOutcome::Stored { .. }) {
            self.derive(session, End { memory_type: MemoryType::Fact, id: fact.id.0 }, named).await?;
        }
        Ok(stored)
    }

    async fn new_rule(
        &self,
        session: &mut Session,
        rule: &NewRule,
        embedding: &Embedded,
    ) -> Result<Applied, butler_store::StoreError> {
        let (tenant, scope) = (&self.batch.group.tenant, Scope::default());
        if let Some(id) = actions::standing_rule(session, tenant, &scope, &rule.content).await? {
            return self.confirm_rule(session, id, &rule.episode_ids).await;
        }
        let new = rules::NewRule {
            id: RuleId::new(self.now),
            content: rule.content.clone(),
            scope,
            permanence: rule.permanence,
            source_episode_id: self.only_source(&rule.episode_ids),
            source_butler: Some(self.batch.group.butler.to_string()),
            tags: rule.tags.clone(),
            metadata: serde_json::Map::new(),
            embedding: embedding.clone(),
        };
        Ok(match rules::store(self.write(session), &new, None).await? {
            RuleOutcome::Stored => {
                self.derive(session, End { memory_type: MemoryType::Rule, id: new.id.0 }, &rule.episode_ids).await?;
                Applied::RuleCreated
            }
            RuleOutcome::NoEpisode => Applied::Refused("its episode is gone".to_owned()),
        })
    }

    /// Counts only when it hits an active memory of this tenant.
    async fn confirm(
        &self,
        session: &mut Session,
        confirmation: &Confirmation,
    ) -> Result<Applied, butler_store::StoreError> {
        let id = confirmation.id;
        let (memory_type, outcome) = match confirm::fact(self.write(session), FactId(id)).await? {
            Some(outcome) => (MemoryType::Fact, outcome),
            None => match confirm::rule(self.write(session), RuleId(id)).await? {
                Some(outcome) => (MemoryType::Rule, outcome),
                None => return Ok(Applied::Refused("there is no such fact or rule".to_owned())),
            },
        };
        // Only what is named: a memory does not come from every session in which it happened to hold.
        let named = &confirmation.episode_ids;
        if matches!(outcome, ConfirmOutcome::Confirmed { .. }) && named.iter().any(|id| self.episodes.contains(id)) {
            self.derive(session, End { memory_type, id }, named).await?;
        }
        Ok(confirmed(outcome))
    }

    async fn confirm_fact(
        &self,
        session: &mut Session,
        id: FactId,
        named: &[EpisodeId],
    ) -> Result<Applied, butler_store::StoreError> {
        self.derive(session, End { memory_type: MemoryType::Fact, id: id.0 }, named).await?;
        let outcome = confirm::fact(self.write(session), id).await?;
        Ok(outcome.map_or_else(|| Applied::Refused("it is gone".to_owned()), confirmed))
    }

    async fn confirm_rule(
        &self,
        session: &mut Session,
        id: RuleId,
        named: &[EpisodeId],
    ) -> Result<Applied, butler_store::StoreError> {
        self.derive(session, End { memory_type: MemoryType::Rule, id: id.0 }, named).await?;
        let outcome = confirm::rule(self.write(session), id).await?;
        Ok(outcome.map_or_else(|| Applied::Refused("it is gone".to_owned()), confirmed))
    }

    async fn derive(
        &self,
        session: &mut Session,
        end: End,
        named: &[EpisodeId],
    ) -> Result<(), butler_store::StoreError> {
        links::derive(self.write(session), end, &self.sources(named)).await?;
        Ok(())
    }

    /// The episodes an action names, if they are of this batch; else all of it.
    fn sources(&self, named: &[EpisodeId]) -> Vec<EpisodeId> {
        let valid: Vec<EpisodeId> = named.iter().copied().filter(|id| self.episodes.contains(id)).collect();
        if valid.is_empty() { self.episodes.clone() } else { valid }
    }

    fn only_source(&self, named: &[EpisodeId]) -> Option<EpisodeId> {
        match self.sources(named)[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

fn confirmed(outcome: ConfirmOutcome) -> Applied {
    match outcome {
        ConfirmOutcome::Confirmed { .. } => Applied::Confirmed,
        ConfirmOutcome::NotActive { state } => Applied::Refused(format!("it is {state}")),
    }
}

fn action<'a>(step: &'a Step<'_>) -> Action<'a> {
    match step {
        Step::NewFact(fact, _) => Action::NewFact(fact),
        Step::UpdateFact(fact, ..) => Action::UpdatedFact(fact),
        Step::NewRule(rule, _) => Action::NewRule(rule),
        Step::Confirm(confirmation) => Action::Confirmation(confirmation),
    }
}

fn name(step: &Step<'_>) -> String {
    match step {
        Step::NewFact(fact, _) => format!("new fact {} {}", fact.subject, fact.predicate),
        Step::UpdateFact(fact, ..) => format!("updated fact {}", fact.target_id),
        Step::NewRule(rule, _) => format!("new rule {:?}", rule.content.chars().take(60).collect::<String>()),
        Step::Confirm(confirmation) => format!("confirmation {}", confirmation.id),
    }
}

fn count(applied: Applied, step: &Step<'_>, counts: &mut Counts, problems: &mut Vec<String>) {
    match applied {
        Applied::FactCreated => counts.facts_created += 1,
        Applied::FactUpdated => counts.facts_updated += 1,
        Applied::RuleCreated => counts.rules_created += 1,
        Applied::Confirmed => counts.confirmations += 1,
        Applied::Replayed => counts.replayed += 1,
        Applied::Refused(reason) => problems.push(format!("{}: {reason}", name(step))),
    }
}
