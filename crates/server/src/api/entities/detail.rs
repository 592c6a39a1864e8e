//! `GET /api/memory/entities/{id}`: an entity and everything known about it.

use butler_domain::EntityId;
use butler_host::access::Right;
use butler_memory::entities::EntityView;
use butler_store::browse::Page;
use butler_store::browse::entities::{self, RelatedEntity};
use butler_store::browse::events::{self, EventItem};
use butler_store::browse::facts::{self, FactFilter, FactFilterState, FactItem, FactSort};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::{ButlerQuery, IdPath};
use crate::api::operation::{Operation, RequestContext, Verb};

/// Clients that need more facts about one entity use `GET /api/memory/facts?entity_id=`.
const MAX_FACTS: i64 = 200;

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EntityDetail {
    #[serde(flatten)]
    pub entity: EntityView,
    /// Active facts, grouped by predicate; at most 200.
    pub predicates: Vec<PredicateFacts>,
    /// Number of active facts, including those that `predicates` leaves out.
    pub facts_total: i64,
    /// Number of facts that are no longer active.
    pub past_facts_total: i64,
    pub related: Vec<RelatedEntity>,
    /// Audit events of this entity, newest first.
    pub events: Vec<EventItem>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PredicateFacts {
    pub predicate: String,
    pub facts: Vec<FactItem>,
}

pub struct GetEntity;

impl Operation for GetEntity {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<EntityDetail>>;

    const ID: &'static str = "getEntity";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/entities/{id}";
    const TAG: &'static str = "entities";
    const SUMMARY: &'static str = "Get an entity with its names, its facts by predicate, and related entities.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, id) = (&ctx, path.id);
        let (home, item) = ctx
            .find(query.butler.as_deref(), &format!("entity with id {id}"), |memory| async move {
                let found = memory.get_entity(&ctx.call(&memory), EntityId(id)).await?;
                let Some(entity) = found else { return Ok(None) };
                let mut conn = memory.db().reader(&ctx.tenant).await?;
                let of = |state, sort| FactFilter { state, entity: Some(id), sort, ..FactFilter::default() };
                let active = of(FactFilterState::Active, FactSort::Subject);
                let known = facts::list(&mut conn, &ctx.tenant, &active, Page::first(MAX_FACTS), ctx.now).await?;
                let ever = of(FactFilterState::All, FactSort::Newest);
                let ever = facts::list(&mut conn, &ctx.tenant, &ever, Page::first(1), ctx.now).await?.total;
                Ok(Some(EntityDetail {
                    entity,
                    facts_total: known.total,
                    past_facts_total: ever - known.total,
                    predicates: by_predicate(known.rows),
                    related: entities::related(&mut conn, &ctx.tenant, id).await?,
                    events: events::of_memory(&mut conn, &ctx.tenant, id).await?,
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
