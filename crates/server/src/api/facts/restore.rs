//! `POST /api/memory/facts/{id}/restore`: the undo of forgetting and of editing.

use butler_domain::FactId;
use butler_host::access::Right;
use butler_memory::Restored;

use super::{ById, In, gone, home};
use crate::api::answer::{At, One};
use crate::api::error::ApiError;
use crate::api::operation::{Asked, Operation, Verb};

pub struct RestoreFact;

impl Operation for RestoreFact {
    type Path = ById;
    type Query = In;
    type Body = ();
    type Answer = One<At<Restored>>;

    const ID: &'static str = "restoreFact";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/facts/{id}/restore";
    const TAG: &'static str = "facts";
    const SUMMARY: &'static str =
        "Undo: a forgotten or expired fact is active again; a replaced one takes back the place of its newer version.";
    const RIGHT: Right = Right::Write;

    async fn run(asked: Asked, path: ById, place: In, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&asked, &place, path.id).await?;
        let restored = memory.restore_fact(&asked.call(&memory), FactId(path.id)).await?;
        Ok(One::of(At { home, item: restored.ok_or_else(|| gone(path.id))? }))
    }
}
