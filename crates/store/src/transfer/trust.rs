//! What an import must not bring back, and the rows about proposals and tombstones.

use butler_domain::{TenantId, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use super::Kind;
use crate::trust::ForgottenStatement;
use crate::{Session, StoreError};

/// Notes what was forgotten before the import, until the transaction ends. What the file itself brings counts as a whole.
pub(super) async fn note_forgotten(session: &mut Session, tenant: &TenantId) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::raw_sql("CREATE TEMPORARY TABLE transfer_forgotten (id uuid PRIMARY KEY) ON COMMIT DROP").execute(pg)
        })
        .await?;
    session
        .run(|pg| {
            sqlx::query(
                "INSERT INTO transfer_forgotten
                 SELECT id FROM facts WHERE tenant_id = $1 AND validity = 'retracted'
                 UNION ALL SELECT id FROM rules WHERE tenant_id = $1 AND metadata -> 'forgotten' = 'true'
                 UNION ALL SELECT id FROM tombstones WHERE tenant_id = $1 AND hash IS NOT NULL",
            )
            .bind(tenant.as_str())
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// Whether anything of the tenant was erased.
pub async fn has_erased(session: &mut Session, tenant: &TenantId) -> Result<bool, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT FROM tombstones WHERE tenant_id = $1 AND hash IS NOT NULL) AS "exists!""#,
                tenant.as_str()
            )
            .fetch_one(pg)
        })
        .await
}

/// Rows of the batch that say what was forgotten or erased here, or nearly: the position in the batch and one candidate each.
/// What was forgotten may come as history, which is not active; what was erased may not come in any state. Rows that exist
/// already are left alone.
pub async fn forgotten(
    session: &mut Session,
    kind: Kind,
    tenant: &TenantId,
    rows: &[Value],
    near: f64,
    now: Timestamp,
) -> Result<Vec<(usize, ForgottenStatement)>, StoreError> {
    #[derive(sqlx::FromRow)]
    struct Candidate {
        position: i64,
        id: Uuid,
        content: Option<String>,
        similarity: Option<f64>,
        is_same: bool,
        forgotten_at: Option<Timestamp>,
    }
    let text = match kind {
        Kind::Fact => FORGOTTEN_FACTS,
        Kind::Rule => FORGOTTEN_RULES,
        Kind::Proposal => ERASED_PROPOSALS,
        Kind::Event => ERASED_EVENTS,
        _ => return Ok(Vec::new()),
    };
    // Not checked at compile time: the temporary table is there only within an import.
    let found: Vec<Candidate> = session
        .run(|pg| {
            sqlx::query_as(text)
                .bind(tenant.as_str())
                .bind(Value::Array(rows.to_vec()))
                .bind(near)
                .bind(now)
                .fetch_all(pg)
        })
        .await?;
    Ok(found
        .into_iter()
        .map(|row| {
            let Candidate { position, id, content, similarity, is_same, forgotten_at } = row;
            let position = usize::try_from(position).unwrap_or_default().saturating_sub(1);
            (position, ForgottenStatement { id, content, similarity, is_same, forgotten_at })
        })
        .collect())
}

const FORGOTTEN_FACTS: &str = "
    SELECT b.position, f.id, f.content, f.similarity, f.is_same, f.forgotten_at
    FROM jsonb_array_elements($2) WITH ORDINALITY AS b(value, position),
         jsonb_to_record(b.value) AS r(id uuid, subject text, predicate text, content text, entity_id uuid, validity text,
                                       valid_from timestamptz, vector text, model text, model_version text),
         forgotten_facts($1, r.entity_id, r.subject, predicate_key(r.predicate), r.content, r.valid_from, r.vector::vector::real[],
                         CASE WHEN r.vector IS NOT NULL THEN embedding_version($1, r.model, r.model_version, vector_dims(r.vector::vector), $4) END,
                         $3) AS f
    WHERE EXISTS (SELECT FROM transfer_forgotten) AND (coalesce(r.validity, 'active') = 'active' OR f.content IS NULL)
      AND NOT EXISTS (SELECT FROM facts o WHERE o.id = r.id) AND f.id IN (SELECT id FROM transfer_forgotten)";

const FORGOTTEN_RULES: &str = "
    SELECT b.position, f.id, f.content, f.similarity, f.is_same, f.forgotten_at
    FROM jsonb_array_elements($2) WITH ORDINALITY AS b(value, position),
         jsonb_to_record(b.value) AS r(id uuid, content text, metadata jsonb, vector text, model text, model_version text),
         forgotten_rules($1, r.content, r.vector::vector::real[],
                         CASE WHEN r.vector IS NOT NULL THEN embedding_version($1, r.model, r.model_version, vector_dims(r.vector::vector), $4) END,
                         $3) AS f
    WHERE EXISTS (SELECT FROM transfer_forgotten) AND (rule_is_remembered(coalesce(r.metadata, '{}')) OR f.content IS NULL)
      AND NOT EXISTS (SELECT FROM rules o WHERE o.id = r.id) AND f.id IN (SELECT id FROM transfer_forgotten)";

const ERASED_PROPOSALS: &str = "
    SELECT b.position, t.id, NULL::text AS content, NULL::double precision AS similarity, true AS is_same, t.created_at AS forgotten_at
    FROM jsonb_array_elements($2) WITH ORDINALITY AS b(value, position),
         jsonb_to_record(b.value) AS r(id uuid, memory_type text, memory jsonb), tombstones t
    WHERE t.tenant_id = $1 AND t.allowed_at IS NULL AND t.id IN (SELECT id FROM transfer_forgotten)
      AND t.hash = CASE r.memory_type
              WHEN 'fact' THEN statement_hash($1, 'fact', fact_holder(NULL, r.memory ->> 'subject'),
                                              predicate_key(r.memory ->> 'predicate'), content_key(r.memory ->> 'content'))
              ELSE statement_hash($1, 'rule', content_key(r.memory ->> 'content')) END
      AND NOT EXISTS (SELECT FROM proposals o WHERE o.id = r.id)";

/// Events whose payload quotes what was erased. Events about erased memories are recognised by their ids.
const ERASED_EVENTS: &str = "
    SELECT b.position, t.id, NULL::text AS content, NULL::double precision AS similarity, true AS is_same, t.created_at AS forgotten_at
    FROM jsonb_array_elements($2) WITH ORDINALITY AS b(value, position),
         jsonb_to_record(b.value) AS r(id uuid, memory_type text, payload jsonb),
         unnest(ARRAY[r.payload -> 'before', r.payload -> 'after']) AS said, tombstones t
    WHERE t.tenant_id = $1 AND t.allowed_at IS NULL AND t.id IN (SELECT id FROM transfer_forgotten)
      AND said ->> 'content' IS NOT NULL
      AND t.hash = CASE r.memory_type
              WHEN 'fact' THEN statement_hash($1, 'fact', fact_holder(NULL, said ->> 'subject'), predicate_key(said ->> 'predicate'),
                                              content_key(said ->> 'content'))
              WHEN 'rule' THEN statement_hash($1, 'rule', content_key(said ->> 'content')) END
      AND NOT EXISTS (SELECT FROM memory_events o WHERE o.id = r.id)";

pub(super) async fn proposals(
    session: &mut Session,
    tenant: &TenantId,
    batch: &Value,
) -> Result<Vec<Uuid>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                INSERT INTO proposals (tenant_id, id, memory_type, memory, statement_key, source, proposed_by, created_at, state,
                                       decided_at, decided_by)
                SELECT $1, r.id, r.memory_type, r.memory, r.statement_key, coalesce(r.source, 'import'), r.proposed_by, r.created_at,
                       coalesce(r.state, 'open'), r.decided_at, r.decided_by
                FROM jsonb_to_recordset($2) AS r(id uuid, memory_type text, memory jsonb, statement_key text, source text,
                        proposed_by text, created_at timestamptz, state text, decided_at timestamptz, decided_by text)
                ON CONFLICT DO NOTHING RETURNING id
                "#,
                tenant.as_str(),
                batch
            )
            .fetch_all(pg)
        })
        .await
}

/// Hashes of another key than the tenant's could never match, so they are left out. An import lifts no tombstone that stands
/// here: that is a decision about each statement, and a file may be old or forged.
pub(super) async fn tombstones(
    session: &mut Session,
    tenant: &TenantId,
    batch: &Value,
) -> Result<Vec<Uuid>, StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                r#"
                INSERT INTO tombstone_keys (tenant_id, key)
                SELECT $1, decode(r.key, 'hex') FROM jsonb_to_recordset($2) AS r(key text) WHERE r.key IS NOT NULL LIMIT 1
                ON CONFLICT DO NOTHING
                "#,
                tenant.as_str(),
                batch
            )
            .execute(pg)
        })
        .await?;
    // Not checked at compile time: the temporary table is there only within an import.
    session
        .run(|pg| {
            sqlx::query_scalar(
                "
                INSERT INTO tombstones (tenant_id, id, memory_type, memory_id, hash, created_at, suppressed, suppressed_at, allowed_at, allowed_by)
                SELECT $1, r.id, r.memory_type, r.memory_id, decode(r.hash, 'hex'), r.created_at, coalesce(r.suppressed, 0), r.suppressed_at,
                       CASE WHEN s.stands THEN NULL ELSE r.allowed_at END, CASE WHEN s.stands THEN NULL ELSE r.allowed_by END
                FROM jsonb_to_recordset($2) AS r(id uuid, memory_type text, memory_id uuid, hash text, key text, created_at timestamptz,
                        suppressed integer, suppressed_at timestamptz, allowed_at timestamptz, allowed_by text),
                     LATERAL (SELECT EXISTS (SELECT FROM transfer_forgotten o WHERE o.id = r.memory_id) AS stands) s
                WHERE r.hash IS NULL OR decode(r.key, 'hex') = (SELECT k.key FROM tombstone_keys k WHERE k.tenant_id = $1)
                ON CONFLICT DO NOTHING RETURNING id
                ",
            )
            .bind(tenant.as_str())
            .bind(batch)
            .fetch_all(pg)
        })
        .await
}
