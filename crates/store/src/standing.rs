//! Which filters of a search a memory passes.

use butler_domain::{MemoryType, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use uuid::Uuid;

use crate::search::TimeFilterRow;
use crate::{Session, StoreError};

/// The filters of a search, as `functions/memory_standing.sql` reads them.
#[derive(Debug, Clone, Serialize)]
pub struct Filters<'a> {
    pub scope: Option<&'a str>,
    pub at: Timestamp,
    // The key in the JSON stays: a newer program's functions also serve an older program.
    #[serde(rename = "asked", skip_serializing_if = "Option::is_none")]
    pub time_filter: Option<TimeFilterRow>,
    pub holding: bool,
    pub model: &'a str,
    pub model_version: &'a str,
}

/// A memory and the filters it passes; `None` if a filter does not apply.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Standing {
    pub memory_type: MemoryType,
    /// The scope of a fact or rule, or the butler of an episode.
    pub scope: String,
    /// `active`, `superseded`, `expired`, `retracted`, `forgotten`, or of a proposal `proposed` or `rejected`.
    pub state: String,
    /// A short text of it.
    pub label: String,
    pub in_scope: bool,
    /// Whether its state lets a search find it.
    pub is_live: bool,
    /// Whether it is true now.
    pub holds: Option<bool>,
    /// Whether it fits the requested period.
    pub fits: Option<bool>,
    pub holds_from: Option<Timestamp>,
    pub holds_to: Option<Timestamp>,
    /// The confidence left after decay; `None` for what is found whatever its confidence.
    pub effective_confidence: Option<f64>,
    pub superseded_by: Option<Uuid>,
    /// Whether consolidation leaves the episode out until a person releases it.
    #[serde(default)]
    pub is_held: bool,
    pub is_embedded: bool,
    /// Whether the current model made its vector.
    pub is_of_model: Option<bool>,
}

/// Applies the filters to one memory; `None` if the tenant has no such memory.
pub async fn of(
    session: &mut Session,
    tenant: &TenantId,
    id: Uuid,
    filters: &Filters<'_>,
) -> Result<Option<Standing>, StoreError> {
    let standing = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT memory_standing($1, $2, $3) AS "standing: Json<Standing>""#,
                tenant.as_str(),
                id,
                Json(filters) as _
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(standing.map(|Json(standing)| standing))
}
