//! `POST /api/memory/rules/{id}/helpful` and `/harmful`: records whether a rule helped or did harm.

use butler_domain::{RuleId, validate};
use butler_host::access::Right;
use butler_memory::MarkNote;
use butler_memory::views::RuleView;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{gone, home};
use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::{ButlerQuery, IdPath};
use crate::api::operation::{Operation, RequestContext, Verb};

pub struct MarkHelpful;

impl Operation for MarkHelpful {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<RuleView>>;

    const ID: &'static str = "markRuleHelpful";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/rules/{id}/helpful";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str = "Mark a rule as helpful.";
    const RIGHT: Right = Right::Write;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query, path.id).await?;
        let marked = memory.mark_helpful(&ctx.call(&memory), RuleId(path.id), &MarkNote::default()).await?;
        Ok(Single::new(WithHome { home, item: marked.ok_or_else(|| gone(path.id))? }))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HarmfulBody {
    /// Why the rule did harm.
    reason: Option<String>,
}

pub struct MarkHarmful;

impl Operation for MarkHarmful {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = HarmfulBody;
    type Answer = Single<WithHome<RuleView>>;

    const ID: &'static str = "markRuleHarmful";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/rules/{id}/harmful";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str = "Mark a rule as harmful. Enough harmful marks turn it into a warning.";
    const RIGHT: Right = Right::Write;

    async fn run(
        ctx: RequestContext,
        path: IdPath,
        query: ButlerQuery,
        body: HarmfulBody,
    ) -> Result<Self::Answer, ApiError> {
        let reason = body.reason.as_deref().map(validate::reason).transpose()?.flatten();
        let (home, memory) = home(&ctx, &query, path.id).await?;
        let note = MarkNote { reason, ..MarkNote::default() };
        let marked = memory.mark_harmful(&ctx.call(&memory), RuleId(path.id), &note).await?;
        Ok(Single::new(WithHome { home, item: marked.ok_or_else(|| gone(path.id))? }))
    }
}
