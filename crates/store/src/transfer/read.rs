//! Reads rows as lines of JSON, on the owner's session, in one snapshot. Rows are streamed and not kept in memory.

use std::io;

use butler_domain::TenantId;
use futures::{Stream, TryStreamExt};
use serde::Serialize;

use super::Kind;
use crate::{Session, StoreError, Tx};

/// Receives one line. An error ends the export.
pub type Sink<'a> = dyn FnMut(&str) -> io::Result<()> + Send + 'a;

/// How many rows of each kind a tenant has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub predicates: i64,
    pub entities: i64,
    pub episodes: i64,
    pub facts: i64,
    pub rules: i64,
    pub links: i64,
    pub rule_applications: i64,
    pub merges: i64,
    pub proposals: i64,
    pub tombstones: i64,
    pub events: i64,
}

impl Counts {
    /// The number of lines that an export of the tenant has, without its first line.
    pub fn total(&self) -> u64 {
        self.by_kind().iter().sum::<i64>().unsigned_abs()
    }

    /// The counts in the order of [`Kind::ALL`].
    pub fn by_kind(&self) -> [i64; Kind::ALL.len()] {
        [
            self.predicates,
            self.entities,
            self.episodes,
            self.facts,
            self.rules,
            self.links,
            self.rule_applications,
            self.merges,
            self.proposals,
            self.tombstones,
            self.events,
        ]
    }
}

/// Starts a transaction in which all reads see one snapshot.
pub async fn snapshot(session: &mut Session) -> Result<Tx<'_>, StoreError> {
    let mut tx = session.begin().await?;
    tx.run(|pg| sqlx::raw_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY").execute(pg)).await?;
    Ok(tx)
}

/// Counts a tenant's rows, for the header of an export.
pub async fn counts(session: &mut Session, tenant: &TenantId) -> Result<Counts, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                Counts,
                r#"
                SELECT (SELECT count(*) FROM predicates WHERE tenant_id = $1) AS "predicates!",
                       (SELECT count(*) FROM entities WHERE tenant_id = $1) AS "entities!",
                       (SELECT count(*) FROM episodes WHERE tenant_id = $1) AS "episodes!",
                       (SELECT count(*) FROM facts WHERE tenant_id = $1) AS "facts!",
                       (SELECT count(*) FROM rules WHERE tenant_id = $1) AS "rules!",
                       (SELECT count(*) FROM memory_links WHERE tenant_id = $1) AS "links!",
                       (SELECT count(*) FROM rule_applications WHERE tenant_id = $1) AS "rule_applications!",
                       (SELECT count(*) FROM merges WHERE tenant_id = $1) AS "merges!",
                       (SELECT count(*) FROM proposals WHERE tenant_id = $1) AS "proposals!",
                       (SELECT count(*) FROM tombstones WHERE tenant_id = $1) AS "tombstones!",
                       (SELECT count(*) FROM memory_events WHERE tenant_id = $1) AS "events!"
                "#,
                tenant.as_str()
            )
            .fetch_one(pg)
        })
        .await
}

async fn pass(
    mut rows: impl Stream<Item = Result<String, sqlx::Error>> + Unpin,
    sink: &mut Sink<'_>,
) -> Result<io::Result<()>, sqlx::Error> {
    while let Some(line) = rows.try_next().await? {
        if let Err(error) = sink(&line) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

/// What became of the rows: the sink may fail, and so may the database.
type Passed = Result<io::Result<()>, StoreError>;

/// A tenant's rows of one kind, in the order of an index, so that nothing has to be sorted. Vectors are base64 of
/// big-endian 32-bit floats.
pub async fn lines(session: &mut Session, kind: Kind, tenant: &TenantId, vectors: bool, sink: &mut Sink<'_>) -> Passed {
    let tenant = tenant.as_str();
    match kind {
        Kind::Predicate => predicates(session, tenant, sink).await,
        Kind::Entity => entities(session, tenant, sink).await,
        Kind::Episode => episodes(session, tenant, vectors, sink).await,
        Kind::Fact => facts(session, tenant, vectors, sink).await,
        Kind::Rule => rules(session, tenant, vectors, sink).await,
        Kind::Link => links(session, tenant, sink).await,
        Kind::RuleApplication => rule_applications(session, tenant, sink).await,
        Kind::Merge => merges(session, tenant, sink).await,
        Kind::Proposal => proposals(session, tenant, sink).await,
        Kind::Tombstone => tombstones(session, tenant, sink).await,
        Kind::Event => events(session, tenant, sink).await,
    }
}

async fn predicates(session: &mut Session, tenant: &str, sink: &mut Sink<'_>) -> Passed {
    session.run(|pg| async move {
        pass(sqlx::query_scalar!(
            r#"
                SELECT json_build_object('type', 'predicate', 'name', name, 'cardinality', cardinality, 'inverse', inverse,
                           'symmetric', is_symmetric, 'temporal', is_temporal, 'object_type', object_type, 'description', description,
                           'created_at', created_at, 'updated_at', updated_at)::text AS "line!"
                FROM predicates WHERE tenant_id = $1 ORDER BY predicate_key
                "#, tenant).fetch(pg), sink).await
    }).await
}

async fn entities(session: &mut Session, tenant: &str, sink: &mut Sink<'_>) -> Passed {
    session.run(|pg| async move {
        pass(sqlx::query_scalar!(
            r#"
                SELECT json_build_object('type', 'entity', 'id', id, 'canonical_name', canonical_name, 'entity_type', entity_type,
                           'aliases', to_json(aliases), 'metadata', metadata, 'created_at', created_at, 'updated_at', updated_at
                       )::text AS "line!"
                FROM entities WHERE tenant_id = $1 ORDER BY id
                "#, tenant).fetch(pg), sink).await
    }).await
}

async fn episodes(session: &mut Session, tenant: &str, vectors: bool, sink: &mut Sink<'_>) -> Passed {
    session.run(|pg| async move {
        pass(sqlx::query_scalar!(
            r#"
                SELECT json_build_object('type', 'episode', 'id', m.id, 'butler', butler, 'session_id', session_id, 'content', content,
                           'importance', importance, 'reference_count', reference_count, 'consolidation_status', consolidation_status,
                           'retry_count', retry_count, 'last_error', last_error,
                           'next_consolidation_retry_at', next_consolidation_retry_at, 'created_at', m.created_at, 'occurred_at', occurred_at,
                           'last_referenced_at', last_referenced_at, 'expires_at', expires_at, 'source', source, 'held_for', held_for,
                           'metadata', metadata,
                           'embedding', CASE WHEN $2 AND embedding IS NOT NULL THEN json_build_object('model', v.model, 'version', v.version,
                               'f32', replace(encode(substring(vector_send(embedding) FROM 5), 'base64'), E'\n', '')) END
                       )::text AS "line!"
                FROM episodes m LEFT JOIN embedding_versions v ON v.id = m.embedding_version_id
                WHERE m.tenant_id = $1 ORDER BY m.created_at DESC, m.id
                "#, tenant, vectors).fetch(pg), sink).await
    }).await
}

async fn facts(session: &mut Session, tenant: &str, vectors: bool, sink: &mut Sink<'_>) -> Passed {
    session.run(|pg| async move {
        pass(sqlx::query_scalar!(
            r#"
                SELECT json_build_object('type', 'fact', 'id', m.id, 'subject', subject, 'predicate', predicate, 'content', content,
                           'scope', scope, 'entity_id', entity_id, 'object_entity_id', object_entity_id, 'slot', slot,
                           'importance', importance, 'confidence', confidence,
                           'decay_rate', decay_rate, 'permanence', permanence, 'validity', validity, 'supersedes_id', supersedes_id,
                           'source_butler', source_butler, 'source_episode_id', source_episode_id, 'reference_count', reference_count,
                           'created_at', m.created_at, 'last_referenced_at', last_referenced_at, 'last_confirmed_at', last_confirmed_at,
                           'valid_from', valid_from, 'valid_to', valid_to, 'observed_at', observed_at, 'dates', dates,
                           'holds_from', CASE WHEN isfinite(holds_from) THEN holds_from END,
                           'holds_to', CASE WHEN isfinite(holds_to) THEN holds_to END, 'never', holds_from >= holds_to,
                           'placed_at', placed_at, 'ended_at', ended_at, 'corrected', corrected,
                           'beliefs', (SELECT json_agg(json_build_object(
                                   'believed_from', b.believed_from, 'believed_to', b.believed_to,
                                   'holds_from', CASE WHEN isfinite(b.holds_from) THEN b.holds_from END,
                                   'holds_to', CASE WHEN isfinite(b.holds_to) THEN b.holds_to END) ORDER BY b.believed_from)
                               FROM fact_beliefs b WHERE b.fact_id = m.id),
                           'source', source,
                           'conflicts', (SELECT json_agg(json_build_object(
                                   'id', c.id, 'fact_a', c.fact_a, 'fact_b', c.fact_b, 'kind', c.kind, 'why', c.why, 'score', c.score,
                                   'found_at', c.found_at, 'found_by', c.found_by, 'state', c.state, 'resolution', c.resolution,
                                   'resolved_at', c.resolved_at, 'resolved_by', c.resolved_by,
                                   'verdict', c.verdict, 'reason', c.reason, 'judged_at', c.judged_at) ORDER BY c.id)
                               FROM conflicts c WHERE c.tenant_id = $1 AND m.id IN (c.fact_a, c.fact_b)),
                           'tags', tags, 'metadata', metadata,
                           'embedding', CASE WHEN $2 AND embedding IS NOT NULL THEN json_build_object('model', v.model, 'version', v.version,
                               'f32', replace(encode(substring(vector_send(embedding) FROM 5), 'base64'), E'\n', '')) END
                       )::text AS "line!"
                FROM facts m LEFT JOIN embedding_versions v ON v.id = m.embedding_version_id
                WHERE m.tenant_id = $1 ORDER BY m.created_at DESC, m.id
                "#, tenant, vectors).fetch(pg), sink).await
    }).await
}

async fn rules(session: &mut Session, tenant: &str, vectors: bool, sink: &mut Sink<'_>) -> Passed {
    session.run(|pg| async move {
        pass(sqlx::query_scalar!(
            r#"
                SELECT json_build_object('type', 'rule', 'id', m.id, 'content', content, 'scope', scope, 'maturity', maturity,
                           'confidence', confidence, 'decay_rate', decay_rate, 'permanence', permanence,
                           'effectiveness_score', effectiveness_score, 'applied_count', applied_count, 'success_count', success_count,
                           'harmful_count', harmful_count, 'source_butler', source_butler, 'source_episode_id', source_episode_id,
                           'created_at', m.created_at, 'last_applied_at', last_applied_at, 'last_evaluated_at', last_evaluated_at,
                           'last_confirmed_at', last_confirmed_at, 'reference_count', reference_count,
                           'last_referenced_at', last_referenced_at, 'source', source, 'tags', tags, 'metadata', metadata,
                           'embedding', CASE WHEN $2 AND embedding IS NOT NULL THEN json_build_object('model', v.model, 'version', v.version,
                               'f32', replace(encode(substring(vector_send(embedding) FROM 5), 'base64'), E'\n', '')) END
                       )::text AS "line!"
                FROM rules m LEFT JOIN embedding_versions v ON v.id = m.embedding_version_id
                WHERE m.tenant_id = $1 ORDER BY m.created_at DESC, m.id
                "#, tenant, vectors).fetch(pg), sink).await
    }).await
}

async fn links(session: &mut Session, tenant: &str, sink: &mut Sink<'_>) -> Passed {
    session.run(|pg| async move {
        pass(sqlx::query_scalar!(
            r#"
                SELECT json_build_object('type', 'link', 'source_type', source_type, 'source_id', source_id, 'target_type', target_type,
                           'target_id', target_id, 'relation', relation, 'created_at', created_at)::text AS "line!"
                FROM memory_links WHERE tenant_id = $1 ORDER BY source_type, source_id, target_type, target_id
                "#, tenant).fetch(pg), sink).await
    }).await
}

async fn rule_applications(session: &mut Session, tenant: &str, sink: &mut Sink<'_>) -> Passed {
    session.run(|pg| async move {
        pass(sqlx::query_scalar!(
            r#"
                SELECT json_build_object('type', 'rule_application', 'id', id, 'rule_id', rule_id, 'outcome', outcome, 'reason', reason,
                           'effectiveness_score', effectiveness_score, 'maturity', maturity, 'actor', actor, 'request_id', request_id,
                           'context', context, 'applied_at', applied_at)::text AS "line!"
                FROM rule_applications WHERE tenant_id = $1 ORDER BY rule_id, applied_at DESC, id
                "#, tenant).fetch(pg), sink).await
    }).await
}

async fn merges(session: &mut Session, tenant: &str, sink: &mut Sink<'_>) -> Passed {
    session.run(|pg| async move {
        pass(sqlx::query_scalar!(
            r#"
                SELECT json_build_object('type', 'merge', 'id', id, 'source_id', source_id, 'target_id', target_id, 'facts', facts,
                           'edges', edges, 'superseded', superseded, 'aliases', aliases, 'metadata_keys', metadata_keys,
                           'merged_at', merged_at, 'undone_at', undone_at)::text AS "line!"
                FROM merges WHERE tenant_id = $1 ORDER BY id
                "#, tenant).fetch(pg), sink).await
    }).await
}

async fn proposals(session: &mut Session, tenant: &str, sink: &mut Sink<'_>) -> Passed {
    session.run(|pg| async move {
        pass(sqlx::query_scalar!(
            r#"
                SELECT json_build_object('type', 'proposal', 'id', id, 'memory_type', memory_type, 'memory', memory,
                           'statement_key', statement_key, 'source', source, 'proposed_by', proposed_by, 'created_at', created_at,
                           'state', state, 'decided_at', decided_at, 'decided_by', decided_by)::text AS "line!"
                FROM proposals WHERE tenant_id = $1 ORDER BY id
                "#, tenant).fetch(pg), sink).await
    }).await
}

async fn tombstones(session: &mut Session, tenant: &str, sink: &mut Sink<'_>) -> Passed {
    session.run(|pg| async move {
        pass(sqlx::query_scalar!(
            r#"
                SELECT json_build_object('type', 'tombstone', 'id', t.id, 'memory_type', memory_type, 'memory_id', memory_id,
                           'hash', encode(hash, 'hex'), 'key', CASE WHEN hash IS NOT NULL THEN encode(k.key, 'hex') END,
                           'created_at', created_at, 'suppressed', suppressed, 'suppressed_at', suppressed_at,
                           'allowed_at', allowed_at, 'allowed_by', allowed_by)::text AS "line!"
                FROM tombstones t LEFT JOIN tombstone_keys k ON k.tenant_id = t.tenant_id
                WHERE t.tenant_id = $1 ORDER BY t.id
                "#, tenant).fetch(pg), sink).await
    }).await
}

async fn events(session: &mut Session, tenant: &str, sink: &mut Sink<'_>) -> Passed {
    session.run(|pg| async move {
        pass(sqlx::query_scalar!(
            r#"
                SELECT json_build_object('type', 'event', 'id', id, 'event_type', event_type, 'actor', actor, 'memory_type', memory_type,
                           'memory_id', memory_id, 'request_id', request_id, 'payload', payload, 'created_at', created_at)::text AS "line!"
                FROM memory_events WHERE tenant_id = $1 ORDER BY created_at DESC, id
                "#, tenant).fetch(pg), sink).await
    }).await
}
