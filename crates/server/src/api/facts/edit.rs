//! `PUT /api/memory/facts/{id}`: stores a corrected version, which supersedes the old one.

use butler_domain::times::{DateField, StatedDates};
use butler_domain::{FactId, Permanence, Scope, validate};
use butler_host::access::Right;
use butler_memory::FactChanges;
use butler_memory::times::DateTexts;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{ButlerQuery, IdPath, gone, home};
use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::operation::{Operation, RequestContext, Verb};

/// Missing fields keep their values. Null removes `valid_from` or `valid_to`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditBody {
    content: Option<String>,
    #[schemars(range(min = 0.0, max = 10.0))]
    importance: Option<f64>,
    permanence: Option<Permanence>,
    tags: Option<Vec<String>>,
    /// Another subject links the fact to the entity that it names.
    subject: Option<String>,
    predicate: Option<String>,
    /// Moves the fact to this scope.
    scope: Option<String>,
    /// Since when it is true: a year, month, day or time. Null: unknown.
    #[serde(default, deserialize_with = "given")]
    valid_from: Option<Option<String>>,
    /// From when on it is no longer true. Null: unknown.
    #[serde(default, deserialize_with = "given")]
    valid_to: Option<Option<String>>,
    /// When the source said it.
    observed_at: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct EditedFact {
    /// Id of the new version.
    pub id: Uuid,
    /// Id of the version that it supersedes.
    pub superseded_id: Option<Uuid>,
}

pub struct EditFact;

impl Operation for EditFact {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = EditBody;
    type Answer = Single<WithHome<EditedFact>>;

    const ID: &'static str = "editFact";
    const VERB: Verb = Verb::Put;
    const PATH: &'static str = "/api/memory/facts/{id}";
    const TAG: &'static str = "facts";
    const SUMMARY: &'static str = "Correct a fact: store a new version that supersedes it.";
    const RIGHT: Right = Right::Write;

    async fn run(
        ctx: RequestContext,
        path: IdPath,
        query: ButlerQuery,
        body: EditBody,
    ) -> Result<Self::Answer, ApiError> {
        let (home, memory) = home(&ctx, &query, path.id).await?;
        let call = ctx.call(&memory);
        let texts = DateTexts {
            valid_from: body.valid_from.as_ref().and_then(Option::as_deref),
            valid_to: body.valid_to.as_ref().and_then(Option::as_deref),
            observed_at: body.observed_at.as_deref(),
        };
        let mut dates = memory.stated(call.now, texts)?;
        let of_null = |date: &Option<Option<String>>, field| (*date == Some(None)).then_some(field);
        dates.removed = of_null(&body.valid_from, DateField::ValidFrom)
            .into_iter()
            .chain(of_null(&body.valid_to, DateField::ValidTo))
            .collect();
        let changes = checked(body, dates)?;
        let edited = memory.edit_fact(&call, FactId(path.id), &changes).await?.ok_or_else(|| gone(path.id))?;
        let item = EditedFact { id: edited.id.0, superseded_id: edited.superseded_id.map(|id| id.0) };
        Ok(Single::new(WithHome { home, item }))
    }
}

/// Tells null from a field that is missing.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

fn checked(body: EditBody, dates: StatedDates) -> Result<FactChanges, ApiError> {
    let changes = FactChanges {
        content: body.content.as_deref().map(validate::content).transpose()?,
        importance: body.importance.map(|value| validate::importance(&Value::from(value))).transpose()?,
        permanence: body.permanence,
        tags: body.tags.map(|tags| validate::tags(&Value::from(tags))).transpose()?,
        subject: body.subject.as_deref().map(validate::subject).transpose()?,
        predicate: body.predicate.as_deref().map(validate::predicate).transpose()?,
        scope: body.scope.map(Scope::new).transpose().map_err(butler_domain::Invalid::from)?,
        dates,
    };
    if changes == FactChanges::default() {
        let invalid = butler_domain::Invalid::new("body", "contains no change");
        let hint = "pass content, subject, predicate, scope, importance, permanence, tags or dates";
        return Err(invalid.hint(hint).into());
    }
    Ok(changes)
}
