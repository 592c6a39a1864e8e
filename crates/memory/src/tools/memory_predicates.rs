use std::str::FromStr;

use butler_domain::{Cardinality, EntityType, UnknownName, limits, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::optional;
use crate::predicates::{PredicateInput, Predicates};
use crate::tool::{Annotations, Right, ToolDefinition};
use crate::{Call, Memory, MemoryError};

/// What to do with predicates.
#[derive(Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Action {
    List,
    Search,
    Register,
    Update,
}

impl FromStr for Action {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        const NAMES: &[&str] = &["list", "search", "register", "update"];
        match text {
            "list" => Ok(Self::List),
            "search" => Ok(Self::Search),
            "register" => Ok(Self::Register),
            "update" => Ok(Self::Update),
            _ => Err(UnknownName { what: "action", given: text.to_owned(), valid: NAMES }),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// list all of them, search for one by meaning, register a new one, or update a known one.
    #[schemars(with = "Action")]
    action: Value,
    /// For search: the relation in words, such as "who somebody works for".
    #[schemars(with = "Option<String>", length(min = 1, max = limits::QUERY_BYTES))]
    query: Option<Value>,
    /// For search: the maximum number. Default: 10.
    #[schemars(with = "Option<i64>", range(min = 1, max = limits::RESULTS))]
    limit: Option<Value>,
    /// For register and update.
    #[schemars(with = "Option<String>", length(min = 1, max = limits::PREDICATE_BYTES))]
    name: Option<Value>,
    /// one: a new value supersedes the old one; many: values coexist. Default of a new predicate: one.
    #[schemars(with = "Option<Cardinality>")]
    cardinality: Option<Value>,
    /// The same relation seen from the object: "has_child" for "child_of".
    #[schemars(with = "Option<String>", length(min = 1, max = limits::PREDICATE_BYTES))]
    inverse: Option<Value>,
    /// Whether the relation holds in both directions: "married_to".
    #[schemars(with = "Option<bool>")]
    symmetric: Option<Value>,
    /// Whether each value belongs to a moment: "weight".
    #[schemars(with = "Option<bool>")]
    temporal: Option<Value>,
    /// The type of entity that the object is.
    #[schemars(with = "Option<EntityType>")]
    object_type: Option<Value>,
    /// What it means, in a few words.
    #[schemars(with = "Option<String>", length(max = limits::REASON_BYTES))]
    description: Option<Value>,
}

pub struct MemoryPredicates;

impl ToolDefinition for MemoryPredicates {
    type Input = Input;
    type Output = Predicates;

    const NAME: &'static str = "memory_predicates";
    const TITLE: &'static str = "Predicates";
    const DESCRIPTION: &'static str = "Which predicates are known, whether they hold one value or many, and which are each \
        other's inverse. A predicate that nobody registered holds one value. Search before you invent a new name.";
    const ANNOTATIONS: Annotations = Annotations::SETTLE;
    const RIGHT: Right = Right::Read;
    const READING_ACTIONS: &'static [&'static str] = &["list", "search"];
    const CHANGING_RIGHT: Right = Right::Write;
    const EMBEDS: bool = true;

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<Predicates, MemoryError> {
        let action: Action = validate::one_of("action", validate::string("action", &input.action)?)?;
        let predicates = match action {
            Action::List => memory.list_predicates(&call).await?,
            Action::Search => {
                let query = validate::string("query", &input.query.unwrap_or_default())?.to_owned();
                let (query, _) = validate::query(&query);
                let limit =
                    optional(input.limit.as_ref(), |value| validate::whole_number("limit", value, 1, limits::RESULTS))?;
                memory.search_predicates(&call, &query, limit.unwrap_or(10)).await?
            }
            Action::Register | Action::Update => {
                let predicate = predicate_input(&input)?;
                vec![memory.set_predicate(&call, predicate, action == Action::Update).await?]
            }
        };
        Ok(Predicates { predicates })
    }
}

fn predicate_input(input: &Input) -> Result<PredicateInput, MemoryError> {
    let name = |field: &'static str| {
        move |value: &Value| {
            validate::required_text(field, validate::string(field, value)?.trim(), limits::PREDICATE_BYTES)
        }
    };
    let flag =
        |field: &'static str, value: &Option<Value>| optional(value.as_ref(), |value| validate::flag(field, value));
    Ok(PredicateInput {
        name: name("name")(input.name.as_ref().unwrap_or(&Value::Null))?,
        cardinality: optional(input.cardinality.as_ref(), |value| {
            validate::one_of("cardinality", validate::string("cardinality", value)?)
        })?,
        inverse: optional(input.inverse.as_ref(), name("inverse"))?,
        symmetric: flag("symmetric", &input.symmetric)?,
        temporal: flag("temporal", &input.temporal)?,
        object_type: optional(input.object_type.as_ref(), |value| {
            validate::one_of("object_type", validate::string("object_type", value)?)
        })?,
        description: optional(input.description.as_ref(), |value| {
            let text = validate::string("description", value)?.trim();
            if text.is_empty() {
                Ok(String::new())
            } else {
                validate::required_text("description", text, limits::REASON_BYTES)
            }
        })?,
    })
}
