//! `GET /api/memory/entities/{id}`: an entity and everything known about it.

use butler_domain::EntityId;
use butler_host::access::Right;
use butler_memory::browse::{EventItem, FactItem, Mention, MergeItem, RelatedEntity};
use butler_memory::entities::{Duplicate, EntityView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::IdPath;
use crate::api::operation::{Operation, RequestContext, Verb};
use crate::api::times::TimeQuery;

/// Clients that need more facts about one entity use `GET /api/memory/facts?entity_id=`.
const MAX_FACTS: i64 = 200;

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EntityDetail {
    #[serde(flatten)]
    pub entity: EntityView,
    /// The canonical name at `as_of`, if the entity was renamed since.
    pub name_then: Option<String>,
    /// Active facts, or those of the requested time, grouped by predicate; at most 200.
    pub predicates: Vec<PredicateFacts>,
    /// Number of active facts, including those that `predicates` leaves out.
    pub facts_total: i64,
    /// Number of facts that are no longer active.
    pub past_facts_total: i64,
    pub related: Vec<RelatedEntity>,
    /// The latest episodes that name it, at most 10.
    pub mentions: Vec<Mention>,
    /// Number of episodes that name it, among the latest 2,000.
    pub mentions_total: i64,
    /// Merges into this entity that can be undone, newest first.
    pub merges: Vec<MergeItem>,
    /// Entities with a similar name, most similar first; at most 5.
    pub duplicates: Vec<Duplicate>,
    /// Audit events of this entity, newest first.
    pub events: Vec<EventItem>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PredicateFacts {
    pub predicate: String,
    pub facts: Vec<FactItem>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct EntityQuery {
    /// The butler whose database to search. Default: all butlers.
    pub butler: Option<String>,
    #[serde(flatten)]
    pub time: TimeQuery,
}

pub struct GetEntity;

impl Operation for GetEntity {
    type Path = IdPath;
    type Query = EntityQuery;
    type Body = ();
    type Answer = Single<WithHome<EntityDetail>>;

    const ID: &'static str = "getEntity";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/entities/{id}";
    const TAG: &'static str = "entities";
    const SUMMARY: &'static str = "Get an entity with its names, its facts by predicate, and related entities.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, path: IdPath, query: EntityQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, id, time) = (&ctx, path.id, &query.time);
        let (home, item) = ctx
            .find(query.butler.as_deref(), &format!("entity with id {id}"), |memory| async move {
                let found = memory.get_entity(&ctx.call(&memory), EntityId(id)).await?;
                let Some(entity) = found else { return Ok(None) };
                let time_filter = time.read(&memory, &ctx.call(&memory))?;
                let duplicates = memory.likely_duplicates(&ctx.call(&memory), &entity).await?;
                let knowledge = ctx.browse(&memory).entity_knowledge(id, MAX_FACTS, &time_filter).await?;
                Ok(Some(EntityDetail {
                    entity,
                    name_then: knowledge.name_then,
                    facts_total: knowledge.facts.total,
                    past_facts_total: knowledge.past_facts,
                    predicates: by_predicate(knowledge.facts.rows),
                    related: knowledge.related,
                    mentions: knowledge.mentions.rows,
                    mentions_total: knowledge.mentions.total,
                    merges: knowledge.merges,
                    duplicates,
                    events: knowledge.events,
                }))
            })
            .await?;
        Ok(Single::new(WithHome { home, item }))
    }
}

fn by_predicate(mut facts: Vec<FactItem>) -> Vec<PredicateFacts> {
    facts.sort_by(|a, b| a.fact.predicate.cmp(&b.fact.predicate).then(b.fact.created_at.cmp(&a.fact.created_at)));
    let mut groups: Vec<PredicateFacts> = Vec::new();
    for fact in facts {
        match groups.last_mut().filter(|group| group.predicate == fact.fact.predicate) {
            Some(group) => group.facts.push(fact),
            None => groups.push(PredicateFacts { predicate: fact.fact.predicate.clone(), facts: vec![fact] }),
        }
    }
    groups
}
