use std::str::FromStr;

use butler_domain::{Scope, UnknownName, limits, validate};
use butler_store::conflicts::Listing;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::optional;
use super::times::Dates;
use crate::conflicts::{Conflicts, Resolution, ResolveInput};
use crate::tool::{Annotations, Right, ToolDefinition};
use crate::{Call, Memory, MemoryError};

/// What to do with conflicts.
#[derive(Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Action {
    List,
    Resolve,
    Reopen,
}

impl FromStr for Action {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        match text {
            "list" => Ok(Self::List),
            "resolve" => Ok(Self::Resolve),
            "reopen" => Ok(Self::Reopen),
            _ => Err(UnknownName { what: "action", given: text.to_owned(), valid: &["list", "resolve", "reopen"] }),
        }
    }
}

/// Which conflicts to list.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum State {
    Open,
    Resolved,
}

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// list the conflicts, resolve one, or reopen a resolved one. Resolving and reopening need the right admin.
    /// Default: list.
    #[schemars(with = "Option<Action>")]
    action: Option<Value>,
    /// For list. Default: open.
    #[schemars(with = "Option<State>")]
    state: Option<Value>,
    /// For list: the maximum number. Default: 20.
    #[schemars(with = "Option<i64>", range(min = 1, max = limits::RESULTS))]
    limit: Option<Value>,
    /// For resolve and reopen.
    #[schemars(with = "Option<uuid::Uuid>")]
    conflict_id: Option<Value>,
    /// keep_a and keep_b forget the other fact; keep_both forgets none; merge stores `content` as a new version of a and
    /// forgets b.
    #[schemars(with = "Option<Resolution>")]
    resolution: Option<Value>,
    /// For merge: the text that says what both facts said.
    #[schemars(with = "Option<String>", length(min = 1, max = limits::CONTENT_BYTES))]
    content: Option<Value>,
    /// For keep_both: the scope that b belongs to.
    #[schemars(with = "Option<String>", length(min = 1, max = limits::NAME_BYTES))]
    scope: Option<Value>,
    /// For keep_both: since when b is true.
    #[schemars(with = "Option<String>")]
    valid_from: Option<Value>,
    /// For keep_both: from when on b is no longer true.
    #[schemars(with = "Option<String>")]
    valid_to: Option<Value>,
}

pub struct MemoryConflicts;

impl ToolDefinition for MemoryConflicts {
    type Input = Input;
    type Output = Conflicts;

    const NAME: &'static str = "memory_conflicts";
    const TITLE: &'static str = "Conflicting facts";
    const DESCRIPTION: &'static str = "Pairs of facts that contradict or repeat each other, with where each comes from, and \
        how to resolve them. Ask the user before you resolve one. A forgotten fact can be restored.";
    const COMMAND: Option<&'static str> = Some("butler conflicts");
    const ANNOTATIONS: Annotations = Annotations::REPLACE;
    const RIGHT: Right = Right::Read;
    const READING_ACTIONS: &'static [&'static str] = &["list"];
    const EMBEDS: bool = true;

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<Conflicts, MemoryError> {
        let action =
            optional(input.action.as_ref(), |value| validate::one_of("action", validate::string("action", value)?))?;
        let action = action.unwrap_or(Action::List);
        if action == Action::List {
            let limit =
                optional(input.limit.as_ref(), |value| validate::whole_number("limit", value, 1, limits::RESULTS))?;
            let open = optional(input.state.as_ref(), |value| match validate::string("state", value)? {
                "open" => Ok(true),
                "resolved" => Ok(false),
                other => {
                    Err(validate::Invalid::new("state", format!("is {other:?}")).hint("valid values: open, resolved"))
                }
            })?;
            let limit = i64::try_from(limit.unwrap_or(20)).unwrap_or(20);
            let listing = Listing { open: open.unwrap_or(true), id: None, limit, offset: 0 };
            return memory.list_conflicts(&call, listing).await;
        }
        let id = validate::uuid(
            "conflict_id",
            validate::string("conflict_id", &input.conflict_id.clone().unwrap_or_default())?,
        )?;
        let done = match action {
            Action::Reopen => memory.reopen_conflict(&call, id).await?,
            _ => {
                let resolution = resolution(memory, &call, &input)?;
                memory.resolve_conflict(&call, id, &resolution).await?
            }
        };
        let done = done.ok_or(MemoryError::NotListed { what: "conflict", id })?;
        Ok(Conflicts { conflicts: vec![done], total: 1 })
    }
}

fn resolution(memory: &Memory, call: &Call, input: &Input) -> Result<ResolveInput, MemoryError> {
    let resolution = validate::string("resolution", &input.resolution.clone().unwrap_or_default())?.to_owned();
    Ok(ResolveInput {
        resolution: validate::one_of("resolution", &resolution)?,
        content: optional(input.content.as_ref(), |value| validate::content(validate::string("content", value)?))?,
        scope: optional(input.scope.as_ref(), |value| Ok(Scope::new(validate::string("scope", value)?)?))?,
        dates: Dates { valid_from: &input.valid_from, valid_to: &input.valid_to, observed_at: &None }
            .read(memory, call.now)?,
    })
}
