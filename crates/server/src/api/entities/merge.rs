//! `POST /api/memory/entities/{id}/merge`: merges this entity into another. `?preview=true` only reports the effect.

use butler_domain::EntityId;
use butler_host::access::Right;
use butler_memory::entities::MergePreview;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::IdPath;
use crate::api::operation::{Operation, RequestContext, Verb};

#[derive(Debug, Deserialize, JsonSchema)]
pub struct MergeQuery {
    /// Only report what the merge would change. Default: false.
    preview: Option<bool>,
    /// The butler whose database holds both entities. Default: search all butlers.
    butler: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeBody {
    /// The entity that remains.
    target_entity_id: Uuid,
}

pub struct MergeEntity;

impl Operation for MergeEntity {
    type Path = IdPath;
    type Query = MergeQuery;
    type Body = MergeBody;
    type Answer = Single<WithHome<MergePreview>>;

    const ID: &'static str = "mergeEntity";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/entities/{id}/merge";
    const TAG: &'static str = "entities";
    const SUMMARY: &'static str =
        "Merge this entity into another. With preview=true, only report what the merge would change.";
    const RIGHT: Right = Right::Write;

    async fn run(
        ctx: RequestContext,
        path: IdPath,
        query: MergeQuery,
        body: MergeBody,
    ) -> Result<Self::Answer, ApiError> {
        let (ctx, id) = (&ctx, path.id);
        let (home, memory) = super::home(ctx, query.butler.as_deref(), id).await?;
        let (source, target) = (EntityId(id), EntityId(body.target_entity_id));
        let preview = query.preview.unwrap_or(false);
        let item = memory.merge_entities_detailed(&ctx.call(&memory), source, target, preview).await?;
        Ok(Single::new(WithHome { home, item }))
    }
}
