//! `GET /api/memory/entities/{id}`: what is known about it.

use butler_domain::EntityId;
use butler_host::access::Right;
use butler_memory::entities::EntityView;
use butler_store::browse::Page;
use butler_store::browse::entities::{self, RelatedEntity};
use butler_store::browse::events::{self, EventItem};
use butler_store::browse::facts::{self, FactFilter, FactFilterState, FactItem, FactSort};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::answer::{At, One};
use crate::api::error::ApiError;
use crate::api::facts::{ById, In};
use crate::api::operation::{Asked, Operation, Verb};

/// More facts than this about one entity are paged with `GET /api/memory/facts?entity_id=`.
const FACTS: i64 = 200;

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EntityDetail {
    #[serde(flatten)]
    pub entity: EntityView,
    /// Active facts, by predicate.
    pub predicates: Vec<PredicateFacts>,
    /// Active facts in all; `predicates` holds at most 200.
    pub facts_total: i64,
    /// Facts that are no longer active.
    pub past_facts_total: i64,
    pub related: Vec<RelatedEntity>,
    /// What happened to it, newest first.
    pub events: Vec<EventItem>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PredicateFacts {
    pub predicate: String,
    pub facts: Vec<FactItem>,
}

pub struct GetEntity;

impl Operation for GetEntity {
    type Path = ById;
    type Query = In;
    type Body = ();
    type Answer = One<At<EntityDetail>>;

    const ID: &'static str = "getEntity";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/entities/{id}";
    const TAG: &'static str = "entities";
    const SUMMARY: &'static str = "One entity: its names, its facts by predicate, and the entities near it.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, path: ById, place: In, (): ()) -> Result<Self::Answer, ApiError> {
        let (asked, id) = (&asked, path.id);
        let (home, item) = asked
            .find(place.butler.as_deref(), &format!("entity with id {id}"), |memory| async move {
                let found = memory.get_entity(&asked.call(&memory), EntityId(id)).await?;
                let Some(entity) = found else { return Ok(None) };
                let mut conn = memory.db().reader(&asked.tenant).await?;
                let of = |state, sort| FactFilter { state, entity: Some(id), sort, ..FactFilter::default() };
                let active = of(FactFilterState::Active, FactSort::Subject);
                let known = facts::list(&mut conn, &asked.tenant, &active, Page::first(FACTS), asked.now).await?;
                let ever = of(FactFilterState::All, FactSort::Newest);
                let ever = facts::list(&mut conn, &asked.tenant, &ever, Page::first(1), asked.now).await?.total;
                Ok(Some(EntityDetail {
                    entity,
                    facts_total: known.total,
                    past_facts_total: ever - known.total,
                    predicates: by_predicate(known.rows),
                    related: entities::related(&mut conn, &asked.tenant, id).await?,
                    events: events::of_memory(&mut conn, &asked.tenant, id).await?,
                }))
            })
            .await?;
        Ok(One::of(At { home, item }))
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
