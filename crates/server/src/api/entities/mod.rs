//! Entities: the people and things that facts are about.

pub mod detail;
pub mod duplicates;
pub mod edit;
pub mod forget;
pub mod graph;
pub mod list;
pub mod merge;
pub mod neighbors;
pub mod unmerge;

use std::sync::Arc;

use butler_memory::Memory;
use uuid::Uuid;

use super::error::ApiError;
use super::operation::RequestContext;

/// The butler that holds the entity: its name and memory.
async fn home(ctx: &RequestContext, butler: Option<&str>, id: Uuid) -> Result<(String, Arc<Memory>), ApiError> {
    ctx.home(
        butler,
        &format!("entity with id {id}"),
        |memory| async move { Ok(ctx.browse(&memory).has_entity(id).await?) },
    )
    .await
}
