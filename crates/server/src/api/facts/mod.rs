//! Facts: list, detail, and what a person can do with one.

pub mod confirm;
pub mod detail;
pub mod edit;
pub mod forget;
pub mod list;
pub mod restore;

use std::sync::Arc;

use butler_memory::Memory;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::error::ApiError;
use super::operation::Asked;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ById {
    pub id: Uuid,
}

/// Ids are unique across butlers, so this only spares the others the question.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct In {
    /// The butler in whose database it is; all are asked if left out.
    pub butler: Option<String>,
}

/// The memory that holds the fact.
async fn home(asked: &Asked, place: &In, id: Uuid) -> Result<(String, Arc<Memory>), ApiError> {
    asked
        .home(place.butler.as_deref(), &format!("fact with id {id}"), |memory| async move {
            // not a replica, which may not know yet what was stored a moment ago
            let mut conn = memory.db().tenant(&asked.tenant).await?;
            Ok(butler_store::browse::facts::one(&mut conn, &asked.tenant, id, asked.now).await?.is_some())
        })
        .await
}

fn gone(id: Uuid) -> ApiError {
    ApiError::not_found(format!("there is no fact with id {id}"))
}
