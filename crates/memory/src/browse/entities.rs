use butler_store::browse::{entities, events, facts, graph, merges};
use uuid::Uuid;

use super::{
    Browse, EntityFilter, EntityItem, EventItem, FactFilter, FactFilterState, FactItem, FactSort, Graph, Listed,
    Mention, MergeItem, Page, RelatedEntity,
};
use crate::MemoryError;
use crate::search::AskedTime;

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
}

impl Browse<'_> {
    /// One page of the entities that match the filter.
    pub async fn entities(&self, filter: &EntityFilter, page: Page) -> Result<Listed<EntityItem>, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        Ok(entities::list(&mut session, self.tenant, filter, page).await?)
    }

    /// What is known about an entity, with at most `max_facts` facts.
    pub async fn entity_knowledge(
        &self,
        id: Uuid,
        max_facts: i64,
        asked: Option<&AskedTime>,
    ) -> Result<EntityKnowledge, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        let about = |state, sort| FactFilter { state, entity: Some(id), sort, ..FactFilter::default() };
        let active = about(FactFilterState::Active, FactSort::Subject);
        let facts = match asked {
            Some(asked) => {
                facts::held(&mut session, self.tenant, (Some(id), None), asked, (max_facts, 0), self.now).await?
            }
            None => facts::list(&mut session, self.tenant, &active, Page::first(max_facts), self.now).await?,
        };
        let all = about(FactFilterState::All, FactSort::Newest);
        let all = facts::list(&mut session, self.tenant, &all, Page::first(1), self.now).await?.total;
        Ok(EntityKnowledge {
            past_facts: all - facts.total,
            facts,
            related: entities::related(&mut session, self.tenant, id).await?,
            mentions: entities::mentions(&mut session, self.tenant, id, self.now, MENTIONS).await?,
            merges: merges::into(&mut session, self.tenant, id).await?,
            events: events::of_memory(&mut session, self.tenant, id).await?,
        })
    }

    /// The entities with most relations, at most `limit`, and the relations among them.
    pub async fn graph(
        &self,
        predicates: Option<&[String]>,
        limit: i64,
        asked: Option<&AskedTime>,
    ) -> Result<Graph, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        Ok(graph::graph(&mut session, self.tenant, self.now, predicates, limit, asked).await?)
    }

    /// Whether the entity exists.
    pub async fn has_entity(&self, id: Uuid) -> Result<bool, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        Ok(entities::one(&mut session, self.tenant, id).await?.is_some())
    }
}
