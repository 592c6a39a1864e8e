//! `GET /api/memory/entities`: lists entities.

use std::sync::Arc;

use butler_domain::EntityType;
use butler_host::access::Right;
use butler_memory::Memory;
use butler_memory::browse::{EntityFilter, EntityItem, EntitySort};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::envelope::{List, WithHome};
use crate::api::error::ApiError;
use crate::api::operation::{Operation, RequestContext, Verb};
use crate::api::page::{Paging, best, newest};
use crate::api::times::SinceQuery;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Filters {
    /// Part of a name or alias. With `sort=best`, also misspelled names, and entities whose facts match.
    q: Option<String>,
    entity_type: Option<EntityType>,
    /// Whether to include entities that were merged into others. Default: false.
    merged: Option<bool>,
    /// Only entities in this butler's database.
    butler: Option<String>,
    /// Default: `name`.
    sort: Option<EntitySort>,
    #[serde(flatten)]
    time: SinceQuery,
    #[serde(flatten)]
    paging: Paging,
}

pub struct ListEntities;

impl Operation for ListEntities {
    type Path = ();
    type Query = Filters;
    type Body = ();
    type Answer = List<WithHome<EntityItem>>;

    const ID: &'static str = "listEntities";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/entities";
    const TAG: &'static str = "entities";
    const SUMMARY: &'static str = "List entities.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: Filters, (): ()) -> Result<Self::Answer, ApiError> {
        let ctx = &ctx;
        let sort = query.sort.unwrap_or_default();
        let request = ctx.page_request(query.paging, query.butler.as_deref())?.cursor_only_if(false)?;
        let filter = EntityFilter {
            entity_type: query.entity_type,
            words: query.q.filter(|words| !words.trim().is_empty()),
            merged: query.merged.unwrap_or(false),
            sort,
            ..EntityFilter::default()
        };
        let (filter, time) = (&filter, &query.time);
        let part = |memory: Arc<Memory>, page| async move {
            let (since, until) = time.read(&memory, &ctx.call(&memory))?;
            Ok(ctx.browse(&memory).entities(&EntityFilter { since, until, ..filter.clone() }, page).await?)
        };
        let name = |item: &EntityItem| (item.entity.canonical_name.to_lowercase(), item.entity.id);
        let age = |item: &EntityItem| (item.entity.created_at, item.entity.id.0);
        let order = |a: &EntityItem, b: &EntityItem| match sort {
            EntitySort::Best => best(a.score, b.score).then_with(|| name(a).cmp(&name(b))),
            EntitySort::Name => name(a).cmp(&name(b)),
            EntitySort::Newest => newest(age(a), age(b)),
            EntitySort::Facts => b.facts.cmp(&a.facts).then_with(|| name(a).cmp(&name(b))),
        };
        ctx.page(query.butler.as_deref(), request, part, order, |_| None).await
    }
}
