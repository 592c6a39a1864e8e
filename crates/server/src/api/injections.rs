//! `GET /api/memory/injections`: which memories agents were given, call by call.

use std::sync::Arc;

use butler_host::access::Right;
use butler_memory::Memory;
use butler_memory::browse::{Injection, InjectionFilter};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::envelope::{List, WithHome};
use super::error::ApiError;
use super::operation::{Operation, RequestContext, Verb};
use super::page::Paging;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct InjectionFilters {
    /// Only what this session was given.
    session_id: Option<String>,
    /// Only calls that returned this fact, rule or episode: who read it. Each has this memory alone in `memories`.
    memory_id: Option<Uuid>,
    /// Only calls of this butler.
    butler: Option<String>,
    #[serde(flatten)]
    paging: Paging,
}

pub struct ListInjections;

impl Operation for ListInjections {
    type Path = ();
    type Query = InjectionFilters;
    type Body = ();
    type Answer = List<WithHome<Injection>>;

    const ID: &'static str = "listInjections";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/injections";
    const TAG: &'static str = "events";
    const SUMMARY: &'static str =
        "List which memories were served to which session and call, newest first, with their present text.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: InjectionFilters, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, butler) = (&ctx, query.butler.as_deref());
        let request = ctx.page_request(query.paging, butler)?;
        let filter = &InjectionFilter { session: query.session_id, memory: query.memory_id };
        let part = |memory: Arc<Memory>, page| async move { Ok(ctx.browse(&memory).injections(filter, page).await?) };
        let key = |item: &Injection| (item.served_at, item.id);
        ctx.page(butler, request, part, |a, b| key(b).cmp(&key(a)), |item| Some(key(item))).await
    }
}
