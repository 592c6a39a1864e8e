//! Lines as rows, in batches. On an owner's session, since the past is written: ids, times and counts as they were, and
//! events that happened elsewhere.

use butler_domain::{TenantId, Timestamp};
use serde_json::Value;
use uuid::Uuid;

pub use super::facts::tie_chains;
use super::{Kind, collisions, facts, trust};
use crate::{Session, StoreError};

/// What became of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Positions in the batch of what is new.
    pub created: Vec<usize>,
    /// … of what was there already, under the same id.
    pub existing: Vec<usize>,
    /// … of what cannot be stored: its id or its key is taken (an active fact of the same key, an entity of the same name), or it
    /// lacks the one it is about. An id that another tenant has is not told apart, so that nobody can ask for such ids.
    pub taken: Vec<usize>,
}

/// Where the facts' chains are noted until all facts are there; gone with the transaction.
pub async fn prepare(session: &mut Session, tenant: &TenantId) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::raw_sql(
                "CREATE TEMPORARY TABLE transfer_chain (fact_id uuid NOT NULL, supersedes_id uuid NOT NULL, is_old boolean NOT NULL) ON COMMIT DROP",
            )
            .execute(pg)
        })
        .await?;
    collisions::prepare(session).await?;
    trust::note_forgotten(session, tenant).await
}

/// Each row an object with the names of its columns, `vector` as the text of a vector, `search_text`, `model` and
/// `model_version`; a batch holds one kind. A row that the database refuses fails the whole batch.
pub async fn rows(
    session: &mut Session,
    kind: Kind,
    tenant: &TenantId,
    rows: &[Value],
    now: Timestamp,
) -> Result<Written, StoreError> {
    let batch = Value::Array(rows.to_vec());
    let created = insert(session, kind, tenant, &batch, now).await?;
    if kind == Kind::Fact {
        facts::note_chain(session, &batch).await?;
        collisions::note(session, &created).await?;
        facts::beliefs(session, tenant, &batch).await?;
        facts::conflicts(session, tenant, &batch).await?;
        facts::mark_due(session, tenant, &created).await?;
    }
    let mut written = Written::default();
    let mut left = Vec::new();
    if !kind.has_id() {
        // One that is there stays.
        let (new, old) = (0..rows.len()).partition(|at| *at < created.len());
        return Ok(Written { created: new, existing: old, ..written });
    }
    let id_of = |row: &Value| row["id"].as_str().and_then(|id| id.parse::<Uuid>().ok());
    let mut fresh: std::collections::HashSet<Uuid> = created.into_iter().collect();
    for (at, row) in rows.iter().enumerate() {
        // The same id twice in one batch is new once.
        match id_of(row) {
            Some(id) if fresh.remove(&id) => written.created.push(at),
            id => left.push((at, id)),
        }
    }
    if left.is_empty() {
        return Ok(written);
    }
    let ids: Vec<Uuid> = left.iter().filter_map(|(_, id)| *id).collect();
    let own = own(session, kind, tenant, &ids).await?;
    for (at, id) in left {
        if id.is_some_and(|id| own.contains(&id)) {
            written.existing.push(at);
        } else if kind == Kind::Fact && collisions::resolve(session, tenant, &rows[at], now).await? {
            written.created.push(at);
        } else {
            written.taken.push(at);
        }
    }
    Ok(written)
}

/// Those of the ids that are rows of this tenant.
async fn own(session: &mut Session, kind: Kind, tenant: &TenantId, ids: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                SELECT id AS "id!" FROM entities WHERE $2 = 'entity' AND tenant_id = $3 AND id = ANY ($1)
                UNION ALL SELECT id FROM episodes WHERE $2 = 'episode' AND tenant_id = $3 AND id = ANY ($1)
                UNION ALL SELECT id FROM facts WHERE $2 = 'fact' AND tenant_id = $3 AND id = ANY ($1)
                UNION ALL SELECT id FROM rules WHERE $2 = 'rule' AND tenant_id = $3 AND id = ANY ($1)
                UNION ALL SELECT id FROM rule_applications WHERE $2 = 'rule_application' AND tenant_id = $3 AND id = ANY ($1)
                UNION ALL SELECT id FROM merges WHERE $2 = 'merge' AND tenant_id = $3 AND id = ANY ($1)
                UNION ALL SELECT id FROM proposals WHERE $2 = 'proposal' AND tenant_id = $3 AND id = ANY ($1)
                UNION ALL SELECT id FROM tombstones WHERE $2 = 'tombstone' AND tenant_id = $3 AND id = ANY ($1)
                UNION ALL SELECT id FROM memory_events WHERE $2 = 'event' AND tenant_id = $3 AND id = ANY ($1)
                "#,
                ids,
                kind.as_str(),
                tenant.as_str()
            )
            .fetch_all(pg)
        })
        .await
}

pub(super) async fn insert(
    session: &mut Session,
    kind: Kind,
    tenant: &TenantId,
    batch: &Value,
    now: Timestamp,
) -> Result<Vec<Uuid>, StoreError> {
    match kind {
        Kind::Predicate => predicates(session, tenant, batch, now).await,
        Kind::Entity => entities(session, tenant, batch).await,
        Kind::Episode => episodes(session, tenant, batch, now).await,
        Kind::Fact => facts::insert(session, tenant, batch, now).await,
        Kind::Rule => rules(session, tenant, batch, now).await,
        Kind::Link => links(session, tenant, batch).await,
        Kind::RuleApplication => applications(session, tenant, batch).await,
        Kind::Merge => merges(session, tenant, batch).await,
        Kind::Proposal => trust::proposals(session, tenant, batch).await,
        Kind::Tombstone => trust::tombstones(session, tenant, batch).await,
        Kind::Event => events(session, tenant, batch).await,
    }
}

/// What the tenant registered itself stays.
async fn predicates(
    session: &mut Session,
    tenant: &TenantId,
    batch: &Value,
    now: Timestamp,
) -> Result<Vec<Uuid>, StoreError> {
    insert!(
        session,
        r#"
        INSERT INTO predicates (tenant_id, name, cardinality, inverse, is_symmetric, is_temporal, object_type, description,
                                created_at, updated_at)
        SELECT $1, r.name, r.cardinality, r.inverse, coalesce(r.symmetric, false), coalesce(r.temporal, false), r.object_type,
               coalesce(r.description, ''), coalesce(r.created_at, $3), coalesce(r.updated_at, r.created_at, $3)
        FROM jsonb_to_recordset($2) AS r(name text, cardinality text, inverse text, "symmetric" boolean, temporal boolean,
                                         object_type text, description text, created_at timestamptz, updated_at timestamptz)
        ON CONFLICT DO NOTHING RETURNING gen_random_uuid() AS "id!"
        "#,
        tenant.as_str(),
        batch,
        now
    )
}

async fn entities(session: &mut Session, tenant: &TenantId, batch: &Value) -> Result<Vec<Uuid>, StoreError> {
    insert!(
        session,
        r#"
        INSERT INTO entities (tenant_id, id, canonical_name, entity_type, aliases, metadata, created_at, updated_at)
        SELECT $1, r.id, r.canonical_name, r.entity_type, coalesce(r.aliases, '{}'), coalesce(r.metadata, '{}'), r.created_at,
               coalesce(r.updated_at, r.created_at)
        FROM jsonb_to_recordset($2) AS r(id uuid, canonical_name text, entity_type text, aliases text[], metadata jsonb,
                                         created_at timestamptz, updated_at timestamptz)
        ON CONFLICT DO NOTHING RETURNING id
        "#,
        tenant.as_str(),
        batch
    )
}

async fn episodes(
    session: &mut Session,
    tenant: &TenantId,
    batch: &Value,
    now: Timestamp,
) -> Result<Vec<Uuid>, StoreError> {
    insert!(
        session,
        r#"
        INSERT INTO episodes (tenant_id, id, butler, session_id, content, embedding, search_vector, importance, reference_count,
                              consolidated, consolidation_status, retry_count, last_error, next_consolidation_retry_at,
                              created_at, occurred_at, last_referenced_at, expires_at, metadata, embedding_version_id,
                              source, held_for)
        SELECT $1, r.id, r.butler, r.session_id, r.content, r.vector::vector, memory_search_vector(r.search_text),
               coalesce(r.importance, 5), coalesce(r.reference_count, 0),
               coalesce(r.consolidation_status, 'pending') = 'consolidated', coalesce(r.consolidation_status, 'pending'),
               coalesce(r.retry_count, 0), r.last_error, r.next_consolidation_retry_at, r.created_at, coalesce(r.occurred_at, r.created_at), r.last_referenced_at,
               r.expires_at, coalesce(r.metadata, '{}'),
               CASE WHEN r.vector IS NOT NULL THEN embedding_version($1, r.model, r.model_version, vector_dims(r.vector::vector), $3) END,
               coalesce(r.source, 'import'), CASE WHEN jsonb_typeof(r.held_for) = 'array' THEN r.held_for END
        FROM jsonb_to_recordset($2) AS r(id uuid, butler text, session_id uuid, content text, vector text, search_text text,
                importance double precision, reference_count integer, consolidation_status text, retry_count integer,
                last_error text, next_consolidation_retry_at timestamptz, created_at timestamptz, occurred_at timestamptz, last_referenced_at timestamptz,
                expires_at timestamptz, source text, held_for jsonb, metadata jsonb, model text, model_version text)
        ON CONFLICT DO NOTHING RETURNING id
        "#,
        tenant.as_str(),
        batch,
        now
    )
}

async fn rules(
    session: &mut Session,
    tenant: &TenantId,
    batch: &Value,
    now: Timestamp,
) -> Result<Vec<Uuid>, StoreError> {
    insert!(
        session,
        r#"
        INSERT INTO rules (tenant_id, id, content, embedding, search_vector, scope, maturity, confidence, decay_rate, permanence,
                           effectiveness_score, applied_count, success_count, harmful_count, source_episode_id, source_butler,
                           created_at, last_applied_at, last_evaluated_at, last_confirmed_at, reference_count,
                           last_referenced_at, tags, metadata, embedding_version_id, source)
        SELECT $1, r.id, r.content, r.vector::vector, memory_search_vector(r.search_text), coalesce(r.scope, 'global'),
               coalesce(r.maturity, 'candidate'), coalesce(r.confidence, 0.5), coalesce(r.decay_rate, 0.01),
               coalesce(r.permanence, 'standard'), coalesce(r.effectiveness_score, 0), coalesce(r.applied_count, 0),
               coalesce(r.success_count, 0), coalesce(r.harmful_count, 0),
               (SELECT e.id FROM episodes e WHERE e.id = r.source_episode_id AND e.tenant_id = $1), r.source_butler,
               r.created_at, r.last_applied_at, r.last_evaluated_at, r.last_confirmed_at, coalesce(r.reference_count, 0),
               r.last_referenced_at, coalesce(r.tags, '[]'), coalesce(r.metadata, '{}'),
               CASE WHEN r.vector IS NOT NULL THEN embedding_version($1, r.model, r.model_version, vector_dims(r.vector::vector), $3) END,
               coalesce(r.source, 'import')
        FROM jsonb_to_recordset($2) AS r(id uuid, content text, vector text, search_text text, scope text, maturity text,
                confidence double precision, decay_rate double precision, permanence text, effectiveness_score double precision,
                applied_count integer, success_count integer, harmful_count integer, source_episode_id uuid, source_butler text,
                created_at timestamptz, last_applied_at timestamptz, last_evaluated_at timestamptz, last_confirmed_at timestamptz,
                reference_count integer, last_referenced_at timestamptz, tags jsonb, metadata jsonb, model text, model_version text,
                source text)
        ON CONFLICT DO NOTHING RETURNING id
        "#,
        tenant.as_str(),
        batch,
        now
    )
}

/// A merge whose entities are not there cannot be undone, so it is left out.
async fn merges(session: &mut Session, tenant: &TenantId, batch: &Value) -> Result<Vec<Uuid>, StoreError> {
    insert!(
        session,
        r#"
        INSERT INTO merges (tenant_id, id, source_id, target_id, facts, edges, superseded, aliases, metadata_keys, merged_at, undone_at)
        SELECT $1, r.id, r.source_id, r.target_id, coalesce(r.facts, '{}'), coalesce(r.edges, '{}'), coalesce(r.superseded, '[]'),
               coalesce(r.aliases, '{}'), coalesce(r.metadata_keys, '{}'), r.merged_at, r.undone_at
        FROM jsonb_to_recordset($2) AS r(id uuid, source_id uuid, target_id uuid, facts uuid[], edges uuid[], superseded jsonb,
                                         aliases text[], metadata_keys text[], merged_at timestamptz, undone_at timestamptz)
        WHERE 2 = (SELECT count(*) FROM entities e WHERE e.tenant_id = $1 AND e.id IN (r.source_id, r.target_id))
        ON CONFLICT DO NOTHING RETURNING id
        "#,
        tenant.as_str(),
        batch
    )
}

async fn links(session: &mut Session, tenant: &TenantId, batch: &Value) -> Result<Vec<Uuid>, StoreError> {
    insert!(
        session,
        r#"
        INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
        SELECT $1, r.source_type, r.source_id, r.target_type, r.target_id, r.relation, r.created_at
        FROM jsonb_to_recordset($2) AS r(source_type text, source_id uuid, target_type text, target_id uuid, relation text,
                                         created_at timestamptz)
        ON CONFLICT DO NOTHING RETURNING source_id
        "#,
        tenant.as_str(),
        batch
    )
}

async fn applications(session: &mut Session, tenant: &TenantId, batch: &Value) -> Result<Vec<Uuid>, StoreError> {
    insert!(
        session,
        r#"
        INSERT INTO rule_applications (tenant_id, id, rule_id, outcome, reason, effectiveness_score, maturity, actor, request_id,
                                       context, applied_at)
        SELECT $1, r.id, o.id, r.outcome, r.reason,
               r.effectiveness_score, r.maturity, r.actor, r.request_id, coalesce(r.context, '{}'), r.applied_at
        FROM jsonb_to_recordset($2) AS r(id uuid, rule_id uuid, outcome text, reason text, effectiveness_score double precision,
                                         maturity text, actor text, request_id text, context jsonb, applied_at timestamptz)
        JOIN rules o ON o.id = r.rule_id AND o.tenant_id = $1
        ON CONFLICT DO NOTHING RETURNING id
        "#,
        tenant.as_str(),
        batch
    )
}

async fn events(session: &mut Session, tenant: &TenantId, batch: &Value) -> Result<Vec<Uuid>, StoreError> {
    insert!(
        session,
        r#"
        INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
        SELECT $1, r.id, r.event_type, r.actor, r.memory_type, r.memory_id, r.request_id, coalesce(r.payload, '{}'), r.created_at
        FROM jsonb_to_recordset($2) AS r(id uuid, event_type text, actor text, memory_type text, memory_id uuid, request_id text,
                                         payload jsonb, created_at timestamptz)
        ON CONFLICT DO NOTHING RETURNING id
        "#,
        tenant.as_str(),
        batch
    )
}
