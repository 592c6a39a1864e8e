//! `POST /api/memory/facts/{id}/restore`: undoes forgetting or editing a fact.

use butler_domain::FactId;
use butler_host::access::Right;
use butler_memory::Restored;

use super::{ButlerQuery, IdPath, gone, home};
use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::operation::{Operation, RequestContext, Verb};

pub struct RestoreFact;

impl Operation for RestoreFact {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<Restored>>;

    const ID: &'static str = "restoreFact";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/facts/{id}/restore";
    const TAG: &'static str = "facts";
    const SUMMARY: &'static str = "Restore a fact: a forgotten or expired fact becomes active again, \
         a superseded one replaces its newer version.";
    const RIGHT: Right = Right::Write;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query, path.id).await?;
        let restored = memory.restore_fact(&ctx.call(&memory), FactId(path.id)).await?;
        Ok(Single::new(WithHome { home, item: restored.ok_or_else(|| gone(path.id))? }))
    }
}
