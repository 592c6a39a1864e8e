//! `POST /api/memory/facts/{id}/confirm`: still true, so its decay starts anew.

use butler_domain::MemoryType;
use butler_host::access::Right;
use butler_memory::Confirmed;

use super::{ById, In, gone, home};
use crate::api::answer::{At, One};
use crate::api::error::ApiError;
use crate::api::operation::{Asked, Operation, Verb};

pub struct ConfirmFact;

impl Operation for ConfirmFact {
    type Path = ById;
    type Query = In;
    type Body = ();
    type Answer = One<At<Confirmed>>;

    const ID: &'static str = "confirmFact";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/facts/{id}/confirm";
    const TAG: &'static str = "facts";
    const SUMMARY: &'static str = "Confirm a fact: its decay starts anew.";
    const RIGHT: Right = Right::Write;

    async fn run(asked: Asked, path: ById, place: In, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&asked, &place, path.id).await?;
        let confirmed = memory.confirm(&asked.call(&memory), MemoryType::Fact, path.id).await?;
        Ok(One::of(At { home, item: confirmed.ok_or_else(|| gone(path.id))? }))
    }
}
