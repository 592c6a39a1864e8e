//! `DELETE /api/memory/rules/{id}`: forgets a rule. It stays on record but is no longer retrieved.

use butler_domain::MemoryType;
use butler_host::access::Right;
use butler_memory::Forgotten;

use super::{gone, home};
use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::{ButlerQuery, IdPath};
use crate::api::operation::{Operation, RequestContext, Verb};

pub struct ForgetRule;

impl Operation for ForgetRule {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<Forgotten>>;

    const ID: &'static str = "forgetRule";
    const VERB: Verb = Verb::Delete;
    const PATH: &'static str = "/api/memory/rules/{id}";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str =
        "Forget a rule: it stays on record but is no longer retrieved. restoreRule undoes this.";
    const RIGHT: Right = Right::Write;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query, path.id).await?;
        let forgotten = memory.forget(&ctx.call(&memory), MemoryType::Rule, path.id).await?;
        Ok(Single::new(WithHome { home, item: forgotten.ok_or_else(|| gone(path.id))? }))
    }
}
