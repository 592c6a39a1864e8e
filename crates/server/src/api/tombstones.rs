//! `GET /api/memory/tombstones` and `POST …/{id}/allow`: what was forgotten and must not be learned again.

use std::cmp::Reverse;
use std::sync::Arc;

use butler_host::access::Right;
use butler_memory::Memory;
use butler_memory::browse::Tombstone;
use butler_memory::review::AllowedAgain;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::envelope::{List, Single, WithHome};
use super::error::ApiError;
use super::facts::{ButlerQuery, IdPath};
use super::operation::{Operation, RequestContext, Verb};
use super::page::Paging;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct TombstoneQuery {
    /// Only memories of this butler's database.
    butler: Option<String>,
    /// Only statements that were stored again and suppressed.
    #[serde(default)]
    suppressed: bool,
    #[serde(flatten)]
    paging: Paging,
}

pub struct ListTombstones;

impl Operation for ListTombstones {
    type Path = ();
    type Query = TombstoneQuery;
    type Body = ();
    type Answer = List<WithHome<Tombstone>>;

    const ID: &'static str = "listTombstones";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/tombstones";
    const TAG: &'static str = "trust";
    const SUMMARY: &'static str =
        "List what was forgotten or erased and is not learned again, what came again last first.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: TombstoneQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, only, suppressed) = (&ctx, query.butler.as_deref(), query.suppressed);
        let request = ctx.page_request(query.paging, only)?.cursor_only_if(false)?;
        let part = |memory: Arc<Memory>, page| async move {
            Ok(memory.tombstones(&ctx.call(&memory), suppressed, page).await?)
        };
        let key = |stone: &Tombstone| (Reverse(stone.suppressed_at), Reverse(stone.forgotten_at), stone.id);
        ctx.page(only, request, part, |a, b| key(a).cmp(&key(b)), |_| None).await
    }
}

pub struct AllowAgain;

impl Operation for AllowAgain {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<AllowedAgain>>;

    const ID: &'static str = "allowAgain";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/tombstones/{id}/allow";
    const TAG: &'static str = "trust";
    const SUMMARY: &'static str = "Allow what was forgotten or erased to be learned again.";
    const RIGHT: Right = Right::Write;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let what = format!("forgotten memory with id {}", path.id);
        let (home, memory) = ctx
            .home(query.butler.as_deref(), &what, |memory| {
                let ctx = &ctx;
                async move { Ok(memory.has_tombstone(&ctx.call(&memory), path.id).await?) }
            })
            .await?;
        let allowed = memory.allow_again(&ctx.call(&memory), path.id).await?;
        Ok(Single::new(WithHome { home, item: allowed.ok_or_else(|| gone(path.id))? }))
    }
}

fn gone(id: Uuid) -> ApiError {
    ApiError::not_found(format!("there is no forgotten memory with id {id}"))
}
