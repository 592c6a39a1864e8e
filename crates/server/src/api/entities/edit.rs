//! `PUT /api/memory/entities/{id}`: changes an entity's names, type or metadata.

use butler_domain::{EntityId, EntityType, limits, validate};
use butler_host::access::Right;
use butler_memory::entities::{EntityChanges, EntityView, aliases, name};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::{ButlerQuery, IdPath};
use crate::api::operation::{Operation, RequestContext, Verb};

/// Missing fields keep their values.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditEntityBody {
    canonical_name: Option<String>,
    entity_type: Option<EntityType>,
    /// Replaces all aliases.
    aliases: Option<Vec<String>>,
    /// Keys to set; the others stay.
    metadata: Option<serde_json::Map<String, Value>>,
}

pub struct EditEntity;

impl Operation for EditEntity {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = EditEntityBody;
    type Answer = Single<WithHome<EntityView>>;

    const ID: &'static str = "editEntity";
    const VERB: Verb = Verb::Put;
    const PATH: &'static str = "/api/memory/entities/{id}";
    const TAG: &'static str = "entities";
    const SUMMARY: &'static str = "Change an entity's name, type, aliases or metadata.";
    const RIGHT: Right = Right::Write;

    async fn run(
        ctx: RequestContext,
        path: IdPath,
        query: ButlerQuery,
        body: EditEntityBody,
    ) -> Result<Self::Answer, ApiError> {
        let (ctx, id) = (&ctx, path.id);
        let changes = EntityChanges {
            canonical_name: body.canonical_name.map(|text| name("canonical_name", &json!(text))).transpose()?,
            entity_type: body.entity_type,
            aliases: body.aliases.map(|list| aliases(&json!(list), limits::MERGED_ALIASES)).transpose()?,
            metadata: body.metadata.map(|object| validate::metadata(&json!(object))).transpose()?,
        };
        let (home, memory) = super::home(ctx, query.butler.as_deref(), id).await?;
        let item = memory.update_entity(&ctx.call(&memory), EntityId(id), changes).await?;
        Ok(Single::new(WithHome { home, item }))
    }
}
