//! Conversion of rows to domain types. An error names table, column and row.

use butler_domain::times::FactDates;
use butler_domain::{EntityId, Episode, EpisodeId, Fact, FactId, Rule, RuleId, Timestamp};
use serde_json::{Map, Value};
use sqlx::types::Json;
use uuid::Uuid;

use crate::StoreError;
use crate::times::PeriodRow;

/// All columns but the embedding and the search vector, which never leave the database.
#[derive(Debug)]
pub(crate) struct EpisodeRow {
    pub id: Uuid,
    pub tenant_id: String,
    pub butler: String,
    pub session_id: Option<Uuid>,
    pub content: String,
    pub importance: f64,
    pub reference_count: i32,
    pub consolidated: bool,
    pub consolidation_status: String,
    pub retry_count: i32,
    pub last_error: Option<String>,
    pub next_consolidation_retry_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub occurred_at: Timestamp,
    pub last_referenced_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    pub source: String,
    pub held_for: Option<Value>,
    pub metadata: Value,
}

#[derive(Debug)]
pub(crate) struct FactRow {
    pub id: Uuid,
    pub tenant_id: String,
    pub subject: String,
    pub predicate: String,
    pub content: String,
    pub importance: f64,
    pub confidence: f64,
    pub decay_rate: f64,
    pub permanence: String,
    pub source: String,
    pub source_butler: Option<String>,
    pub source_episode_id: Option<Uuid>,
    pub supersedes_id: Option<Uuid>,
    pub entity_id: Option<Uuid>,
    pub object_entity_id: Option<Uuid>,
    pub validity: String,
    pub scope: String,
    pub reference_count: i32,
    pub created_at: Timestamp,
    pub last_referenced_at: Option<Timestamp>,
    pub last_confirmed_at: Option<Timestamp>,
    pub dates: Option<Json<FactDates>>,
    /// The timeline of its key, if requested.
    pub periods: Option<Json<Vec<PeriodRow>>>,
    pub tags: Value,
    pub metadata: Value,
}

#[derive(Debug)]
pub(crate) struct RuleRow {
    pub id: Uuid,
    pub tenant_id: String,
    pub content: String,
    pub scope: String,
    pub maturity: String,
    pub confidence: f64,
    pub decay_rate: f64,
    pub permanence: String,
    pub effectiveness_score: f64,
    pub applied_count: i32,
    pub success_count: i32,
    pub harmful_count: i32,
    pub source: String,
    pub source_episode_id: Option<Uuid>,
    pub source_butler: Option<String>,
    pub created_at: Timestamp,
    pub last_applied_at: Option<Timestamp>,
    pub last_evaluated_at: Option<Timestamp>,
    pub last_confirmed_at: Option<Timestamp>,
    pub reference_count: i32,
    pub last_referenced_at: Option<Timestamp>,
    pub tags: Value,
    pub metadata: Value,
}

/// Where a bad value was found.
struct RowId {
    table: &'static str,
    id: Uuid,
}

impl RowId {
    fn bad(&self, column: &'static str, reason: impl ToString) -> StoreError {
        StoreError::BadData { table: self.table, column, id: self.id.to_string(), reason: reason.to_string() }
    }

    fn kind<T: std::str::FromStr<Err = butler_domain::UnknownName>>(
        &self,
        column: &'static str,
        text: &str,
    ) -> Result<T, StoreError> {
        text.parse().map_err(|error| self.bad(column, error))
    }

    fn object(&self, column: &'static str, value: Value) -> Result<Map<String, Value>, StoreError> {
        match value {
            Value::Object(map) => Ok(map),
            _ => Err(self.bad(column, "not an object")),
        }
    }

    fn strings(&self, column: &'static str, value: Value) -> Result<Vec<String>, StoreError> {
        serde_json::from_value(value).map_err(|error| self.bad(column, error))
    }
}

impl TryFrom<EpisodeRow> for Episode {
    type Error = StoreError;

    fn try_from(row: EpisodeRow) -> Result<Self, StoreError> {
        let at = RowId { table: "episodes", id: row.id };
        Ok(Self {
            id: EpisodeId(row.id),
            tenant_id: row.tenant_id,
            butler: row.butler,
            session_id: row.session_id,
            content: row.content,
            importance: row.importance,
            reference_count: row.reference_count,
            consolidated: row.consolidated,
            consolidation_status: at.kind("consolidation_status", &row.consolidation_status)?,
            retry_count: row.retry_count,
            consolidation_attempts: row.retry_count,
            last_consolidation_error: row.last_error.clone(),
            last_error: row.last_error,
            next_consolidation_retry_at: row.next_consolidation_retry_at,
            created_at: row.created_at,
            occurred_at: row.occurred_at,
            last_referenced_at: row.last_referenced_at,
            expires_at: row.expires_at,
            source: at.kind("source", &row.source)?,
            held_for: row.held_for,
            metadata: at.object("metadata", row.metadata)?,
        })
    }
}

impl TryFrom<FactRow> for Fact {
    type Error = StoreError;

    fn try_from(row: FactRow) -> Result<Self, StoreError> {
        let at = RowId { table: "facts", id: row.id };
        Ok(Self {
            id: FactId(row.id),
            tenant_id: row.tenant_id,
            subject: row.subject,
            predicate: row.predicate,
            content: row.content,
            importance: row.importance,
            confidence: row.confidence,
            decay_rate: row.decay_rate,
            permanence: at.kind("permanence", &row.permanence)?,
            source: at.kind("source", &row.source)?,
            source_butler: row.source_butler,
            source_episode_id: row.source_episode_id.map(EpisodeId),
            supersedes_id: row.supersedes_id.map(FactId),
            entity_id: row.entity_id.map(EntityId),
            object_entity_id: row.object_entity_id.map(EntityId),
            validity: at.kind("validity", &row.validity)?,
            scope: row.scope,
            reference_count: row.reference_count,
            created_at: row.created_at,
            last_referenced_at: row.last_referenced_at,
            last_confirmed_at: row.last_confirmed_at,
            dates: row.dates.map(|Json(dates)| dates.shown()).unwrap_or_default(),
            tags: at.strings("tags", row.tags)?,
            metadata: at.object("metadata", row.metadata)?,
        })
    }
}

impl TryFrom<RuleRow> for Rule {
    type Error = StoreError;

    fn try_from(row: RuleRow) -> Result<Self, StoreError> {
        let at = RowId { table: "rules", id: row.id };
        Ok(Self {
            id: RuleId(row.id),
            tenant_id: row.tenant_id,
            content: row.content,
            scope: row.scope,
            maturity: at.kind("maturity", &row.maturity)?,
            confidence: row.confidence,
            decay_rate: row.decay_rate,
            permanence: at.kind("permanence", &row.permanence)?,
            effectiveness_score: row.effectiveness_score,
            applied_count: row.applied_count,
            success_count: row.success_count,
            harmful_count: row.harmful_count,
            source: at.kind("source", &row.source)?,
            source_episode_id: row.source_episode_id.map(EpisodeId),
            source_butler: row.source_butler,
            created_at: row.created_at,
            last_applied_at: row.last_applied_at,
            last_evaluated_at: row.last_evaluated_at,
            last_confirmed_at: row.last_confirmed_at,
            reference_count: row.reference_count,
            last_referenced_at: row.last_referenced_at,
            tags: at.strings("tags", row.tags)?,
            metadata: at.object("metadata", row.metadata)?,
        })
    }
}
