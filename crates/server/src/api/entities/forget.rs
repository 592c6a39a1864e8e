//! `POST /api/memory/entities/{id}/forget`: forgets or erases an entity. Without `dry_run: false` it only reports the effect.

use butler_domain::EntityId;
use butler_host::access::Right;
use butler_memory::entities::{self, EntityForgotten};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::{ButlerQuery, IdPath};
use crate::api::operation::{Operation, RequestContext, Verb};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetBody {
    /// Delete everything for good, with the text in past events. Default: false, retract.
    #[serde(default)]
    erase: bool,
    /// Only report what would be forgotten. Default: true.
    dry_run: Option<bool>,
    /// Which of the listed facts of others that name it to forget. Default: all.
    fact_ids: Option<Vec<Uuid>>,
    /// Which of the listed rules. Default: all.
    rule_ids: Option<Vec<Uuid>>,
    /// Which of the listed episodes. Default: all.
    episode_ids: Option<Vec<Uuid>>,
}

pub struct ForgetEntity;

impl Operation for ForgetEntity {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ForgetBody;
    type Answer = Single<WithHome<EntityForgotten>>;

    const ID: &'static str = "forgetEntity";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/entities/{id}/forget";
    const TAG: &'static str = "entities";
    const SUMMARY: &'static str =
        "Forget an entity and the memories that name it, or erase them. Only with dry_run=false.";
    const RIGHT: Right = Right::Admin;

    async fn run(
        ctx: RequestContext,
        path: IdPath,
        query: ButlerQuery,
        body: ForgetBody,
    ) -> Result<Self::Answer, ApiError> {
        let (ctx, id) = (&ctx, path.id);
        let (home, memory) = super::home(ctx, query.butler.as_deref(), id).await?;
        let wanted = entities::ForgetEntity {
            id: EntityId(id),
            erase: body.erase,
            dry_run: body.dry_run.unwrap_or(true),
            facts: body.fact_ids,
            rules: body.rule_ids,
            episodes: body.episode_ids,
        };
        let item = memory.forget_entity(&ctx.call(&memory), &wanted).await?;
        Ok(Single::new(WithHome { home, item }))
    }
}
