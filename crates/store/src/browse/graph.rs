//! Entities and the relations among them, as a graph.

use butler_domain::times::{FactDates, ShownDates};
use butler_domain::{EntityId, EntityType, FactId, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use sqlx::types::Json;
use uuid::Uuid;

use crate::search::TimeFilterRow;
use crate::times::names_then;
use crate::{Session, StoreError};

/// The entities with most relations, and the relations among them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Graph {
    /// Most relations first.
    pub entities: Vec<GraphEntity>,
    /// Newest first, at most 10,000.
    pub edges: Vec<GraphEdge>,
    /// Number of entities that have relations, including those left out.
    pub entities_total: i64,
    /// Every predicate of a relation, most frequent first, whatever the filter.
    pub predicates: Vec<GraphPredicate>,
}

/// A node: an entity that at least one relation starts from or leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphEntity {
    pub entity_id: EntityId,
    pub canonical_name: String,
    pub entity_type: EntityType,
    /// Number of its relations.
    pub edges: i64,
}

/// A relation, as its fact states it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GraphEdge {
    pub fact_id: FactId,
    pub source_entity_id: EntityId,
    pub predicate: String,
    pub target_entity_id: EntityId,
    pub content: String,
    pub effective_confidence: f64,
    pub created_at: Timestamp,
    #[serde(flatten)]
    pub dates: ShownDates,
}

/// A predicate and how many relations have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphPredicate {
    pub predicate: String,
    pub edges: i64,
}

/// The graph of a tenant's active relations. `predicates`: only these; `None`: all.
pub async fn graph(
    session: &mut Session,
    tenant: &TenantId,
    now: Timestamp,
    predicates: Option<&[String]>,
    limit: i64,
    time_filter: Option<&TimeFilterRow>,
) -> Result<Graph, StoreError> {
    let (mut entities, entities_total) = entities(session, tenant, now, predicates, limit, time_filter).await?;
    let ids: Vec<Uuid> = entities.iter().map(|entity| entity.entity_id.0).collect();
    let edges = edges(session, tenant, now, predicates, &ids, time_filter).await?;
    let predicates = predicates_by_use(session, tenant).await?;
    if let Some(as_of) = time_filter.and_then(|filter| filter.as_of) {
        let mut names = names_then(session, tenant, &ids, as_of).await?;
        for entity in &mut entities {
            if let Some(name) = names.remove(&entity.entity_id.0) {
                entity.canonical_name = name;
            }
        }
    }
    Ok(Graph { entities, edges, entities_total, predicates })
}

/// The entities with most relations, and how many have any.
async fn entities(
    session: &mut Session,
    tenant: &TenantId,
    now: Timestamp,
    predicates: Option<&[String]>,
    limit: i64,
    time_filter: Option<&TimeFilterRow>,
) -> Result<(Vec<GraphEntity>, i64), StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH ends AS (
                    SELECT v.id
                    FROM facts f, LATERAL (VALUES (f.entity_id), (f.object_entity_id)) AS v (id)
                    WHERE f.tenant_id = $1 AND f.entity_id IS NOT NULL AND f.object_entity_id IS NOT NULL
                      AND fact_fits(f.id, f.validity, f.holds_from, f.holds_to, f.placed_at, f.ended_at, f.created_at, f.observed_at, $4, $5)
                      AND ($2::text[] IS NULL OR f.predicate_key = ANY (SELECT predicate_key(p) FROM unnest($2::text[]) AS p))),
                counted AS (SELECT id, count(*) AS edges FROM ends GROUP BY id)
                SELECT e.id, e.canonical_name, e.entity_type, c.edges AS "edges!", count(*) OVER () AS "total!"
                FROM counted c JOIN entities e ON e.id = c.id AND e.tenant_id = $1
                ORDER BY c.edges DESC, lower(e.canonical_name), e.id LIMIT $3
                "#,
                tenant.as_str(),
                predicates,
                limit,
                now,
                time_filter.map(Json) as _,
            )
            .fetch_all(pg)
        })
        .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let entities = rows.into_iter().map(|row| -> Result<GraphEntity, StoreError> {
        Ok(GraphEntity {
            entity_id: EntityId(row.id),
            entity_type: crate::entities::entity_type(row.id, &row.entity_type)?,
            canonical_name: row.canonical_name,
            edges: row.edges,
        })
    });
    Ok((entities.collect::<Result<_, _>>()?, total))
}

/// The relations among these entities, newest first.
async fn edges(
    session: &mut Session,
    tenant: &TenantId,
    now: Timestamp,
    predicates: Option<&[String]>,
    ids: &[Uuid],
    time_filter: Option<&TimeFilterRow>,
) -> Result<Vec<GraphEdge>, StoreError> {
    let as_of = time_filter.and_then(|filter| filter.as_of);
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT f.id, f.entity_id AS "source!", f.predicate, f.object_entity_id AS "target!", left(f.content, 200) AS "content!",
                       effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, $4) AS "effective!", f.created_at,
                       fact_dates_then(f.id, f.valid_from, f.valid_to, f.observed_at, f.dates, f.holds_from, f.holds_to, $6) AS "dates: Json<FactDates>"
                FROM facts f
                WHERE f.tenant_id = $1 AND f.entity_id = ANY ($3) AND f.object_entity_id = ANY ($3)
                  AND fact_fits(f.id, f.validity, f.holds_from, f.holds_to, f.placed_at, f.ended_at, f.created_at, f.observed_at, $4, $5)
                  AND ($2::text[] IS NULL OR f.predicate_key = ANY (SELECT predicate_key(p) FROM unnest($2::text[]) AS p))
                ORDER BY f.created_at DESC, f.id LIMIT 10000
                "#,
                tenant.as_str(),
                predicates,
                ids,
                now,
                time_filter.map(Json) as _,
                as_of,
            )
            .fetch_all(pg)
        })
        .await?;
    let edges = rows.into_iter().map(|row| GraphEdge {
        fact_id: FactId(row.id),
        source_entity_id: EntityId(row.source),
        predicate: row.predicate,
        target_entity_id: EntityId(row.target),
        content: row.content,
        effective_confidence: row.effective,
        created_at: row.created_at,
        dates: row.dates.map(|Json(dates)| dates.shown()).unwrap_or_default(),
    });
    Ok(edges.collect())
}

/// Every predicate of a relation, most frequent first.
async fn predicates_by_use(session: &mut Session, tenant: &TenantId) -> Result<Vec<GraphPredicate>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                GraphPredicate,
                r#"
                SELECT f.predicate_key AS "predicate!", count(*) AS "edges!" FROM facts f
                WHERE f.tenant_id = $1 AND f.validity = 'active' AND f.entity_id IS NOT NULL AND f.object_entity_id IS NOT NULL
                GROUP BY f.predicate_key ORDER BY 2 DESC, 1
                "#,
                tenant.as_str(),
            )
            .fetch_all(pg)
        })
        .await
}
