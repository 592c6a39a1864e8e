//! `/api/memory/conflicts`: pairs of facts that contradict or repeat each other.

use std::sync::Arc;

use butler_domain::{Invalid, Scope, validate};
use butler_host::access::Right;
use butler_memory::Memory;
use butler_memory::browse::Listed;
use butler_memory::conflicts::{Conflict, Listing, Resolution, ResolveInput};
use butler_memory::times::DateTexts;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::envelope::{List, Single, WithHome};
use super::error::ApiError;
use super::facts::{ButlerQuery, IdPath};
use super::operation::{Operation, RequestContext, Verb};
use super::page::Paging;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConflictState {
    /// Nobody resolved it, and both facts are active.
    #[default]
    Open,
    Resolved,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ConflictQuery {
    /// Default: open.
    state: Option<ConflictState>,
    /// Only conflicts in this butler's database.
    butler: Option<String>,
    #[serde(flatten)]
    paging: Paging,
}

pub struct ListConflicts;

impl Operation for ListConflicts {
    type Path = ();
    type Query = ConflictQuery;
    type Body = ();
    type Answer = List<WithHome<Conflict>>;

    const ID: &'static str = "listConflicts";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/conflicts";
    const TAG: &'static str = "conflicts";
    const SUMMARY: &'static str = "List pairs of facts that contradict or repeat each other, newest first.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: ConflictQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, only) = (&ctx, query.butler.as_deref());
        let request = ctx.page_request(query.paging, only)?.cursor_only_if(false)?;
        let open = query.state.unwrap_or_default() == ConflictState::Open;
        let part = |memory: Arc<Memory>, page: butler_memory::browse::Page| async move {
            let listing = Listing { open, id: None, limit: page.limit, offset: page.offset };
            let found = memory.list_conflicts(&ctx.call(&memory), listing).await?;
            Ok(Listed { rows: found.conflicts, total: found.total })
        };
        let key = |conflict: &Conflict| (std::cmp::Reverse(conflict.detected_at), conflict.id);
        ctx.page(only, request, part, |a, b| key(a).cmp(&key(b)), |_| None).await
    }
}

/// How to resolve a conflict.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveBody {
    resolution: Resolution,
    /// For `merge`: the text that says what both facts said.
    content: Option<String>,
    /// For `keep_both`: the scope that b belongs to.
    scope: Option<String>,
    /// For `keep_both`: since when b is true: a year, month, day or time.
    valid_from: Option<String>,
    /// For `keep_both`: from when on b is no longer true.
    valid_to: Option<String>,
}

pub struct ResolveConflict;

impl Operation for ResolveConflict {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ResolveBody;
    type Answer = Single<WithHome<Conflict>>;

    const ID: &'static str = "resolveConflict";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/conflicts/{id}/resolve";
    const TAG: &'static str = "conflicts";
    const SUMMARY: &'static str = "Resolve a conflict: keep one fact or both, merge them, or forget both.";
    const RIGHT: Right = Right::Admin;

    async fn run(
        ctx: RequestContext,
        path: IdPath,
        query: ButlerQuery,
        body: ResolveBody,
    ) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query, path.id).await?;
        let call = ctx.call(&memory);
        let texts =
            DateTexts { valid_from: body.valid_from.as_deref(), valid_to: body.valid_to.as_deref(), observed_at: None };
        let input = ResolveInput {
            resolution: body.resolution,
            content: body.content.as_deref().map(validate::content).transpose()?,
            scope: body.scope.map(Scope::new).transpose().map_err(Invalid::from)?,
            dates: memory.stated(call.now, texts)?,
        };
        let item = memory.resolve_conflict(&call, path.id, &input).await?.ok_or_else(|| gone(path.id))?;
        Ok(Single::new(WithHome { home, item }))
    }
}

pub struct ReopenConflict;

impl Operation for ReopenConflict {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<Conflict>>;

    const ID: &'static str = "reopenConflict";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/conflicts/{id}/reopen";
    const TAG: &'static str = "conflicts";
    const SUMMARY: &'static str =
        "Undo the resolution of a conflict: restore the facts that it made inactive, and open it again.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query, path.id).await?;
        let item = memory.reopen_conflict(&ctx.call(&memory), path.id).await?.ok_or_else(|| gone(path.id))?;
        Ok(Single::new(WithHome { home, item }))
    }
}

/// The memory that holds the conflict.
async fn home(ctx: &RequestContext, query: &ButlerQuery, id: Uuid) -> Result<(String, Arc<Memory>), ApiError> {
    ctx.home(query.butler.as_deref(), &format!("conflict with id {id}"), |memory| async move {
        Ok(memory.get_conflict(&ctx.call(&memory), id).await?.is_some())
    })
    .await
}

fn gone(id: Uuid) -> ApiError {
    ApiError::not_found(format!("there is no conflict with id {id}"))
}
