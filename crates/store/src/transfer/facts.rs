//! Facts with what belongs to them: their chains, what was believed about their times, and their conflicts.

use butler_domain::{Permanence, TenantId, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::{Session, StoreError};

/// Not checked at compile time, like what reads it: the table is there only within an import.
pub(super) async fn note_chain(session: &mut Session, batch: &Value) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query(
                "INSERT INTO transfer_chain SELECT r.id, r.supersedes_id, r.corrected IS NULL
                 FROM jsonb_to_recordset($1) AS r(id uuid, supersedes_id uuid, corrected boolean) WHERE r.supersedes_id IS NOT NULL",
            )
            .bind(batch)
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// Ties the facts' chains, once all of them are there. What is tied already stays.
pub async fn tie_chains(session: &mut Session, tenant: &TenantId) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query(
                "UPDATE facts f SET supersedes_id = c.supersedes_id FROM transfer_chain c
                 WHERE f.id = c.fact_id AND f.tenant_id = $1 AND f.supersedes_id IS NULL AND f.id <> c.supersedes_id
                   AND EXISTS (SELECT FROM facts o WHERE o.id = c.supersedes_id AND o.tenant_id = $1)",
            )
            .bind(tenant.as_str())
            .execute(pg)
        })
        .await?;
    session
        .run(|pg| {
            sqlx::query(
                "UPDATE facts o SET holds_to = greatest(o.created_at, f.created_at) FROM transfer_chain c JOIN facts f ON f.id = c.fact_id
                 WHERE o.id = c.supersedes_id AND o.tenant_id = $1 AND f.tenant_id = $1 AND o.validity = 'superseded'
                   AND o.holds_to = o.created_at AND o.placed_at IS NULL",
            )
            .bind(tenant.as_str())
            .execute(pg)
        })
        .await?;
    session
        .run(|pg| {
            sqlx::query(
                "UPDATE facts f SET holds_from = f.created_at FROM transfer_chain c
                 WHERE f.id = c.fact_id AND f.tenant_id = $1 AND c.is_old AND f.created_at <= f.holds_to
                   AND f.holds_from = '-infinity'",
            )
            .bind(tenant.as_str())
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// An episode that is not there any more is no source; an entity that is not there is refused by the table.
pub(super) async fn insert(
    session: &mut Session,
    tenant: &TenantId,
    batch: &Value,
    now: Timestamp,
) -> Result<Vec<Uuid>, StoreError> {
    insert!(
        session,
        r#"
        INSERT INTO facts (tenant_id, id, subject, predicate, content, embedding, search_vector, importance, confidence,
                           decay_rate, permanence, source_butler, source_episode_id, entity_id, object_entity_id, slot, scope,
                           validity, reference_count, created_at, last_referenced_at, last_confirmed_at, tags, metadata,
                           embedding_version_id, valid_from, valid_to, observed_at, dates, holds_from, holds_to, placed_at,
                           ended_at, corrected, source)
        SELECT $1, r.id, r.subject, r.predicate, r.content, r.vector::vector, memory_search_vector(r.search_text),
               coalesce(r.importance, 5), coalesce(r.confidence, 1), coalesce(r.decay_rate, $4),
               coalesce(r.permanence, 'standard'), r.source_butler,
               (SELECT e.id FROM episodes e WHERE e.id = r.source_episode_id AND e.tenant_id = $1), r.entity_id,
               r.object_entity_id, coalesce(r.slot, ''), coalesce(r.scope, 'global'), coalesce(r.validity, 'active'), coalesce(r.reference_count, 0), r.created_at,
               r.last_referenced_at, r.last_confirmed_at, coalesce(r.tags, '[]'), coalesce(r.metadata, '{}'),
               CASE WHEN r.vector IS NOT NULL THEN embedding_version($1, r.model, r.model_version, vector_dims(r.vector::vector), $3) END,
               r.valid_from, r.valid_to, r.observed_at, r.dates,
               CASE WHEN r.never THEN coalesce(r.holds_from, 'infinity') ELSE coalesce(r.holds_from, '-infinity') END,
               CASE WHEN r.never THEN coalesce(r.holds_from, 'infinity')
                    -- An older program wrote no times. tie_chains finds the end of what was superseded.
                    WHEN r.corrected IS NULL AND r.validity = 'superseded' THEN r.created_at
                    ELSE coalesce(r.holds_to, 'infinity') END,
               r.placed_at,
               CASE WHEN r.validity IN ('retracted', 'expired', 'forgotten') THEN coalesce(r.ended_at, r.created_at) END,
               coalesce(r.corrected, false), coalesce(r.source, 'import')
        FROM jsonb_to_recordset($2) AS r(id uuid, subject text, predicate text, content text, vector text, search_text text,
                importance double precision, confidence double precision, decay_rate double precision, permanence text,
                source_butler text, source_episode_id uuid, entity_id uuid, object_entity_id uuid, slot text, scope text,
                validity text, reference_count integer, created_at timestamptz, last_referenced_at timestamptz, last_confirmed_at timestamptz, tags jsonb, metadata jsonb,
                model text, model_version text, valid_from timestamptz, valid_to timestamptz, observed_at timestamptz, dates jsonb,
                holds_from timestamptz, holds_to timestamptz, never boolean, placed_at timestamptz, ended_at timestamptz,
                corrected boolean, source text)
        ON CONFLICT DO NOTHING RETURNING id
        "#,
        tenant.as_str(),
        batch,
        now,
        Permanence::Standard.decay_rate()
    )
}

/// What was believed earlier about when the facts hold.
pub(super) async fn beliefs(session: &mut Session, tenant: &TenantId, batch: &Value) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                r#"
                INSERT INTO fact_beliefs (tenant_id, fact_id, believed_from, believed_to, holds_from, holds_to)
                SELECT $1, r.id, b.believed_from, b.believed_to, coalesce(b.holds_from, '-infinity'), coalesce(b.holds_to, 'infinity')
                FROM jsonb_to_recordset($2) AS r(id uuid, beliefs jsonb),
                     jsonb_to_recordset(CASE WHEN jsonb_typeof(r.beliefs) = 'array' THEN r.beliefs ELSE '[]' END)
                         AS b(believed_from timestamptz, believed_to timestamptz, holds_from timestamptz, holds_to timestamptz)
                WHERE b.believed_from < b.believed_to AND EXISTS (SELECT FROM facts f WHERE f.id = r.id AND f.tenant_id = $1)
                ON CONFLICT DO NOTHING
                "#,
                tenant.as_str(),
                batch
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// The conflicts of the facts. Both sides carry a conflict, so the one that comes second finds the other.
pub(super) async fn conflicts(session: &mut Session, tenant: &TenantId, batch: &Value) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                r#"
                INSERT INTO conflicts (tenant_id, id, fact_a, fact_b, kind, why, score, found_at, found_by, state, resolution,
                                       resolved_at, resolved_by, verdict, reason, judged_at)
                SELECT DISTINCT ON (c.id) $1, c.id, c.fact_a, c.fact_b, c.kind, c.why, c.score, c.found_at, c.found_by, c.state,
                       c.resolution, c.resolved_at, c.resolved_by, c.verdict, c.reason, c.judged_at
                FROM jsonb_to_recordset($2) AS r(conflicts jsonb),
                     jsonb_to_recordset(CASE WHEN jsonb_typeof(r.conflicts) = 'array' THEN r.conflicts ELSE '[]' END)
                         AS c(id uuid, fact_a uuid, fact_b uuid, kind text, why text, score double precision, found_at timestamptz,
                              found_by text, state text, resolution text, resolved_at timestamptz, resolved_by text,
                              verdict text, reason text, judged_at timestamptz)
                JOIN facts a ON a.tenant_id = $1 AND a.id = c.fact_a
                JOIN facts b ON b.tenant_id = $1 AND b.id = c.fact_b
                ON CONFLICT DO NOTHING
                "#,
                tenant.as_str(),
                batch
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// Marks the new facts for the job that looks for conflicts: they may be older than what it compares.
pub(super) async fn mark_due(session: &mut Session, tenant: &TenantId, created: &[Uuid]) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                "INSERT INTO conflicts_due (tenant_id, fact_id)
                 SELECT $1, f.id FROM facts f WHERE f.tenant_id = $1 AND f.id = ANY ($2) AND f.validity = 'active'
                 ON CONFLICT DO NOTHING",
                tenant.as_str(),
                created,
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}
