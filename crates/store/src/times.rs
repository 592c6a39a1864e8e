//! When facts are true: the facts of one key in the order of time.

use std::collections::HashMap;

use butler_domain::phrases::NamedEvent;
use butler_domain::times::{FactDates, ShownDates};
use butler_domain::{FactId, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use uuid::Uuid;

use crate::{Session, StoreError};

/// Former texts of memories that have changed since a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextsThen {
    pub rules: Vec<(Uuid, String)>,
    pub entities: Vec<(Uuid, String)>,
}

/// The texts of rules and the names of entities at a moment, read from the events since.
pub async fn texts_then(
    session: &mut Session,
    tenant: &TenantId,
    rules: &[Uuid],
    entities: &[Uuid],
    as_of: Timestamp,
) -> Result<TextsThen, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT DISTINCT ON (e.memory_id) e.memory_id AS "id!", e.memory_type = 'rule' AS "is_rule!",
                       coalesce(e.payload -> 'before' ->> 'content', e.payload -> 'before' ->> 'canonical_name') AS text
                FROM memory_events e
                WHERE e.tenant_id = $1 AND e.memory_id = ANY ($2) AND e.created_at > $3
                  AND e.event_type IN ('rule_edited', 'rule_inverted', 'entity_updated')
                  AND (e.payload -> 'before' ? 'content' OR e.payload -> 'before' ? 'canonical_name')
                ORDER BY e.memory_id, e.created_at, e.id
                "#,
                tenant.as_str(),
                &[rules, entities].concat()[..],
                as_of
            )
            .fetch_all(pg)
        })
        .await?;
    let mut then = TextsThen::default();
    for row in rows {
        let Some(text) = row.text else { continue };
        if row.is_rule { then.rules.push((row.id, text)) } else { then.entities.push((row.id, text)) }
    }
    Ok(then)
}

/// When an event was, according to the facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventDate {
    /// No dated fact tells it.
    Unknown,
    /// Several do, with different dates.
    Ambiguous,
    /// The moment, and the date as it was given.
    At(Timestamp, Option<String>),
}

/// When the event was that a query names. `scope`: facts of this scope and `global`; `None`: of all.
pub async fn event_date(
    session: &mut Session,
    tenant: &TenantId,
    scope: Option<&str>,
    query: &str,
    event: &NamedEvent,
) -> Result<EventDate, StoreError> {
    let mut rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT valid_from AS "at!", given FROM named_date($1, $2, $3, $4, $5)"#,
                tenant.as_str(),
                scope,
                query,
                &event.words,
                event.needs_all(),
            )
            .fetch_all(pg)
        })
        .await?
        .into_iter();
    Ok(match (rows.next(), rows.next()) {
        (None, _) => EventDate::Unknown,
        (Some(row), None) => EventDate::At(row.at, row.given),
        (Some(_), Some(_)) => EventDate::Ambiguous,
    })
}

/// The names that entities had at a moment, of those that were renamed since.
pub async fn names_then(
    session: &mut Session,
    tenant: &TenantId,
    ids: &[Uuid],
    as_of: Timestamp,
) -> Result<HashMap<Uuid, String>, StoreError> {
    Ok(texts_then(session, tenant, &[], ids, as_of).await?.entities.into_iter().collect())
}

/// A fact of a key and when it is true.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Period {
    pub id: Uuid,
    pub content: String,
    pub validity: String,
    /// `past`, `present`, `future`, or `never` for a fact that another one corrected or replaced.
    pub when: String,
    #[serde(flatten)]
    pub dates: ShownDates,
    /// When it starts to hold; null if unknown.
    pub holds_from: Option<Timestamp>,
    /// The first moment at which it no longer holds; null if it still does.
    pub holds_to: Option<Timestamp>,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it was forgotten or expired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

/// A period as the database returns it.
#[derive(Debug, Deserialize)]
pub(crate) struct PeriodRow {
    id: Uuid,
    content: String,
    validity: String,
    when: String,
    created_at: Timestamp,
    ended_at: Option<Timestamp>,
    dates: Option<FactDates>,
}

impl From<PeriodRow> for Period {
    fn from(row: PeriodRow) -> Self {
        let dates = row.dates.unwrap_or_default();
        Self {
            id: row.id,
            content: row.content,
            validity: row.validity,
            when: row.when,
            holds_from: dates.holds_from,
            holds_to: dates.holds_to,
            dates: dates.shown(),
            created_at: row.created_at,
            ended_at: row.ended_at,
        }
    }
}

/// How many periods of a key are shown, the latest ones.
pub(crate) const PERIODS: i32 = 100;

/// The timeline of a fact's key, earliest first. For a predicate with several values it includes all of them.
pub async fn timeline(
    session: &mut Session,
    tenant: &TenantId,
    id: FactId,
    now: Timestamp,
) -> Result<Vec<Period>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT fact_timeline(tenant_id, scope, holder, predicate_key, $3, $4) AS "periods: Json<Vec<PeriodRow>>"
                   FROM facts WHERE tenant_id = $1 AND id = $2"#,
                tenant.as_str(),
                id.0,
                now,
                PERIODS
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(rows.flatten().map(|Json(rows)| rows.into_iter().map(Period::from).collect()).unwrap_or_default())
}
