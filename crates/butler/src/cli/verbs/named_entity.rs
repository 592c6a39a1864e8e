//! The entity that a command means: its id, its name or an alias.

use butler_domain::EntityId;
use butler_domain::resolve::{Candidate, Hints, NameMatch};
use butler_host::error::HostError;
use butler_memory::browse::{EntityFilter, Page};
use butler_memory::entities::ResolveInput;
use butler_memory::tool::{ErrorCode, ToolError};
use butler_memory::{Call, Memory};
use serde_json::{Value, json};
use uuid::Uuid;

use super::show;
use crate::cli::tool_client::ToolClient;

/// Merged entities of one name that are looked at.
const MERGED: i64 = 100;

/// An entity that has the name.
struct Named {
    id: Uuid,
    name: String,
    entity_type: String,
}

/// Finds the live entity with this id, name or alias.
pub async fn find(client: &ToolClient, text: &str) -> Result<Uuid, HostError> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let answer = client.call("entity_resolve", show::without_nulls(json!({"name": text}))).await;
    let answer = answer.map_err(HostError::Tool)?;
    let candidates = answer.structured.get("candidates").and_then(Value::as_array).cloned().unwrap_or_default();
    let named = candidates
        .iter()
        .filter_map(Value::as_object)
        .filter(|candidate| matches!(show::text(candidate, "name_match"), "exact" | "alias"))
        .filter_map(|candidate| {
            let text = |key: &str| show::text(candidate, key).to_owned();
            Some(Named {
                id: show::text(candidate, "entity_id").parse().ok()?,
                name: text("canonical_name"),
                entity_type: text("entity_type"),
            })
        });
    only(text, named.collect())
}

/// Like [`find`], without tools.
pub async fn find_in(memory: &Memory, call: &Call, text: &str) -> Result<EntityId, HostError> {
    if let Ok(id) = text.parse() {
        return Ok(EntityId(id));
    }
    let name = ResolveInput { name: text.to_owned(), entity_type: None, hints: Hints::default(), enable_fuzzy: false };
    let resolved = memory.resolve_entity(call, name).await.map_err(|error| HostError::Tool(error.into()))?;
    let is_named = |candidate: &Candidate| matches!(candidate.name_match, NameMatch::Exact | NameMatch::Alias);
    let named = resolved.candidates.into_iter().filter(is_named).map(|candidate| Named {
        id: candidate.entity_id.0,
        name: candidate.canonical_name,
        entity_type: candidate.entity_type.to_string(),
    });
    only(text, named.collect()).map(EntityId)
}

/// Finds the entity with this canonical name that was merged into another one.
pub async fn find_merged(memory: &Memory, call: &Call, name: &str) -> Result<Uuid, HostError> {
    let filter = EntityFilter { words: Some(name.trim().to_owned()), merged: true, ..EntityFilter::default() };
    let listed = memory.browse(&call.tenant, call.now).entities(&filter, Page::first(MERGED)).await;
    let rows = listed.map_err(|error| HostError::Tool(error.into()))?.rows;
    let wanted = name.trim().to_lowercase();
    let is_meant = |entity: &butler_domain::Entity| entity.canonical_name.to_lowercase() == wanted;
    let named = rows.into_iter().filter(|item| item.merged && is_meant(&item.entity)).map(|item| Named {
        id: item.entity.id.0,
        name: item.entity.canonical_name,
        entity_type: item.entity.entity_type.to_string(),
    });
    let named: Vec<Named> = named.collect();
    if named.is_empty()
        && let Ok(live) = find_in(memory, call, name).await
    {
        let message = format!("{name:?} is not merged into another entity: it is entity {live}");
        let hint = "give the name or id of the entity that was merged away".to_owned();
        return Err(HostError::Tool(ToolError {
            hint: Some(hint),
            ..ToolError::new(ErrorCode::InvalidState, message)
        }));
    }
    only(name, named)
}

fn only(text: &str, named: Vec<Named>) -> Result<Uuid, HostError> {
    let refused =
        |code, message, hint| HostError::Tool(ToolError { hint: Some(hint), ..ToolError::new(code, message) });
    match &named[..] {
        [one] => Ok(one.id),
        [] => Err(refused(
            ErrorCode::NotFound,
            format!("no entity is called {text:?}"),
            "`butler entity resolve NAME --fuzzy` lists similar names".to_owned(),
        )),
        several => {
            let list: Vec<String> =
                several.iter().map(|one| format!("{} ({}, {})", one.id, one.name, one.entity_type)).collect();
            let message = format!("{} entities are called {text:?}", several.len());
            Err(refused(ErrorCode::Conflict, message, format!("give one of the ids: {}", list.join("; "))))
        }
    }
}
