//! Merges of entities: those that can be undone, and what a merge would bring together.

use butler_domain::{EntityId, EntityType, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{Session, StoreError};

/// A merge into an entity that can be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MergeItem {
    /// The entity that was merged away; undo the merge with its id.
    pub source_entity_id: Uuid,
    pub canonical_name: String,
    pub merged_at: Timestamp,
    /// Facts that the merge moved.
    pub facts_moved: i64,
}

/// The merges into an entity that can be undone, newest first.
pub async fn into(session: &mut Session, tenant: &TenantId, id: Uuid) -> Result<Vec<MergeItem>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                MergeItem,
                r#"
                SELECT m.source_id AS source_entity_id, e.canonical_name, m.merged_at, cardinality(m.facts)::bigint AS "facts_moved!"
                FROM merges m JOIN entities e ON e.id = m.source_id AND e.tenant_id = m.tenant_id
                WHERE m.tenant_id = $1 AND m.target_id = $2 AND m.undone_at IS NULL
                ORDER BY m.merged_at DESC, m.id
                "#,
                tenant.as_str(),
                id,
            )
            .fetch_all(pg)
        })
        .await
}

/// A predicate about which two entities have different things to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Contradiction {
    pub predicate: String,
    /// What is known of the entity that is merged away.
    pub source: String,
    /// What is known of the entity that remains.
    pub target: String,
}

/// The active facts of two entities with the same predicate, which holds one value, and different content.
pub async fn contradictions(
    session: &mut Session,
    tenant: &TenantId,
    source: EntityId,
    target: EntityId,
) -> Result<Vec<Contradiction>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                Contradiction,
                r#"
                SELECT t.predicate AS "predicate!", left(s.content, 200) AS "source!", left(t.content, 200) AS "target!"
                FROM facts s JOIN facts t ON t.predicate_key = s.predicate_key
                WHERE s.tenant_id = $1 AND s.entity_id = $2 AND s.validity = 'active'
                  AND t.tenant_id = $1 AND t.entity_id = $3 AND t.validity = 'active'
                  AND s.scope = t.scope AND content_key(s.content) <> content_key(t.content)
                  AND (SELECT r.cardinality = 'one' FROM predicate_rule($1, s.predicate_key) r)
                ORDER BY s.predicate_key, s.content, t.content LIMIT 100
                "#,
                tenant.as_str(),
                source.0,
                target.0,
            )
            .fetch_all(pg)
        })
        .await
}

/// One of the two entities of a merge, as it was before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Profile {
    pub entity_id: EntityId,
    pub canonical_name: String,
    pub entity_type: EntityType,
    pub aliases: Vec<String>,
    /// Number of active facts.
    pub facts_total: i64,
    /// The first active facts, by predicate.
    pub facts: Vec<ProfileFact>,
}

/// An active fact of one entity, shown to help a person decide about the merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProfileFact {
    pub predicate: String,
    pub content: String,
}

/// Both entities, in the order of `ids`; one that does not exist is left out.
pub async fn profiles(
    session: &mut Session,
    tenant: &TenantId,
    ids: [EntityId; 2],
) -> Result<Vec<Profile>, StoreError> {
    let mut profiles = Vec::new();
    for id in ids {
        let Some(item) = super::entities::one(session, tenant, id.0).await? else { continue };
        let facts = session
            .run(|pg| {
                sqlx::query_as!(
                    ProfileFact,
                    r#"SELECT predicate, left(content, 200) AS "content!" FROM facts
                       WHERE tenant_id = $1 AND entity_id = $2 AND validity = 'active' ORDER BY predicate_key, content LIMIT 50"#,
                    tenant.as_str(),
                    id.0,
                )
                .fetch_all(pg)
            })
            .await?;
        profiles.push(Profile {
            entity_id: id,
            canonical_name: item.entity.canonical_name,
            entity_type: item.entity.entity_type,
            aliases: item.entity.aliases,
            facts_total: item.facts,
            facts,
        });
    }
    Ok(profiles)
}
