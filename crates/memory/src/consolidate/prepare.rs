//! Prepares the model's actions before the transaction begins: their vectors, the facts they update, and their order.

use std::collections::HashMap;

use butler_domain::FactId;
use butler_domain::consolidation::{
    Action, Confirmation, ConsolidationResult, NewEntity, NewFact, NewRule, UpdatedFact,
};
use butler_domain::text::fact_text;
use butler_store::Embedded;
use butler_store::consolidation::actions::{self, Target};

use super::batch::Batch;
use crate::{Memory, MemoryError};

/// An action with its vector and the fact it updates.
pub(super) enum PreparedAction<'a> {
    Entity(&'a NewEntity),
    NewFact(&'a NewFact, Embedded),
    UpdateFact(&'a UpdatedFact, Target, Embedded),
    NewRule(&'a NewRule, Embedded),
    Confirm(&'a Confirmation),
}

impl PreparedAction<'_> {
    /// The model's action, without what was prepared.
    pub(super) fn to_domain(&self) -> Action<'_> {
        match self {
            Self::Entity(entity) => Action::Entity(entity),
            Self::NewFact(fact, _) => Action::NewFact(fact),
            Self::UpdateFact(fact, ..) => Action::UpdatedFact(fact),
            Self::NewRule(rule, _) => Action::NewRule(rule),
            Self::Confirm(confirmation) => Action::Confirmation(confirmation),
        }
    }

    /// Names the action in a report.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Entity(entity) => format!("entity {}", entity.name),
            Self::NewFact(fact, _) => format!("new fact {} {}", fact.subject, fact.predicate),
            Self::UpdateFact(fact, ..) => format!("updated fact {}", fact.target_id),
            Self::NewRule(rule, _) => format!("new rule {:?}", rule.content.chars().take(60).collect::<String>()),
            Self::Confirm(confirmation) => format!("confirmation {}", confirmation.id),
        }
    }
}

impl Memory {
    /// Embeds outside the transaction and sorts the actions by the order in which every worker takes its locks: facts
    /// by key, rules, then confirmations by id. Actions with the same key stay in the model's order.
    pub(super) async fn prepare<'a>(
        &self,
        batch: &Batch<'_>,
        result: &'a ConsolidationResult,
        problems: &mut Vec<String>,
    ) -> Result<Vec<PreparedAction<'a>>, MemoryError> {
        let target_ids: Vec<FactId> = result.updated_facts.iter().map(|fact| fact.target_id).collect();
        let mut targets: HashMap<FactId, Target> = HashMap::new();
        if !target_ids.is_empty() {
            let mut conn = self.db().tenant(&batch.group.tenant).await?;
            let found = actions::targets(&mut conn, &batch.group.tenant, &target_ids).await?;
            targets.extend(found.into_iter().map(|target| (target.id, target)));
        }
        let mut updates = Vec::new();
        for fact in &result.updated_facts {
            match targets.get(&fact.target_id) {
                Some(target) => updates.push((fact, target)),
                None => problems.push(format!("updated fact {}: no active fact has this id", fact.target_id)),
            }
        }
        let texts = (result.new_facts.iter().map(|fact| fact_text(&fact.subject, &fact.predicate, &fact.content)))
            .chain(updates.iter().map(|(fact, target)| fact_text(&target.subject, &target.predicate, &fact.content)))
            .chain(result.new_rules.iter().map(|rule| rule.content.clone()));
        let mut vectors = self.embed_all(texts.collect()).await?.into_iter();
        let mut keyed = Vec::new();
        for (fact, vector) in result.new_facts.iter().zip(vectors.by_ref()) {
            keyed.push(((fact.subject.clone(), fact.predicate.clone()), PreparedAction::NewFact(fact, vector)));
        }
        for ((fact, target), vector) in updates.into_iter().zip(vectors.by_ref()) {
            let key = (target.subject.clone(), target.predicate.clone());
            keyed.push((key, PreparedAction::UpdateFact(fact, target.clone(), vector)));
        }
        keyed.sort_by(|a, b| a.0.cmp(&b.0));
        // Entities first, so that facts find them.
        let mut entities: Vec<&NewEntity> = result.entities.iter().collect();
        entities.sort_by_key(|entity| entity.name.to_lowercase());
        let entities = entities.into_iter().map(PreparedAction::Entity);
        let mut actions: Vec<PreparedAction<'a>> =
            entities.chain(keyed.into_iter().map(|(_, action)| action)).collect();
        actions
            .extend(result.new_rules.iter().zip(vectors).map(|(rule, vector)| PreparedAction::NewRule(rule, vector)));
        let mut confirmations: Vec<&Confirmation> = result.confirmations.iter().collect();
        confirmations.sort_by_key(|confirmation| confirmation.id);
        actions.extend(confirmations.into_iter().map(PreparedAction::Confirm));
        Ok(actions)
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
