//! `POST /api/memory/rules/{id}/restore`: undoes forgetting or editing a rule.

use butler_domain::RuleId;
use butler_host::access::Right;
use butler_memory::Restored;

use super::{gone, home};
use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::{ButlerQuery, IdPath};
use crate::api::operation::{Operation, RequestContext, Verb};

pub struct RestoreRule;

impl Operation for RestoreRule {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<Restored>>;

    const ID: &'static str = "restoreRule";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/rules/{id}/restore";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str =
        "Restore a rule: a forgotten rule is retrieved again, an edited one gets its previous text and maturity back.";
    const RIGHT: Right = Right::Write;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query, path.id).await?;
        let restored = memory.restore_rule(&ctx.call(&memory), RuleId(path.id)).await?;
        Ok(Single::new(WithHome { home, item: restored.ok_or_else(|| gone(path.id))? }))
    }
}
