//! Rules: list, detail, and the changes a person can make.

pub mod confirm;
pub mod detail;
pub mod edit;
pub mod feedback;
pub mod forget;
pub mod list;
pub mod restore;
pub mod undo;

use std::sync::Arc;

use butler_memory::Memory;
use uuid::Uuid;

use super::error::ApiError;
use super::facts::ButlerQuery;
use super::operation::RequestContext;

/// The memory that holds the rule.
async fn home(ctx: &RequestContext, query: &ButlerQuery, id: Uuid) -> Result<(String, Arc<Memory>), ApiError> {
    ctx.home(query.butler.as_deref(), &format!("rule with id {id}"), |memory| async move {
        Ok(ctx.browse(&memory).has_rule(id).await?)
    })
    .await
}

fn gone(id: Uuid) -> ApiError {
    ApiError::not_found(format!("there is no rule with id {id}"))
}
