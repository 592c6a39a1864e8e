//! Merging two entities: the source becomes a tombstone that names the target.

use butler_domain::event::EventType;
use butler_domain::ids::new_id;
use butler_domain::resolve::{MERGED_INTO, merge_aliases, merge_metadata};
use butler_domain::{Entity, EntityId, limits};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::write::{difference, link_named_facts, save};
use super::{is_tombstone, lock, survivor};
use crate::events::{self, NewEvent, Subject};
use crate::{StoreError, WriteContext};

/// A transaction that stores facts about both entities in the opposite order can deadlock with a merge. PostgreSQL aborts one
/// of them, and a second conflict is unlikely.
const ATTEMPTS: u32 = 5;

/// What a merge changed: the payload of its event and the response of the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Merged {
    pub source_entity_id: EntityId,
    pub target_entity_id: EntityId,
    /// Facts about the source and relations to it that were moved to the target, whatever their validity, and facts that
    /// had no entity because both entities had the name.
    pub facts_repointed: u64,
    /// Active facts that were superseded by a more confident one with the same scope and predicate.
    pub facts_superseded: u64,
    pub aliases_added: u64,
}

/// The result of a merge. All outcomes but `Merged` wrote nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    Merged(Merged),
    NotFound(EntityId),
    /// One of the two was merged before.
    AlreadyMerged {
        entity: EntityId,
        survivor: EntityId,
    },
    /// The merged entity would have this many aliases, which is more than the limit.
    TooManyAliases(usize),
}

/// Merges the source into the target, in one transaction. The two must differ.
pub async fn merge(write: WriteContext<'_>, source: EntityId, target: EntityId) -> Result<MergeOutcome, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let mut attempt = 1;
    loop {
        match attempt_merge(WriteContext { session, tenant, now, origin }, source, target).await {
            Err(error) if attempt < ATTEMPTS && error.was_aborted() => {
                attempt += 1;
            }
            result => return result,
        }
    }
}

async fn attempt_merge(
    write: WriteContext<'_>,
    source: EntityId,
    target: EntityId,
) -> Result<MergeOutcome, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
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
    let changed = merge_facts(WriteContext { session: &mut tx, tenant, now, origin }, source, target).await?;
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
    let keys = new_target.metadata.keys().filter(|key| !old_target.metadata.contains_key(*key)).cloned().collect();
    let record = Record { source, target, changed: &changed, aliases: &names.added, metadata_keys: keys };
    keep(WriteContext { session: &mut tx, tenant, now, origin }, &record).await?;

    let linked = link_named_facts(WriteContext { session: &mut tx, tenant, now, origin }, target).await?;
    let merged = Merged {
        source_entity_id: source,
        target_entity_id: target,
        facts_repointed: (changed.facts.len() + changed.edges.len()) as u64 + linked,
        facts_superseded: changed.superseded.as_array().map_or(0, Vec::len) as u64,
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
    events::record(WriteContext { session: &mut tx, tenant, now, origin }, &happened).await?;
    tx.commit().await?;
    Ok(MergeOutcome::Merged(merged))
}

/// What a merge changed in facts, for undoing it.
struct ChangedFacts {
    facts: Vec<Uuid>,
    edges: Vec<Uuid>,
    superseded: Value,
}

/// Moves the facts and relations of the source to the target. Of two active facts with the same key, the less confident
/// one is superseded; the target's stays where both are equal.
async fn merge_facts(write: WriteContext<'_>, source: EntityId, target: EntityId) -> Result<ChangedFacts, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    session
        .run(|pg| {
            sqlx::query_as!(
                ChangedFacts,
                r#"SELECT facts AS "facts!", edges AS "edges!", superseded AS "superseded!"
                   FROM merge_facts($1, $2, $3, $4, $5, $6)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                source.0,
                target.0,
            )
            .fetch_one(pg)
        })
        .await
}

/// What is kept of a merge.
struct Record<'a> {
    source: EntityId,
    target: EntityId,
    changed: &'a ChangedFacts,
    aliases: &'a [String],
    metadata_keys: Vec<String>,
}

async fn keep(write: WriteContext<'_>, record: &Record<'_>) -> Result<(), StoreError> {
    let WriteContext { session, tenant, now, .. } = write;
    session
        .run(|pg| {
            sqlx::query!(
                "INSERT INTO merges (id, tenant_id, source_id, target_id, facts, edges, superseded, aliases, metadata_keys, merged_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                new_id(now),
                tenant.as_str(),
                record.source.0,
                record.target.0,
                &record.changed.facts,
                &record.changed.edges,
                record.changed.superseded,
                record.aliases,
                &record.metadata_keys,
                now
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}
