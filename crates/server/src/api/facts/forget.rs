//! `DELETE /api/memory/facts/{id}`: it is retracted, stays on record, and is never retrieved again.

use butler_domain::MemoryType;
use butler_host::access::Right;
use butler_memory::Forgotten;

use super::{ById, In, gone, home};
use crate::api::answer::{At, One};
use crate::api::error::ApiError;
use crate::api::operation::{Asked, Operation, Verb};

pub struct ForgetFact;

impl Operation for ForgetFact {
    type Path = ById;
    type Query = In;
    type Body = ();
    type Answer = One<At<Forgotten>>;

    const ID: &'static str = "forgetFact";
    const VERB: Verb = Verb::Delete;
    const PATH: &'static str = "/api/memory/facts/{id}";
    const TAG: &'static str = "facts";
    const SUMMARY: &'static str = "Forget a fact: it is retracted; restoreFact takes that back.";
    const RIGHT: Right = Right::Write;

    async fn run(asked: Asked, path: ById, place: In, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&asked, &place, path.id).await?;
        let forgotten = memory.forget(&asked.call(&memory), MemoryType::Fact, path.id).await?;
        Ok(One::of(At { home, item: forgotten.ok_or_else(|| gone(path.id))? }))
    }
}
