//! The audit stream: what changed, by whom, in which request. Most writes record their events in their own SQL function;
//! [`record`] is for transactions of several statements.

use butler_domain::Timestamp;
use butler_domain::event::EventType;
use butler_domain::ids::new_id;
use serde_json::Value;
use uuid::Uuid;

use crate::{StoreError, WriteContext};

/// A stored memory keeps its own text; its event needs only enough to recognise it by.
const EXCERPT_CHARS: usize = 240;

pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Ids for events of the same moment: readers sort by id, so the events appear in this order.
pub(crate) fn ordered_ids(count: usize, now: Timestamp) -> Vec<Uuid> {
    let mut ids: Vec<Uuid> = (0..count).map(|_| new_id(now)).collect();
    ids.sort_unstable();
    ids
}

/// The memory or entity that an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    pub memory_type: &'static str,
    pub memory_id: Uuid,
}

/// An event to record.
#[derive(Debug, Clone)]
pub struct NewEvent {
    pub event_type: EventType,
    /// `None`: the event is about many rows.
    pub about: Option<Subject>,
    /// Its members `before` and `after` hold the fields that changed.
    pub payload: Value,
}

/// Records events in the transaction of the change they describe.
pub async fn record(write: WriteContext<'_>, events: &[NewEvent]) -> Result<(), StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let ids = ordered_ids(events.len(), now);
    let types: Vec<String> = events.iter().map(|event| event.event_type.as_str().to_owned()).collect();
    let memory_types: Vec<Option<String>> =
        events.iter().map(|event| event.about.map(|about| about.memory_type.to_owned())).collect();
    let memory_ids: Vec<Option<Uuid>> = events.iter().map(|event| event.about.map(|about| about.memory_id)).collect();
    let payloads: Vec<Value> = events.iter().map(|event| event.payload.clone()).collect();
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT FROM unnest($5::uuid[], $6::text[], $7::text[], $8::uuid[], $9::jsonb[])
                             AS e (id, event_type, memory_type, memory_id, payload),
                         record_event($1, $2, $3, $4, e.id, e.event_type, e.memory_type, e.memory_id, e.payload)",
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
