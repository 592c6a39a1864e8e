//! Facts: list, detail, and the changes a person can make.

pub mod confirm;
pub mod detail;
pub mod edit;
pub mod forget;
pub mod list;
pub mod restore;
pub mod undo;

use std::sync::Arc;

use butler_memory::Memory;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::error::ApiError;
use super::operation::RequestContext;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct IdPath {
    pub id: Uuid,
}

/// Selects the butler to query. Ids are unique across butlers, so this only saves queries to the other butlers.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ButlerQuery {
    /// The butler whose database to search. Default: all butlers.
    pub butler: Option<String>,
}

/// The memory that holds the fact.
async fn home(ctx: &RequestContext, query: &ButlerQuery, id: Uuid) -> Result<(String, Arc<Memory>), ApiError> {
    ctx.home(query.butler.as_deref(), &format!("fact with id {id}"), |memory| async move {
        Ok(ctx.browse(&memory).has_fact(id).await?)
    })
    .await
}

fn gone(id: Uuid) -> ApiError {
    ApiError::not_found(format!("there is no fact with id {id}"))
}
