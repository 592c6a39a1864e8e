//! `POST /api/memory/rules/{id}/undo`: undoes a confirmation or a mark.

use butler_domain::MemoryType;
use butler_host::access::Right;
use butler_memory::Restored;

use super::{gone, home};
use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::IdPath;
use crate::api::facts::undo::UndoQuery;
use crate::api::operation::{Operation, RequestContext, Verb};

pub struct UndoRule;

impl Operation for UndoRule {
    type Path = IdPath;
    type Query = UndoQuery;
    type Body = ();
    type Answer = Single<WithHome<Restored>>;

    const ID: &'static str = "undoRuleFeedback";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/rules/{id}/undo";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str =
        "Undo a confirmation or mark of a rule. An error if anything else happened to it since.";
    const RIGHT: Right = Right::Write;

    async fn run(ctx: RequestContext, path: IdPath, query: UndoQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query.butler, path.id).await?;
        let undone = memory.undo_feedback(&ctx.call(&memory), MemoryType::Rule, path.id, query.at).await?;
        Ok(Single::new(WithHome { home, item: undone.ok_or_else(|| gone(path.id))? }))
    }
}
