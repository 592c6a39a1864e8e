//! `POST /api/memory/facts/{id}/undo`: undoes a confirmation.

use butler_domain::{MemoryType, Timestamp};
use butler_host::access::Right;
use butler_memory::Restored;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{ButlerQuery, IdPath, gone, home};
use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::operation::{Operation, RequestContext, Verb};

/// Which confirmation or mark to undo.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct UndoQuery {
    #[serde(flatten)]
    pub butler: ButlerQuery,
    /// When you made it: `last_confirmed_at` in the response to a confirmation, `last_applied_at` in the response to a mark.
    /// Default: the last confirmation or mark, if it is yours.
    pub at: Option<Timestamp>,
}

pub struct UndoFact;

impl Operation for UndoFact {
    type Path = IdPath;
    type Query = UndoQuery;
    type Body = ();
    type Answer = Single<WithHome<Restored>>;

    const ID: &'static str = "undoFactFeedback";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/facts/{id}/undo";
    const TAG: &'static str = "facts";
    const SUMMARY: &'static str = "Undo a confirmation of a fact. An error if anything else happened to it since.";
    const RIGHT: Right = Right::Write;

    async fn run(ctx: RequestContext, path: IdPath, query: UndoQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query.butler, path.id).await?;
        let undone = memory.undo_feedback(&ctx.call(&memory), MemoryType::Fact, path.id, query.at).await?;
        Ok(Single::new(WithHome { home, item: undone.ok_or_else(|| gone(path.id))? }))
    }
}
