//! `PUT /api/memory/facts/{id}`: a correction is a newer version, which supersedes the old one.

use butler_domain::{FactId, Permanence, Scope, validate};
use butler_host::access::Right;
use butler_memory::FactChanges;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{ById, In, gone, home};
use crate::api::answer::{At, One};
use crate::api::error::ApiError;
use crate::api::operation::{Asked, Operation, Verb};

/// What is left out stays as it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    content: Option<String>,
    #[schemars(range(min = 0.0, max = 10.0))]
    importance: Option<f64>,
    permanence: Option<Permanence>,
    tags: Option<Vec<String>>,
    /// May be repeated, not changed: another subject is another fact.
    subject: Option<String>,
    /// May be repeated, not changed.
    predicate: Option<String>,
    /// May be repeated, not changed.
    scope: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct EditedFact {
    /// The new version.
    pub id: Uuid,
    /// The version it replaced.
    pub superseded_id: Option<Uuid>,
}

pub struct EditFact;

impl Operation for EditFact {
    type Path = ById;
    type Query = In;
    type Body = Change;
    type Answer = One<At<EditedFact>>;

    const ID: &'static str = "editFact";
    const VERB: Verb = Verb::Put;
    const PATH: &'static str = "/api/memory/facts/{id}";
    const TAG: &'static str = "facts";
    const SUMMARY: &'static str = "Correct a fact: stores a newer version that supersedes it.";
    const RIGHT: Right = Right::Write;

    async fn run(asked: Asked, path: ById, place: In, body: Change) -> Result<Self::Answer, ApiError> {
        let changes = checked(body)?;
        let (home, memory) = home(&asked, &place, path.id).await?;
        let call = asked.call(&memory);
        let edited = memory.edit_fact(&call, FactId(path.id), &changes).await?.ok_or_else(|| gone(path.id))?;
        let item = EditedFact { id: edited.id.0, superseded_id: edited.superseded_id.map(|id| id.0) };
        Ok(One::of(At { home, item }))
    }
}

fn checked(body: Change) -> Result<FactChanges, ApiError> {
    let changes = FactChanges {
        content: body.content.as_deref().map(validate::content).transpose()?,
        importance: body.importance.map(|value| validate::importance(&Value::from(value))).transpose()?,
        permanence: body.permanence,
        tags: body.tags.map(|tags| validate::tags(&Value::from(tags))).transpose()?,
        subject: body.subject.as_deref().map(validate::subject).transpose()?,
        predicate: body.predicate.as_deref().map(validate::predicate).transpose()?,
        scope: body.scope.map(Scope::new).transpose().map_err(butler_domain::Invalid::from)?,
    };
    let nothing = FactChanges { subject: None, predicate: None, scope: None, ..changes.clone() };
    if nothing == FactChanges::default() {
        let invalid = butler_domain::Invalid::new("body", "says nothing to change");
        return Err(invalid.hint("give content, importance, permanence or tags").into());
    }
    Ok(changes)
}
