//! `GET /api/memory/dead-letters` and `POST …/requeue`: episodes whose consolidation failed too often.

use std::sync::Arc;

use butler_domain::EpisodeId;
use butler_host::access::Right;
use butler_memory::Memory;
use butler_memory::browse::DeadLetter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::envelope::{List, Meta, Single, WithHome};
use super::error::ApiError;
use super::facts::ButlerQuery;
use super::operation::{Operation, RequestContext, Verb};
use super::page::Paging;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeadLetterQuery {
    /// Only episodes in this butler's database.
    butler: Option<String>,
    #[serde(flatten)]
    paging: Paging,
}

pub struct ListDeadLetters;

impl Operation for ListDeadLetters {
    type Path = ();
    type Query = DeadLetterQuery;
    type Body = ();
    type Answer = List<WithHome<DeadLetter>>;

    const ID: &'static str = "listDeadLetters";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/dead-letters";
    const TAG: &'static str = "jobs";
    const SUMMARY: &'static str =
        "List episodes whose consolidation attempts are used up, oldest first, with the last error.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: DeadLetterQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, only) = (&ctx, query.butler.as_deref());
        let request = ctx.page_request(query.paging, only)?.cursor_only_if(false)?;
        let part =
            |memory: Arc<Memory>, page| async move { Ok(memory.dead_letters_page(&ctx.call(&memory), page).await?) };
        let key = |letter: &DeadLetter| (letter.created_at, letter.id);
        ctx.page(only, request, part, |a, b| key(a).cmp(&key(b)), |_| None).await
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequeueBody {
    /// The episodes to requeue. Default: all dead letters.
    ids: Option<Vec<Uuid>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Requeued {
    /// Number of episodes that wait for consolidation again.
    pub requeued: u64,
}

pub struct RequeueDeadLetters;

impl Operation for RequeueDeadLetters {
    type Path = ();
    type Query = ButlerQuery;
    type Body = RequeueBody;
    type Answer = Single<Requeued>;

    const ID: &'static str = "requeueDeadLetters";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/dead-letters/requeue";
    const TAG: &'static str = "jobs";
    const SUMMARY: &'static str = "Requeue dead letters: reset their attempts, so that consolidation tries them again.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, (): (), query: ButlerQuery, body: RequeueBody) -> Result<Self::Answer, ApiError> {
        let ctx = &ctx;
        let ids: Option<Vec<EpisodeId>> = body.ids.map(|ids| ids.into_iter().map(EpisodeId).collect());
        let ids = ids.as_deref();
        let replies = ctx
            .each(query.butler.as_deref(), |memory| async move {
                Ok(memory.requeue_dead_letters(&ctx.call(&memory), ids).await?)
            })
            .await?;
        let requeued = replies.parts.iter().map(|(_, count)| count).sum();
        Ok(Single { data: Requeued { requeued }, meta: Meta::new(replies.unavailable) })
    }
}
