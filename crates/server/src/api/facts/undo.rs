//! `POST /api/memory/facts/{id}/undo`: undoes a confirmation.

use butler_domain::MemoryType;
use butler_host::access::Right;
use butler_memory::Restored;

use super::{ButlerQuery, IdPath, gone, home};
use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::operation::{Operation, RequestContext, Verb};

pub struct UndoFact;

impl Operation for UndoFact {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<Restored>>;

    const ID: &'static str = "undoFactFeedback";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/facts/{id}/undo";
    const TAG: &'static str = "facts";
    const SUMMARY: &'static str =
        "Undo the last confirmation of a fact. An error if anything else happened to it since.";
    const RIGHT: Right = Right::Write;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query, path.id).await?;
        let undone = memory.undo_feedback(&ctx.call(&memory), MemoryType::Fact, path.id).await?;
        Ok(Single::new(WithHome { home, item: undone.ok_or_else(|| gone(path.id))? }))
    }
}
