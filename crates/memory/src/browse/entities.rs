use butler_domain::MemoryType;
use butler_domain::resolve::Hints;
use butler_domain::times::TimeFilter;
use butler_store::browse::{entities, events, facts, graph, merges};
use butler_store::times;
use uuid::Uuid;

use super::best::Best;
use super::{
    Browse, EntityFilter, EntityItem, EntitySort, EventItem, FactFilter, FactFilterState, FactItem, FactSort,
    FoundKind, Graph, Listed, MOST_BEST, Mention, MergeItem, Page, RelatedEntity,
};
use crate::entities::ResolveInput;
use crate::search::TimeFilterRow;
use crate::{Call, MemoryError};

/// Episodes that name an entity, in its profile.
const MENTIONS: i64 = 10;

/// What is known about an entity.
#[derive(Debug, Clone)]
pub struct EntityKnowledge {
    /// The first active facts, and the number of all of them.
    pub facts: Listed<FactItem>,
    /// Number of facts that are no longer active.
    pub past_facts: i64,
    pub related: Vec<RelatedEntity>,
    /// The latest episodes that name it.
    pub mentions: Listed<Mention>,
    /// Merges into it that can be undone, newest first.
    pub merges: Vec<MergeItem>,
    /// Audit events, newest first.
    pub events: Vec<EventItem>,
    /// The name it had at `as_of`, if it was renamed since.
    pub name_then: Option<String>,
}

impl Browse<'_> {
    /// One page of the entities that match the filter.
    pub async fn entities(&self, filter: &EntityFilter, page: Page) -> Result<Listed<EntityItem>, MemoryError> {
        let Some(words) = filter.words.as_deref().filter(|_| filter.sort == EntitySort::Best) else {
            let mut session = self.memory.db().reader(self.tenant).await?;
            return Ok(entities::list(&mut session, self.tenant, filter, page).await?);
        };
        let best = self.best_entities(words).await?;
        let mut session = self.memory.db().reader(self.tenant).await?;
        let filter = EntityFilter { words: None, ids: Some(best.ids()), ..filter.clone() };
        let mut listed = entities::list(&mut session, self.tenant, &filter, page).await?;
        let scores = best.scores();
        for item in &mut listed.rows {
            item.score = scores.get(&item.entity.id.0).copied();
        }
        Ok(listed)
    }

    /// The entities whose names match, also if misspelled, then those whose facts match.
    async fn best_entities(&self, words: &str) -> Result<Best, MemoryError> {
        let input =
            ResolveInput { name: words.to_owned(), entity_type: None, hints: Hints::default(), enable_fuzzy: true };
        let call = Call::internal(self.memory, self.tenant.clone(), "dashboard");
        let named = self.memory.resolve_entity(&call, input).await?.candidates;
        let mut best: Best = named.iter().map(|named| (named.entity_id.0, named.score)).collect();
        let found = self.palette(words, MOST_BEST as i32).await?;
        best.append(found.iter().filter(|item| item.kind == FoundKind::Entity).map(|item| item.id));
        let facts = self.related(&[MemoryType::Fact], words, None, MOST_BEST, &TimeFilter::default()).await?;
        best.append(facts.iter().filter_map(|fact| fact.entity_id));
        Ok(best)
    }

    /// What is known about an entity, with at most `max_facts` facts.
    pub async fn entity_knowledge(
        &self,
        id: Uuid,
        max_facts: i64,
        time_filter: &TimeFilter,
    ) -> Result<EntityKnowledge, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        let about = |state, sort| FactFilter { state, entity: Some(id), sort, ..FactFilter::default() };
        let wanted = FactFilter {
            time_filter: time_filter.clone(),
            ..about(FactFilterState::of(time_filter), FactSort::Subject)
        };
        let facts = facts::list(&mut session, self.tenant, &wanted, Page::first(max_facts), self.now).await?;
        let all = about(FactFilterState::All, FactSort::Newest);
        let all = facts::list(&mut session, self.tenant, &all, Page::first(1), self.now).await?.total;
        Ok(EntityKnowledge {
            past_facts: all - facts.total,
            facts,
            related: entities::related(&mut session, self.tenant, id, time_filter.as_of).await?,
            mentions: entities::mentions(&mut session, self.tenant, id, self.now, MENTIONS).await?,
            merges: merges::into(&mut session, self.tenant, id).await?,
            events: events::of_memory(&mut session, self.tenant, id).await?,
            name_then: match time_filter.as_of {
                Some(as_of) => times::names_then(&mut session, self.tenant, &[id], as_of).await?.remove(&id),
                None => None,
            },
        })
    }

    /// The entities with most relations, at most `limit`, and the relations among them.
    pub async fn graph(
        &self,
        predicates: Option<&[String]>,
        limit: i64,
        time_filter: Option<&TimeFilterRow>,
    ) -> Result<Graph, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        Ok(graph::graph(&mut session, self.tenant, self.now, predicates, limit, time_filter).await?)
    }

    /// Whether the entity exists.
    pub async fn has_entity(&self, id: Uuid) -> Result<bool, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        Ok(entities::one(&mut session, self.tenant, id).await?.is_some())
    }
}
