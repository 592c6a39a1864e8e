//! `PUT /api/memory/rules/{id}`: changes a rule. A rule with new text must prove itself again as a candidate.

use butler_domain::{Permanence, RuleId, Scope, validate};
use butler_host::access::Right;
use butler_memory::RuleChanges;
use butler_memory::views::RuleView;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{gone, home};
use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::{ButlerQuery, IdPath};
use crate::api::operation::{Operation, RequestContext, Verb};

/// Missing fields keep their values.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditBody {
    content: Option<String>,
    scope: Option<String>,
    permanence: Option<Permanence>,
    tags: Option<Vec<String>>,
}

pub struct EditRule;

impl Operation for EditRule {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = EditBody;
    type Answer = Single<WithHome<RuleView>>;

    const ID: &'static str = "editRule";
    const VERB: Verb = Verb::Put;
    const PATH: &'static str = "/api/memory/rules/{id}";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str =
        "Edit a rule. With new text it becomes a candidate again; its applications stay on record.";
    const RIGHT: Right = Right::Write;

    async fn run(
        ctx: RequestContext,
        path: IdPath,
        query: ButlerQuery,
        body: EditBody,
    ) -> Result<Self::Answer, ApiError> {
        let changes = RuleChanges {
            content: body.content.as_deref().map(validate::content).transpose()?,
            scope: body.scope.map(Scope::new).transpose().map_err(butler_domain::Invalid::from)?,
            permanence: body.permanence,
            tags: body.tags.map(|tags| validate::tags(&Value::from(tags))).transpose()?,
        };
        if changes == RuleChanges::default() {
            let invalid = butler_domain::Invalid::new("body", "contains no change");
            return Err(invalid.hint("pass content, scope, permanence or tags").into());
        }
        let (home, memory) = home(&ctx, &query, path.id).await?;
        let rule = memory.edit_rule(&ctx.call(&memory), RuleId(path.id), &changes).await?;
        Ok(Single::new(WithHome { home, item: RuleView::at(rule.ok_or_else(|| gone(path.id))?, ctx.now) }))
    }
}
