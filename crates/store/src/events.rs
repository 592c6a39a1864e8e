//! The audit stream: what changed, by whom, under which request. Most writes record their event in their own
//! statement; [`append`] is for those that are several.

use butler_domain::event::{EventType, Origin};
use butler_domain::ids::new_id;
use butler_domain::{TenantId, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::{Session, StoreError};

/// A created memory keeps its text itself; its event needs only enough to be recognised by.
const EXCERPT_CHARS: usize = 240;

pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Ids of events of the same moment, in the order the events are to be read.
pub(crate) fn ordered_ids(count: usize, now: Timestamp) -> Vec<Uuid> {
    let mut ids: Vec<Uuid> = (0..count).map(|_| new_id(now)).collect();
    ids.sort_unstable();
    ids
}

/// What a change is about. Entities have events too, though they are no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    pub memory_type: &'static str,
    pub memory_id: Uuid,
}

#[derive(Debug, Clone)]
pub struct NewEvent {
    pub event_type: EventType,
    /// `None`: the event is about many.
    pub about: Option<Subject>,
    /// `before` and `after` hold the fields that changed.
    pub payload: Value,
}

/// To be called in the transaction of the change it records.
pub async fn append(
    session: &mut Session,
    tenant: &TenantId,
    events: &[NewEvent],
    now: Timestamp,
    origin: &Origin,
) -> Result<(), StoreError> {
    let ids = ordered_ids(events.len(), now);
    let types: Vec<String> = events.iter().map(|event| event.event_type.as_str().to_owned()).collect();
    let memory_types: Vec<Option<String>> =
        events.iter().map(|event| event.about.map(|about| about.memory_type.to_owned())).collect();
    let memory_ids: Vec<Option<Uuid>> = events.iter().map(|event| event.about.map(|about| about.memory_id)).collect();
    let payloads: Vec<Value> = events.iter().map(|event| event.payload.clone()).collect();
    session
        .run(|pg| {
            sqlx::query!(
                "INSERT INTO memory_events (tenant_id, actor, request_id, created_at,
                                            id, event_type, memory_type, memory_id, payload)
                 SELECT $1, $2, $3, $4, e.* FROM unnest($5::uuid[], $6::text[], $7::text[], $8::uuid[], $9::jsonb[]) e",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                &ids,
                &types,
                &memory_types as &[Option<String>],
                &memory_ids as &[Option<Uuid>],
                &payloads
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}
