//! `POST /api/memory/entities/{id}/merge`: this entity becomes another one. `?preview=true` tells what would happen.

use butler_domain::EntityId;
use butler_host::access::Right;
use butler_memory::entities::MergePreview;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::api::answer::{At, One};
use crate::api::error::ApiError;
use crate::api::facts::ById;
use crate::api::operation::{Asked, Operation, Verb};

#[derive(Debug, Deserialize, JsonSchema)]
pub struct How {
    /// Only tell what would happen.
    preview: Option<bool>,
    /// The butler in whose database both are; all are asked if left out.
    butler: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Into {
    /// The entity that lives on.
    target_entity_id: Uuid,
}

pub struct MergeEntity;

impl Operation for MergeEntity {
    type Path = ById;
    type Query = How;
    type Body = Into;
    type Answer = One<At<MergePreview>>;

    const ID: &'static str = "mergeEntity";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/entities/{id}/merge";
    const TAG: &'static str = "entities";
    const SUMMARY: &'static str = "This entity becomes another one; with preview=true only tells what would happen.";
    const RIGHT: Right = Right::Write;

    async fn run(asked: Asked, path: ById, how: How, body: Into) -> Result<Self::Answer, ApiError> {
        let (asked, id) = (&asked, path.id);
        let (home, memory) = asked
            .home(how.butler.as_deref(), &format!("entity with id {id}"), |memory| async move {
                let mut conn = memory.db().reader(&asked.tenant).await?;
                Ok(butler_store::browse::entities::one(&mut conn, &asked.tenant, id).await?.is_some())
            })
            .await?;
        let (source, target) = (EntityId(id), EntityId(body.target_entity_id));
        let preview = how.preview.unwrap_or(false);
        let item = memory.merge_entities_detailed(&asked.call(&memory), source, target, preview).await?;
        Ok(One::of(At { home, item }))
    }
}
