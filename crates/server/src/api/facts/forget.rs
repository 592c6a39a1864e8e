//! `DELETE /api/memory/facts/{id}`: retracts a fact. It stays on record but is no longer retrieved.

use butler_domain::MemoryType;
use butler_host::access::Right;
use butler_memory::Forgotten;

use super::{ButlerQuery, IdPath, gone, home};
use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::operation::{Operation, RequestContext, Verb};

pub struct ForgetFact;

impl Operation for ForgetFact {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<Forgotten>>;

    const ID: &'static str = "forgetFact";
    const VERB: Verb = Verb::Delete;
    const PATH: &'static str = "/api/memory/facts/{id}";
    const TAG: &'static str = "facts";
    const SUMMARY: &'static str =
        "Forget a fact: retract it, so that it is no longer retrieved. restoreFact undoes this.";
    const RIGHT: Right = Right::Write;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query, path.id).await?;
        let forgotten = memory.forget(&ctx.call(&memory), MemoryType::Fact, path.id).await?;
        Ok(Single::new(WithHome { home, item: forgotten.ok_or_else(|| gone(path.id))? }))
    }
}
