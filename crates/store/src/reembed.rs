//! Which model embedded which memories, and embedding them again with another one.

use butler_domain::event::EventType;
use butler_domain::{MemoryType, TenantId, Timestamp};
use serde_json::json;
use uuid::Uuid;

use crate::embedded::Model;
use crate::{Session, StoreError, WriteContext};

/// A model's version, and how many memories of a tenant it embedded.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct VersionCount {
    /// `None` for memories that were never embedded.
    pub id: Option<Uuid>,
    pub model: Option<String>,
    pub version: Option<String>,
    pub dimensions: Option<i32>,
    pub episodes: i64,
    pub facts: i64,
    pub rules: i64,
}

/// Counts a tenant's memories by the model version that embedded them.
pub async fn versions(session: &mut Session, tenant: &TenantId) -> Result<Vec<VersionCount>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                VersionCount,
                r#"
                WITH counts AS (
                    SELECT embedding_version_id AS id, 'episode' AS kind, count(*) AS n FROM episodes WHERE tenant_id = $1 GROUP BY 1
                    UNION ALL
                    SELECT embedding_version_id, 'fact', count(*) FROM facts WHERE tenant_id = $1 GROUP BY 1
                    UNION ALL
                    SELECT embedding_version_id, 'rule', count(*) FROM rules WHERE tenant_id = $1 GROUP BY 1
                ), known AS (
                    SELECT id, model, version, dimensions, created_at FROM embedding_versions WHERE tenant_id = $1
                    UNION ALL
                    SELECT NULL, NULL, NULL, NULL, NULL WHERE EXISTS (SELECT FROM counts WHERE id IS NULL)
                )
                SELECT k.id, k.model, k.version, k.dimensions,
                       coalesce(sum(n) FILTER (WHERE kind = 'episode'), 0)::bigint AS "episodes!",
                       coalesce(sum(n) FILTER (WHERE kind = 'fact'), 0)::bigint AS "facts!",
                       coalesce(sum(n) FILTER (WHERE kind = 'rule'), 0)::bigint AS "rules!"
                FROM known k LEFT JOIN counts c ON c.id IS NOT DISTINCT FROM k.id
                GROUP BY k.id, k.model, k.version, k.dimensions, k.created_at ORDER BY k.created_at NULLS FIRST, k.id
                "#,
                tenant.as_str()
            )
            .fetch_all(pg)
        })
        .await
}

/// The tenants that have memories. Needs the owner's session.
pub async fn tenants(session: &mut Session) -> Result<Vec<TenantId>, StoreError> {
    let names = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT tenant_id AS "tenant_id!" FROM episodes UNION SELECT tenant_id FROM facts
                   UNION SELECT tenant_id FROM rules ORDER BY 1"#
            )
            .fetch_all(pg)
        })
        .await?;
    // No caller can ask for a tenant with an invalid name, which somebody wrote to the table by hand.
    Ok(names.into_iter().filter_map(|name| TenantId::new(name).ok()).collect())
}

/// The id of a model's version, recorded if it is new.
pub async fn version_id(
    session: &mut Session,
    tenant: &TenantId,
    model: &Model,
    now: Timestamp,
) -> Result<Uuid, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT embedding_version($1, $2, $3, $4, $5) AS "id!""#,
                tenant.as_str(),
                &model.name[..],
                &model.version[..],
                model.dimensions,
                now
            )
            .fetch_one(pg)
        })
        .await
}

/// A memory whose vector is missing or of another version.
#[derive(Debug, Clone, PartialEq)]
pub struct Stale {
    pub id: Uuid,
    /// The text to embed; for a fact, subject, predicate and content together.
    pub text: String,
}

/// The next memories after `after` to embed again, sorted by id. Finished ones no longer appear, so a job that was
/// killed simply continues.
pub async fn stale(
    session: &mut Session,
    tenant: &TenantId,
    memory_type: MemoryType,
    version_id: Uuid,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Stale>, StoreError> {
    let (tenant, after) = (tenant.as_str(), after.unwrap_or_default());
    match memory_type {
        MemoryType::Fact => {
            let rows = session
                .run(|pg| {
                    sqlx::query!(
                        "SELECT id, subject, predicate, content FROM facts
                         WHERE tenant_id = $1 AND embedding_version_id IS DISTINCT FROM $2 AND id > $3 ORDER BY id LIMIT $4",
                        tenant,
                        version_id,
                        after,
                        limit
                    )
                    .fetch_all(pg)
                })
                .await?;
            let text =
                |subject: &str, predicate: &str, content: &str| butler_domain::text::fact_text(subject, predicate, content);
            Ok(rows
                .into_iter()
                .map(|row| Stale { id: row.id, text: text(&row.subject, &row.predicate, &row.content) })
                .collect())
        }
        MemoryType::Episode => {
            session
                .run(|pg| {
                    sqlx::query_as!(
                        Stale,
                        "SELECT id, content AS text FROM episodes
                         WHERE tenant_id = $1 AND embedding_version_id IS DISTINCT FROM $2 AND id > $3 ORDER BY id LIMIT $4",
                        tenant,
                        version_id,
                        after,
                        limit
                    )
                    .fetch_all(pg)
                })
                .await
        }
        MemoryType::Rule => {
            session
                .run(|pg| {
                    sqlx::query_as!(
                        Stale,
                        "SELECT id, content AS text FROM rules
                         WHERE tenant_id = $1 AND embedding_version_id IS DISTINCT FROM $2 AND id > $3 ORDER BY id LIMIT $4",
                        tenant,
                        version_id,
                        after,
                        limit
                    )
                    .fetch_all(pg)
                })
                .await
        }
    }
}

/// Writes new vectors and one event for all of them. A memory that was edited meanwhile, and so has a vector of this
/// version, keeps it. Returns how many were written.
pub async fn renew(
    write: WriteContext<'_>,
    memory_type: MemoryType,
    version_id: Uuid,
    vectors: &[(Uuid, std::sync::Arc<[f32]>)],
) -> Result<u64, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let ids: Vec<Uuid> = vectors.iter().map(|(id, _)| *id).collect();
    let flat: Vec<f32> = vectors.iter().flat_map(|(_, vector)| vector.iter().copied()).collect();
    let width = i64::try_from(flat.len() / ids.len().max(1)).unwrap_or(0);
    let mut tx = session.begin().await?;
    let renewed = match memory_type {
        MemoryType::Fact => tx
            .run(|pg| {
                sqlx::query!(
                    "UPDATE facts m SET embedding = ($3::real[])[(n - 1) * $4 + 1 : n * $4]::vector, embedding_version_id = $5
                     FROM unnest($2::uuid[]) WITH ORDINALITY AS v (id, n)
                     WHERE m.tenant_id = $1 AND m.id = v.id AND m.embedding_version_id IS DISTINCT FROM $5",
                    tenant.as_str(), &ids, &flat, width, version_id
                )
                .execute(pg)
            })
            .await?,
        MemoryType::Rule => tx
            .run(|pg| {
                sqlx::query!(
                    "UPDATE rules m SET embedding = ($3::real[])[(n - 1) * $4 + 1 : n * $4]::vector, embedding_version_id = $5
                     FROM unnest($2::uuid[]) WITH ORDINALITY AS v (id, n)
                     WHERE m.tenant_id = $1 AND m.id = v.id AND m.embedding_version_id IS DISTINCT FROM $5",
                    tenant.as_str(), &ids, &flat, width, version_id
                )
                .execute(pg)
            })
            .await?,
        MemoryType::Episode => tx
            .run(|pg| {
                sqlx::query!(
                    "UPDATE episodes m SET embedding = ($3::real[])[(n - 1) * $4 + 1 : n * $4]::vector, embedding_version_id = $5
                     FROM unnest($2::uuid[]) WITH ORDINALITY AS v (id, n)
                     WHERE m.tenant_id = $1 AND m.id = v.id AND m.embedding_version_id IS DISTINCT FROM $5",
                    tenant.as_str(), &ids, &flat, width, version_id
                )
                .execute(pg)
            })
            .await?,
    }
    .rows_affected();
    if renewed > 0 {
        let event = crate::events::NewEvent {
            event_type: EventType::Reembedded,
            about: None,
            payload: json!({ "memory_type": memory_type, "count": renewed, "after": { "embedding_version_id": version_id } }),
        };
        let write = WriteContext { session: &mut tx, tenant, now, origin };
        crate::events::record(write, &[event]).await?;
    }
    tx.commit().await?;
    Ok(renewed)
}
