//! `POST /api/memory/rules/{id}/confirm`: it still works, so its decay starts anew.

use butler_domain::MemoryType;
use butler_host::access::Right;
use butler_memory::Confirmed;

use super::{gone, home};
use crate::api::answer::{At, One};
use crate::api::error::ApiError;
use crate::api::facts::{ById, In};
use crate::api::operation::{Asked, Operation, Verb};

pub struct ConfirmRule;

impl Operation for ConfirmRule {
    type Path = ById;
    type Query = In;
    type Body = ();
    type Answer = One<At<Confirmed>>;

    const ID: &'static str = "confirmRule";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/rules/{id}/confirm";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str = "Confirm a rule: its decay starts anew.";
    const RIGHT: Right = Right::Write;

    async fn run(asked: Asked, path: ById, place: In, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&asked, &place, path.id).await?;
        let confirmed = memory.confirm(&asked.call(&memory), MemoryType::Rule, path.id).await?;
        Ok(One::of(At { home, item: confirmed.ok_or_else(|| gone(path.id))? }))
    }
}
