//! The entities that relations connect to one.

use std::collections::HashMap;

use butler_domain::times::{FactDates, ShownDates};
use butler_domain::{Direction, EntityId, EntityType, FactId, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use sqlx::types::Json;
use uuid::Uuid;

use crate::search::TimeFilterRow;
use crate::times::names_then;
use crate::{Session, StoreError};

/// What to follow from an entity.
#[derive(Debug, Clone)]
pub struct Neighborhood {
    pub entity: EntityId,
    /// Only these predicates; `None`: all.
    pub predicates: Option<Vec<String>>,
    pub direction: Direction,
    pub depth: i32,
    /// At most so many edges, the nearest first.
    pub limit: i32,
    /// The relations of this time; `None`: now.
    pub time_filter: Option<TimeFilterRow>,
}

/// The edges around an entity and the entities at their ends.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Neighbors {
    pub entities: Vec<Neighbor>,
    pub edges: Vec<Edge>,
}

/// An entity and its distance from the first one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Neighbor {
    pub entity_id: EntityId,
    pub canonical_name: String,
    pub entity_type: EntityType,
    /// The number of edges to it; 0 for the entity itself.
    pub depth: i32,
}

/// A fact that connects two entities.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Edge {
    pub fact_id: FactId,
    pub source_entity_id: EntityId,
    pub predicate: String,
    pub target_entity_id: EntityId,
    pub content: String,
    /// Whether it is read from the other side: the fact states the inverse, or the relation is symmetric.
    pub inferred: bool,
    pub effective_confidence: f64,
    pub depth: i32,
    pub created_at: Timestamp,
    #[serde(flatten)]
    pub dates: ShownDates,
}

/// The edges around an entity of the tenant, breadth first.
pub async fn neighbors(
    session: &mut Session,
    tenant: &TenantId,
    now: Timestamp,
    around: &Neighborhood,
) -> Result<Neighbors, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT depth AS "depth!", fact_id AS "fact_id!", source_id AS "source_id!", target_id AS "target_id!",
                          predicate AS "predicate!", content AS "content!", inferred AS "inferred!", effective AS "effective!",
                          learned_at AS "learned_at!", dates AS "dates: Json<FactDates>"
                   FROM entity_neighbors($1, $2, $3, $4, $5, $6, $7, $8)"#,
                tenant.as_str(),
                now,
                around.entity.0,
                around.predicates.as_deref(),
                around.direction.as_str(),
                around.depth,
                around.limit,
                around.time_filter.as_ref().map(Json) as _,
            )
            .fetch_all(pg)
        })
        .await?;
    let edges: Vec<Edge> = rows
        .into_iter()
        .map(|row| Edge {
            fact_id: FactId(row.fact_id),
            source_entity_id: EntityId(row.source_id),
            predicate: row.predicate,
            target_entity_id: EntityId(row.target_id),
            content: row.content,
            inferred: row.inferred,
            effective_confidence: row.effective,
            depth: row.depth,
            created_at: row.learned_at,
            dates: row.dates.map(|Json(dates)| dates.shown()).unwrap_or_default(),
        })
        .collect();
    let as_of = around.time_filter.as_ref().and_then(|filter| filter.as_of);
    let entities = entities(session, tenant, around.entity, &edges, as_of).await?;
    Ok(Neighbors { entities, edges })
}

/// The entities at the ends of the edges, nearest first, with the names that they had at `as_of`.
async fn entities(
    session: &mut Session,
    tenant: &TenantId,
    start: EntityId,
    edges: &[Edge],
    as_of: Option<Timestamp>,
) -> Result<Vec<Neighbor>, StoreError> {
    let mut depths: Vec<(Uuid, i32)> = vec![(start.0, 0)];
    for edge in edges {
        for end in [edge.source_entity_id.0, edge.target_entity_id.0] {
            if depths.iter().all(|(id, _)| *id != end) {
                depths.push((end, edge.depth));
            }
        }
    }
    let (ids, depths): (Vec<Uuid>, Vec<i32>) = depths.into_iter().unzip();
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT e.id, e.canonical_name, e.entity_type, n.depth AS "depth!"
                   FROM unnest($2::uuid[], $3::integer[]) WITH ORDINALITY AS n (id, depth, place)
                   JOIN entities e ON e.id = n.id AND e.tenant_id = $1 ORDER BY n.place"#,
                tenant.as_str(),
                &ids,
                &depths,
            )
            .fetch_all(pg)
        })
        .await?;
    let mut names = match as_of {
        Some(as_of) => names_then(session, tenant, &ids, as_of).await?,
        None => HashMap::new(),
    };
    rows.into_iter()
        .map(|row| {
            Ok(Neighbor {
                entity_id: EntityId(row.id),
                entity_type: super::entity_type(row.id, &row.entity_type)?,
                canonical_name: names.remove(&row.id).unwrap_or(row.canonical_name),
                depth: row.depth,
            })
        })
        .collect()
}
