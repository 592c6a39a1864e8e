//! Undoing a merge: the source exists in its own right again, with what the merge took from it.

use butler_domain::event::EventType;
use butler_domain::resolve::MERGED_INTO;
use butler_domain::{Entity, EntityId};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::write::{difference, link_named_facts, save};
use super::{is_tombstone, lock, survivor};
use crate::events::{self, NewEvent, Subject};
use crate::{Session, StoreError, WriteContext};

/// What undoing a merge changed: the payload of its event and the response of the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unmerged {
    pub source_entity_id: EntityId,
    pub target_entity_id: EntityId,
    /// Facts and relations that are the source's again.
    pub facts_moved: u64,
    /// Facts that the merge had superseded and that are active again.
    pub facts_restored: u64,
    pub aliases_removed: u64,
}

/// The result of undoing a merge. All outcomes but `Unmerged` wrote nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnmergeOutcome {
    Unmerged(Unmerged),
    NotFound,
    /// The entity is not merged, or not any more.
    NotMerged,
    /// It was merged before merges were recorded.
    NotRecorded,
    /// The target was itself merged; that merge must be undone first.
    TargetMerged {
        target: EntityId,
        survivor: EntityId,
    },
}

/// Undoes the merge of this entity into another, in one transaction.
pub async fn unmerge(write: WriteContext<'_>, source: EntityId) -> Result<UnmergeOutcome, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let mut tx = session.begin().await?;
    let Some(found) = super::get(&mut tx, tenant, source).await? else { return Ok(UnmergeOutcome::NotFound) };
    if !is_tombstone(&found.entity) {
        return Ok(UnmergeOutcome::NotMerged);
    }
    let Some(record) = record(&mut tx, tenant.as_str(), source).await? else { return Ok(UnmergeOutcome::NotRecorded) };
    let target = EntityId(record.target_id);
    let locked = lock(&mut tx, tenant, &[source, target]).await?;
    let find = |id: EntityId| locked.iter().find(|entity| entity.id == id);
    let (Some(old_source), Some(old_target)) = (find(source), find(target)) else {
        return Ok(UnmergeOutcome::NotFound);
    };
    if !is_tombstone(old_source) {
        return Ok(UnmergeOutcome::NotMerged);
    }
    if is_tombstone(old_target) {
        let survivor = survivor(&mut tx, tenant, target).await?.unwrap_or(target);
        return Ok(UnmergeOutcome::TargetMerged { target, survivor });
    }
    let mut new_source = Entity { updated_at: now, ..old_source.clone() };
    new_source.metadata.remove(MERGED_INTO);
    let mut new_target = Entity { updated_at: now, ..old_target.clone() };
    new_target.aliases.retain(|alias| !record.aliases.contains(alias));
    new_target
        .metadata
        .retain(|key, value| !record.metadata_keys.contains(key) || old_source.metadata.get(key) != Some(value));
    save(&mut tx, tenant, &new_source).await?;
    save(&mut tx, tenant, &new_target).await?;
    let (moved, restored) = unmerge_facts(
        WriteContext { session: &mut tx, tenant, now, origin },
        record.id,
        &own_names(&new_source, &new_target),
    )
    .await?;

    let unmerged = Unmerged {
        source_entity_id: source,
        target_entity_id: target,
        facts_moved: moved,
        facts_restored: restored,
        aliases_removed: (old_target.aliases.len() - new_target.aliases.len()) as u64,
    };
    let about = |id: EntityId| Some(Subject { memory_type: "entity", memory_id: id.0 });
    let happened = [
        NewEvent { event_type: EventType::EntityUnmerged, about: about(source), payload: json!(unmerged) },
        NewEvent {
            event_type: EventType::EntityUpdated,
            about: about(target),
            payload: difference(old_target, &new_target),
        },
    ];
    events::record(WriteContext { session: &mut tx, tenant, now, origin }, &happened).await?;
    link_named_facts(WriteContext { session: &mut tx, tenant, now, origin }, source).await?;
    tx.commit().await?;
    Ok(UnmergeOutcome::Unmerged(unmerged))
}

/// The names of the source that the target does not have.
fn own_names(source: &Entity, target: &Entity) -> Vec<String> {
    let names =
        |entity: &Entity| -> Vec<String> { [vec![entity.canonical_name.clone()], entity.aliases.clone()].concat() };
    let taken: Vec<String> = names(target).iter().map(|name| name.to_lowercase()).collect();
    names(source).into_iter().filter(|name| !taken.contains(&name.to_lowercase())).collect()
}

struct Record {
    id: Uuid,
    target_id: Uuid,
    aliases: Vec<String>,
    metadata_keys: Vec<String>,
}

async fn record(session: &mut Session, tenant: &str, source: EntityId) -> Result<Option<Record>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                Record,
                "SELECT id, target_id, aliases, metadata_keys FROM merges
                 WHERE tenant_id = $1 AND source_id = $2 AND undone_at IS NULL",
                tenant,
                source.0
            )
            .fetch_optional(pg)
        })
        .await
}

/// Returns how many facts moved, and how many are active again.
async fn unmerge_facts(write: WriteContext<'_>, merge: Uuid, names: &[String]) -> Result<(u64, u64), StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT moved AS "moved!", restored AS "restored!"
                   FROM unmerge_facts($1, $2, $3, $4, $5, ARRAY(SELECT folded_name(n) FROM unnest($6::text[]) AS n))"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                merge,
                names,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok((row.moved.unsigned_abs(), row.restored.unsigned_abs()))
}
