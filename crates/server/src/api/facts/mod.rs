//! Facts: list, detail, and the changes a person can make.

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
        // Read from the primary: a replica may not have replayed a recent write yet.
        let mut conn = memory.db().tenant(&ctx.tenant).await?;
        Ok(butler_store::browse::facts::one(&mut conn, &ctx.tenant, id, ctx.now).await?.is_some())
    })
    .await
}

fn gone(id: Uuid) -> ApiError {
    ApiError::not_found(format!("there is no fact with id {id}"))
}
