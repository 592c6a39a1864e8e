//! `POST /api/memory/rules/{id}/helpful` and `/harmful`: how it went.

use butler_domain::{RuleId, validate};
use butler_host::access::Right;
use butler_memory::views::RuleView;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{gone, home};
use crate::api::answer::{At, One};
use crate::api::error::ApiError;
use crate::api::facts::{ById, In};
use crate::api::operation::{Asked, Operation, Verb};

pub struct MarkHelpful;

impl Operation for MarkHelpful {
    type Path = ById;
    type Query = In;
    type Body = ();
    type Answer = One<At<RuleView>>;

    const ID: &'static str = "markRuleHelpful";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/rules/{id}/helpful";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str = "The rule helped.";
    const RIGHT: Right = Right::Write;

    async fn run(asked: Asked, path: ById, place: In, (): ()) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&asked, &place, path.id).await?;
        let marked = memory.mark_helpful(&asked.call(&memory), RuleId(path.id)).await?;
        Ok(One::of(At { home, item: marked.ok_or_else(|| gone(path.id))? }))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Why {
    /// What went wrong.
    reason: Option<String>,
}

pub struct MarkHarmful;

impl Operation for MarkHarmful {
    type Path = ById;
    type Query = In;
    type Body = Why;
    type Answer = One<At<RuleView>>;

    const ID: &'static str = "markRuleHarmful";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/rules/{id}/harmful";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str = "The rule did harm; enough of that turns it into a warning.";
    const RIGHT: Right = Right::Write;

    async fn run(asked: Asked, path: ById, place: In, body: Why) -> Result<Self::Answer, ApiError> {
        let reason = body.reason.as_deref().map(validate::reason).transpose()?.flatten();
        let (home, memory) = home(&asked, &place, path.id).await?;
        let marked = memory.mark_harmful(&asked.call(&memory), RuleId(path.id), reason.as_deref()).await?;
        Ok(One::of(At { home, item: marked.ok_or_else(|| gone(path.id))? }))
    }
}
