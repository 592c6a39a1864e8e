//! `POST /api/memory/rules/{id}/restore`: the undo of forgetting and of editing.

use butler_domain::RuleId;
use butler_host::access::Right;
use butler_memory::Restored;

use super::{gone, home};
use crate::api::answer::{At, One};
use crate::api::error::ApiError;
use crate::api::facts::{ById, In};
use crate::api::operation::{Asked, Operation, Verb};

pub struct RestoreRule;

impl Operation for RestoreRule {
    type Path = ById;
    type Query = In;
    type Body = ();
    type Answer = One<At<Restored>>;

    const ID: &'static str = "restoreRule";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/rules/{id}/restore";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str =
        "Undo: a forgotten rule is remembered again; one that was just edited gets its words and its standing back.";
    const RIGHT: Right = Right::Write;

    async fn run(asked: Asked, path: ById, place: In, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&asked, &place, path.id).await?;
        let restored = memory.restore_rule(&asked.call(&memory), RuleId(path.id)).await?;
        Ok(One::of(At { home, item: restored.ok_or_else(|| gone(path.id))? }))
    }
}
