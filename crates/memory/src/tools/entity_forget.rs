use butler_domain::validate::{self, Invalid};
use butler_domain::{EntityId, limits};
use butler_store::entities::ForgetEntity;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{flag, optional};
use crate::entities::EntityForgotten;
use crate::tool::{Annotations, Right, ToolDefinition};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The entity to forget.
    #[schemars(with = "uuid::Uuid")]
    entity_id: Value,
    /// Delete everything for good, with the text in past events. Default: false, retract.
    #[schemars(with = "Option<bool>")]
    erase: Option<Value>,
    /// Only report what would be forgotten. Default: true.
    #[schemars(with = "Option<bool>")]
    dry_run: Option<Value>,
    /// Which of the listed facts of others that name it to forget. Default: all.
    #[schemars(with = "Option<Vec<uuid::Uuid>>")]
    fact_ids: Option<Value>,
    /// Which of the listed rules. Default: all.
    #[schemars(with = "Option<Vec<uuid::Uuid>>")]
    rule_ids: Option<Value>,
    /// Which of the listed episodes. Default: all.
    #[schemars(with = "Option<Vec<uuid::Uuid>>")]
    episode_ids: Option<Value>,
}

pub struct EntityForget;

impl ToolDefinition for EntityForget {
    type Input = Input;
    type Output = EntityForgotten;

    const NAME: &'static str = "entity_forget";
    const TITLE: &'static str = "Forget a person or thing";
    const DESCRIPTION: &'static str = "Forget an entity: all facts about it, relations to it, and the memories that name it. \
        Without dry_run: false, only lists them. Show the list to the user first. Erased memories cannot be restored.";
    const COMMAND: Option<&'static str> = Some("butler forget --entity");
    const ANNOTATIONS: Annotations =
        Annotations { read_only: false, destructive: true, idempotent: true, open_world: false };
    const RIGHT: Right = Right::Admin;

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<EntityForgotten, MemoryError> {
        let id = validate::uuid("entity_id", validate::string("entity_id", &input.entity_id)?)?;
        let dry_run = optional(input.dry_run.as_ref(), |value| validate::flag("dry_run", value))?;
        let wanted = ForgetEntity {
            id: EntityId(id),
            erase: flag("erase", input.erase.as_ref())?,
            dry_run: dry_run.unwrap_or(true),
            facts: ids("fact_ids", input.fact_ids.as_ref())?,
            rules: ids("rule_ids", input.rule_ids.as_ref())?,
            episodes: ids("episode_ids", input.episode_ids.as_ref())?,
        };
        memory.forget_entity(&call, &wanted).await
    }
}

fn ids(field: &str, value: Option<&Value>) -> Result<Option<Vec<Uuid>>, Invalid> {
    optional(value, |value| {
        let Value::Array(items) = value else { return Err(Invalid::new(field, "is not a list of ids")) };
        if items.len() > limits::CHOSEN_IDS {
            let message = format!("has {} items; at most {} are allowed", items.len(), limits::CHOSEN_IDS);
            return Err(Invalid::new(field, message));
        }
        items.iter().map(|item| validate::uuid(field, validate::string(field, item)?)).collect()
    })
}
