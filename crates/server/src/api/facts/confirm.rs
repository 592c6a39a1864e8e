//! `POST /api/memory/facts/{id}/confirm`: confirms that a fact is still true, which restarts its decay.

use butler_domain::MemoryType;
use butler_host::access::Right;
use butler_memory::Confirmed;

use super::{ButlerQuery, IdPath, gone, home};
use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::operation::{Operation, RequestContext, Verb};

pub struct ConfirmFact;

impl Operation for ConfirmFact {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<Confirmed>>;

    const ID: &'static str = "confirmFact";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/facts/{id}/confirm";
    const TAG: &'static str = "facts";
    const SUMMARY: &'static str = "Confirm a fact. This restarts its decay.";
    const RIGHT: Right = Right::Write;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query, path.id).await?;
        let confirmed = memory.confirm(&ctx.call(&memory), MemoryType::Fact, path.id).await?;
        Ok(Single::new(WithHome { home, item: confirmed.ok_or_else(|| gone(path.id))? }))
    }
}
