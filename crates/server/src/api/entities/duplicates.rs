//! `GET /api/memory/duplicates`: entities that may be the same. `POST /api/memory/entities/{id}/apart`: two that are not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use butler_domain::EntityId;
use butler_host::access::Right;
use butler_memory::Memory;
use butler_memory::entities::{DuplicatePair, EntityView};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::api::envelope::{List, Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::{ButlerQuery, IdPath};
use crate::api::operation::{Operation, RequestContext, Verb};
use crate::api::page::Paging;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct DuplicatesQuery {
    /// Only entities in this butler's database.
    butler: Option<String>,
    #[serde(flatten)]
    paging: Paging,
}

pub struct ListDuplicates;

impl Operation for ListDuplicates {
    type Path = ();
    type Query = DuplicatesQuery;
    type Body = ();
    type Answer = List<WithHome<DuplicatePair>>;

    const ID: &'static str = "listDuplicates";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/duplicates";
    const TAG: &'static str = "entities";
    const SUMMARY: &'static str =
        "List pairs of entities of the same type whose names are alike, most alike first, without those kept apart.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: DuplicatesQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, only) = (&ctx, query.butler.as_deref());
        let request = ctx.page_request(query.paging, only)?.cursor_only_if(false)?;
        let incomplete = &AtomicBool::new(false);
        let part = |memory: Arc<Memory>, page| async move {
            let found = memory.duplicate_pairs(&ctx.call(&memory), page).await?;
            incomplete.fetch_or(found.incomplete, Ordering::Relaxed);
            Ok(found.page)
        };
        let mut list = ctx.page(only, request, part, DuplicatePair::order, |_| None).await?;
        list.meta.incomplete = incomplete.load(Ordering::Relaxed);
        Ok(list)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApartBody {
    /// The entity that is another one.
    other_entity_id: Uuid,
    /// False takes it back. Default: true.
    apart: Option<bool>,
}

pub struct KeepApart;

impl Operation for KeepApart {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ApartBody;
    type Answer = Single<WithHome<EntityView>>;

    const ID: &'static str = "keepApart";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/entities/{id}/apart";
    const TAG: &'static str = "entities";
    const SUMMARY: &'static str = "Record that two entities are different, so that they are not listed as duplicates.";
    const RIGHT: Right = Right::Write;

    async fn run(
        ctx: RequestContext,
        path: IdPath,
        query: ButlerQuery,
        body: ApartBody,
    ) -> Result<Self::Answer, ApiError> {
        let (ctx, id) = (&ctx, path.id);
        let (home, memory) = super::home(ctx, query.butler.as_deref(), id).await?;
        let (one, other) = (EntityId(id), EntityId(body.other_entity_id));
        let item = memory.keep_apart(&ctx.call(&memory), one, other, body.apart.unwrap_or(true)).await?;
        Ok(Single::new(WithHome { home, item }))
    }
}
