//! Rules: list, detail, and the changes a person can make.

pub mod confirm;
pub mod detail;
pub mod edit;
pub mod feedback;
pub mod forget;
pub mod list;
pub mod restore;

use std::sync::Arc;

use butler_memory::Memory;
use uuid::Uuid;

use super::error::ApiError;
use super::facts::ButlerQuery;
use super::operation::RequestContext;

/// The memory that holds the rule.
async fn home(ctx: &RequestContext, query: &ButlerQuery, id: Uuid) -> Result<(String, Arc<Memory>), ApiError> {
    ctx.home(query.butler.as_deref(), &format!("rule with id {id}"), |memory| async move {
        // Read from the primary: a replica may not have replayed a recent write yet.
        let mut conn = memory.db().tenant(&ctx.tenant).await?;
        Ok(butler_store::browse::rules::one(&mut conn, &ctx.tenant, id, ctx.now).await?.is_some())
    })
    .await
}

fn gone(id: Uuid) -> ApiError {
    ApiError::not_found(format!("there is no rule with id {id}"))
}
