//! Rules: list, detail, and what a person can do with one.

pub mod confirm;
pub mod detail;
pub mod edit;
pub mod forget;
pub mod list;
pub mod marks;
pub mod restore;

use std::sync::Arc;

use butler_memory::Memory;
use uuid::Uuid;

use super::error::ApiError;
use super::facts::In;
use super::operation::Asked;

/// The memory that holds the rule.
async fn home(asked: &Asked, place: &In, id: Uuid) -> Result<(String, Arc<Memory>), ApiError> {
    asked
        .home(place.butler.as_deref(), &format!("rule with id {id}"), |memory| async move {
            // not a replica, which may not know yet what was stored a moment ago
            let mut conn = memory.db().tenant(&asked.tenant).await?;
            Ok(butler_store::browse::rules::one(&mut conn, &asked.tenant, id, asked.now).await?.is_some())
        })
        .await
}

fn gone(id: Uuid) -> ApiError {
    ApiError::not_found(format!("there is no rule with id {id}"))
}
