//! Two entities turn out to be one: the target lives on, the source becomes a tombstone that names it.

use butler_domain::decay::CONFIDENCE_TOLERANCE;
use butler_domain::event::{EventType, Origin};
use butler_domain::resolve::{MERGED_INTO, merge_aliases, merge_metadata};
use butler_domain::{Entity, EntityId, TenantId, Timestamp, limits};
use serde::Serialize;
use serde_json::json;

use super::write::{difference, save};
use super::{is_tombstone, lock, survivor};
use crate::events::{self, NewEvent, Subject};
use crate::{Session, StoreError};

/// A long transaction that stores facts on both entities, in the other order, can get in a merge's way; hardly twice.
const ATTEMPTS: u32 = 5;

/// What a merge did: the payload of its event, and the tool's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Merged {
    pub source_entity_id: EntityId,
    pub target_entity_id: EntityId,
    /// Facts that now hang on the target, whatever their validity.
    pub facts_repointed: u64,
    /// Active facts of the same scope and predicate, of which the one more confident by now stayed.
    pub facts_superseded: u64,
    pub aliases_added: u64,
}

/// All but `Merged` wrote nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    Merged(Merged),
    NotFound(EntityId),
    /// One of the two lives on in another entity already.
    AlreadyMerged {
        entity: EntityId,
        survivor: EntityId,
    },
    /// Together they would have more aliases than are allowed.
    TooManyAliases(usize),
}

/// One transaction. The two must differ.
pub async fn merge(
    session: &mut Session,
    tenant: &TenantId,
    source: EntityId,
    target: EntityId,
    now: Timestamp,
    origin: &Origin,
) -> Result<MergeOutcome, StoreError> {
    let mut attempt = 1;
    loop {
        match attempt_merge(session, tenant, source, target, now, origin).await {
            Err(error) if attempt < ATTEMPTS && matches!(error.code().as_deref(), Some("40P01" | "40001")) => {
                attempt += 1;
            }
            result => return result,
        }
    }
}

async fn attempt_merge(
    session: &mut Session,
    tenant: &TenantId,
    source: EntityId,
    target: EntityId,
    now: Timestamp,
    origin: &Origin,
) -> Result<MergeOutcome, StoreError> {
    let mut tx = session.begin().await?;
    let locked = lock(&mut tx, tenant, &[source, target]).await?;
    let find = |id: EntityId| locked.iter().find(|entity| entity.id == id);
    let Some(old_source) = find(source) else { return Ok(MergeOutcome::NotFound(source)) };
    let Some(old_target) = find(target) else { return Ok(MergeOutcome::NotFound(target)) };
    for entity in [old_source, old_target] {
        if is_tombstone(entity) {
            let survivor = survivor(&mut tx, tenant, entity.id).await?.unwrap_or(entity.id);
            return Ok(MergeOutcome::AlreadyMerged { entity: entity.id, survivor });
        }
    }
    let names =
        merge_aliases(&old_target.canonical_name, &old_target.aliases, &old_source.canonical_name, &old_source.aliases);
    if names.aliases.len() > limits::MERGED_ALIASES {
        return Ok(MergeOutcome::TooManyAliases(names.aliases.len()));
    }
    let facts_superseded = settle_conflicts(&mut tx, tenant, source, target, now, origin).await?;
    let facts_repointed = repoint(&mut tx, tenant, source, target, now, origin).await?;

    let new_target = Entity {
        aliases: names.aliases,
        metadata: merge_metadata(&old_target.metadata, &old_source.metadata),
        updated_at: now,
        ..old_target.clone()
    };
    let mut tombstone = Entity { updated_at: now, ..old_source.clone() };
    tombstone.metadata.insert(MERGED_INTO.to_owned(), json!(target));
    save(&mut tx, tenant, &new_target).await?;
    save(&mut tx, tenant, &tombstone).await?;

    let merged = Merged {
        source_entity_id: source,
        target_entity_id: target,
        facts_repointed,
        facts_superseded,
        aliases_added: names.added.len() as u64,
    };
    let about = |id: EntityId| Some(Subject { memory_type: "entity", memory_id: id.0 });
    let happened = [
        NewEvent { event_type: EventType::EntityMerge, about: about(source), payload: json!(merged) },
        NewEvent {
            event_type: EventType::EntityUpdated,
            about: about(target),
            payload: difference(old_target, &new_target),
        },
    ];
    events::append(&mut tx, tenant, &happened, now, origin).await?;
    tx.commit().await?;
    Ok(MergeOutcome::Merged(merged))
}

/// Of two active facts under one key the less confident is superseded, by what decay has left of their confidences; the
/// target's stays where they are equal. All facts of both are locked first, in the order of their ids as every reader that counts references does. A winner names the
/// loser, also if it superseded another fact before: the links tell of both.
async fn settle_conflicts(
    session: &mut Session,
    tenant: &TenantId,
    source: EntityId,
    target: EntityId,
    now: Timestamp,
    origin: &Origin,
) -> Result<u64, StoreError> {
    let count = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                WITH locked AS MATERIALIZED (
                    SELECT id, entity_id, scope, predicate, validity,
                           effective_confidence(confidence, decay_rate, last_confirmed_at, $4) AS effective FROM facts
                    WHERE tenant_id = $1 AND entity_id = ANY (ARRAY[$2, $3]::uuid[]) ORDER BY id FOR NO KEY UPDATE
                ), conflict AS MATERIALIZED (
                    SELECT CASE WHEN s.effective > t.effective + $8 THEN s.id ELSE t.id END AS winner,
                           CASE WHEN s.effective > t.effective + $8 THEN t.id ELSE s.id END AS loser
                    FROM locked s JOIN locked t ON t.scope = s.scope AND t.predicate = s.predicate
                    WHERE s.entity_id = $2 AND fact_is_active(s.validity) AND t.entity_id = $3 AND fact_is_active(t.validity)
                ), lost AS (
                    UPDATE facts f SET validity = 'superseded' FROM conflict
                    WHERE f.tenant_id = $1 AND f.id = conflict.loser
                ), won AS (
                    UPDATE facts f SET supersedes_id = conflict.loser FROM conflict
                    WHERE f.tenant_id = $1 AND f.id = conflict.winner
                ), link AS (
                    INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
                    SELECT $1, 'fact', winner, 'fact', loser, 'supersedes', $4 FROM conflict
                    ON CONFLICT DO NOTHING
                ), event AS (
                    INSERT INTO memory_events (tenant_id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $5, $6, 'fact', loser, $7,
                           jsonb_build_object('before', jsonb_build_object('validity', 'active'),
                                              'after', jsonb_build_object('validity', 'superseded'),
                                              'superseded_by', winner), $4
                    FROM conflict
                )
                SELECT count(*) AS "count!" FROM conflict
                "#,
                tenant.as_str(),
                source.0,
                target.0,
                now,
                EventType::FactSuperseded.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                CONFIDENCE_TOLERANCE,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(count.unsigned_abs())
}

/// A statement of its own: the index that allows one active fact a key must have seen the losers leave.
async fn repoint(
    session: &mut Session,
    tenant: &TenantId,
    source: EntityId,
    target: EntityId,
    now: Timestamp,
    origin: &Origin,
) -> Result<u64, StoreError> {
    let count = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                WITH moved AS (
                    UPDATE facts SET entity_id = $3 WHERE tenant_id = $1 AND entity_id = $2 RETURNING id
                ), event AS (
                    INSERT INTO memory_events (tenant_id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $5, $6, 'fact', id, $7,
                           jsonb_build_object('before', jsonb_build_object('entity_id', $2::uuid),
                                              'after', jsonb_build_object('entity_id', $3::uuid)), $4
                    FROM moved
                )
                SELECT count(*) AS "count!" FROM moved
                "#,
                tenant.as_str(),
                source.0,
                target.0,
                now,
                EventType::FactRepointed.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(count.unsigned_abs())
}
