//! `PUT /api/memory/rules/{id}`: other words are another rule to be tried: it is a candidate again.

use butler_domain::{Permanence, RuleId, Scope, validate};
use butler_host::access::Right;
use butler_memory::RuleChanges;
use butler_memory::views::RuleView;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{gone, home};
use crate::api::answer::{At, One};
use crate::api::error::ApiError;
use crate::api::facts::{ById, In};
use crate::api::operation::{Asked, Operation, Verb};

/// What is left out stays as it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    content: Option<String>,
    scope: Option<String>,
    permanence: Option<Permanence>,
    tags: Option<Vec<String>>,
}

pub struct EditRule;

impl Operation for EditRule {
    type Path = ById;
    type Query = In;
    type Body = Change;
    type Answer = One<At<RuleView>>;

    const ID: &'static str = "editRule";
    const VERB: Verb = Verb::Put;
    const PATH: &'static str = "/api/memory/rules/{id}";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str = "Reword a rule: it is a candidate again; its applications stay on record.";
    const RIGHT: Right = Right::Write;

    async fn run(asked: Asked, path: ById, place: In, body: Change) -> Result<Self::Answer, ApiError> {
        let changes = RuleChanges {
            content: body.content.as_deref().map(validate::content).transpose()?,
            scope: body.scope.map(Scope::new).transpose().map_err(butler_domain::Invalid::from)?,
            permanence: body.permanence,
            tags: body.tags.map(|tags| validate::tags(&Value::from(tags))).transpose()?,
        };
        if changes == RuleChanges::default() {
            let invalid = butler_domain::Invalid::new("body", "says nothing to change");
            return Err(invalid.hint("give content, scope, permanence or tags").into());
        }
        let (home, memory) = home(&asked, &place, path.id).await?;
        let rule = memory.edit_rule(&asked.call(&memory), RuleId(path.id), &changes).await?;
        Ok(One::of(At { home, item: RuleView::at(rule.ok_or_else(|| gone(path.id))?, asked.now) }))
    }
}
