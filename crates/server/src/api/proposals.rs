//! `GET /api/memory/proposals`, `POST …/{id}/approve`, `…/reject` and `…/undo`: what waits for a person's decision.

use std::sync::Arc;

use butler_host::access::Right;
use butler_memory::Memory;
use butler_memory::review::{Decided, Proposal};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::envelope::{List, Single, WithHome};
use super::error::ApiError;
use super::facts::{ButlerQuery, IdPath};
use super::operation::{Operation, RequestContext, Verb};
use super::page::Paging;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ProposalQuery {
    /// Only proposals in this butler's database.
    butler: Option<String>,
    #[serde(flatten)]
    paging: Paging,
}

pub struct ListProposals;

impl Operation for ListProposals {
    type Path = ();
    type Query = ProposalQuery;
    type Body = ();
    type Answer = List<WithHome<Proposal>>;

    const ID: &'static str = "listProposals";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/proposals";
    const TAG: &'static str = "trust";
    const SUMMARY: &'static str =
        "List facts and rules that wait for approval, and episodes that look like instructions, oldest first.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: ProposalQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, only) = (&ctx, query.butler.as_deref());
        let request = ctx.page_request(query.paging, only)?.cursor_only_if(false)?;
        let part = |memory: Arc<Memory>, page| async move { Ok(memory.proposals(&ctx.call(&memory), page).await?) };
        let key = |proposal: &Proposal| (proposal.created_at, proposal.id);
        ctx.page(only, request, part, |a, b| key(a).cmp(&key(b)), |_| None).await
    }
}

pub struct ApproveProposal;

impl Operation for ApproveProposal {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<Decided>>;

    const ID: &'static str = "approveProposal";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/proposals/{id}/approve";
    const TAG: &'static str = "trust";
    const SUMMARY: &'static str = "Approve a proposal: the fact or rule takes effect; an episode is consolidated, and what is learned from it is proposed.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query, path.id).await?;
        ctx.require_person()?;
        let decided = memory.approve(&ctx.call(&memory), path.id).await?;
        Ok(Single::new(WithHome { home, item: decided.ok_or_else(|| gone(path.id))? }))
    }
}

pub struct RejectProposal;

impl Operation for RejectProposal {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<Decided>>;

    const ID: &'static str = "rejectProposal";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/proposals/{id}/reject";
    const TAG: &'static str = "trust";
    const SUMMARY: &'static str = "Reject a proposal for good: it is not proposed again; an episode is forgotten.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query, path.id).await?;
        ctx.require_person()?;
        let decided = memory.reject(&ctx.call(&memory), path.id).await?;
        Ok(Single::new(WithHome { home, item: decided.ok_or_else(|| gone(path.id))? }))
    }
}

pub struct UndoDecision;

impl Operation for UndoDecision {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<Decided>>;

    const ID: &'static str = "undoDecision";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/proposals/{id}/undo";
    const TAG: &'static str = "trust";
    const SUMMARY: &'static str =
        "Undo the approval or rejection of a proposal: it waits again, and what was approved is no longer known.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, id) = (&ctx, path.id);
        let (home, memory) = ctx
            .home(query.butler.as_deref(), &format!("proposal with id {id}"), |memory| async move {
                Ok(memory.has_decision(&ctx.call(&memory), id).await?)
            })
            .await?;
        ctx.require_person()?;
        let decided = memory.undo_decision(&ctx.call(&memory), id).await?;
        Ok(Single::new(WithHome { home, item: decided.ok_or_else(|| gone(id))? }))
    }
}

/// The memory that holds the proposal.
async fn home(ctx: &RequestContext, query: &ButlerQuery, id: Uuid) -> Result<(String, Arc<Memory>), ApiError> {
    ctx.home(query.butler.as_deref(), &format!("proposal with id {id}"), |memory| async move {
        Ok(memory.has_proposal(&ctx.call(&memory), id).await?)
    })
    .await
}

fn gone(id: Uuid) -> ApiError {
    ApiError::not_found(format!("there is no proposal with id {id}"))
}
