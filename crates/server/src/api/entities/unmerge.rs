//! `POST /api/memory/entities/{id}/unmerge`: undoes the merge of this entity into another.

use butler_domain::EntityId;
use butler_host::access::Right;
use butler_memory::entities::UnmergedEntities;

use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::{ButlerQuery, IdPath};
use crate::api::operation::{Operation, RequestContext, Verb};

pub struct UnmergeEntity;

impl Operation for UnmergeEntity {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<UnmergedEntities>>;

    const ID: &'static str = "unmergeEntity";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/entities/{id}/unmerge";
    const TAG: &'static str = "entities";
    const SUMMARY: &'static str = "Undo the merge of this entity into another.";
    const RIGHT: Right = Right::Write;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, id) = (&ctx, path.id);
        let (home, memory) = super::home(ctx, query.butler.as_deref(), id).await?;
        let item = memory.unmerge_entity(&ctx.call(&memory), EntityId(id)).await?;
        Ok(Single::new(WithHome { home, item }))
    }
}
