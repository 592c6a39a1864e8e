//! The known facts and rules that a consolidation prompt shows: all of them if they are few. Otherwise those nearest to
//! the batch, and those without a comparable vector that share words with it.

use butler_domain::times::FactDates;
use butler_domain::{Butler, EpisodeId, TenantId};
use sqlx::types::Json;
use uuid::Uuid;

use super::lease::uuids;
use crate::{Session, StoreError};

/// The batch is compared in this many parts, in order of time: the average of fifty sessions would be near to nothing.
const PARTS: i32 = 8;
/// Up to this many rows of a tenant, comparing all of them takes some milliseconds per part. Beyond it the index is
/// used.
const EXACT_ROWS: i32 = 4_000;

/// An active fact that the prompt shows to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownFact {
    pub id: Uuid,
    pub subject: String,
    pub predicate: String,
    pub content: String,
    pub permanence: String,
    /// Whether its predicate holds several values.
    pub holds_several: bool,
    /// When it is true, if that is known.
    pub dates: Option<Json<FactDates>>,
}

/// A rule that the prompt shows to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownRule {
    pub id: Uuid,
    pub content: String,
    pub maturity: String,
}

/// A predicate in use, for the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPredicate {
    pub name: String,
    /// Whether it holds several values.
    pub holds_several: bool,
}

/// The predicates of the active facts that this butler sees, most frequent first, at most `limit`.
pub async fn predicates(
    session: &mut Session,
    tenant: &TenantId,
    butler: &Butler,
    limit: i64,
) -> Result<Vec<KnownPredicate>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                KnownPredicate,
                r#"
                SELECT u.predicate_key AS "name!", (SELECT r.cardinality = 'many' FROM predicate_rule($1, u.predicate_key) r) AS "holds_several!"
                FROM (SELECT f.predicate_key, count(*) AS facts FROM facts f
                      WHERE f.tenant_id = $1 AND f.validity = 'active' AND f.scope IN ('global', $3) AND length(f.predicate_key) <= 64
                      GROUP BY f.predicate_key ORDER BY 2 DESC, 1 LIMIT $2) u
                ORDER BY u.facts DESC, u.predicate_key
                "#,
                tenant.as_str(),
                limit,
                butler.as_str(),
            )
            .fetch_all(pg)
        })
        .await
}

/// Active facts that this butler sees (its own scope and the global one), at most `limit`, most relevant first.
pub async fn facts(
    session: &mut Session,
    tenant: &TenantId,
    butler: &Butler,
    episodes: &[EpisodeId],
    limit: i32,
) -> Result<Vec<KnownFact>, StoreError> {
    let ids = uuids(episodes);
    session
        .run(|pg| {
            sqlx::query_as!(
                KnownFact,
                r#"
                WITH model AS MATERIALIZED (
                    SELECT batch_version($1, $3) AS version
                ), part AS (
                    SELECT avg(embedding) AS centre FROM (
                        SELECT embedding, ntile($5) OVER (ORDER BY created_at, id) AS n FROM episodes
                        WHERE tenant_id = $1 AND id = ANY ($3) AND embedding_version_id = (SELECT version FROM model)) e
                    GROUP BY n
                ), size AS MATERIALIZED (
                    SELECT facts_count($1, $2, $6) AS rows
                ), other AS MATERIALIZED (
                    SELECT o.id, o.place FROM model, facts_not_embedded($1, $2, version, batch_words($1, $3), $4 / 2) o
                ), near AS (
                    SELECT n.id, row_number() OVER (ORDER BY min(distance), n.id) AS place FROM (
                        SELECT n.id, n.distance FROM size, part, LATERAL facts_near_exact($1, $2, centre, $4::integer) n
                        WHERE size.rows < $6
                        UNION ALL
                        SELECT n.id, n.distance FROM size, part, LATERAL facts_near_probed($1, $2, centre, $4::integer) n
                        WHERE size.rows >= $6) n
                    JOIN facts known ON known.id = n.id AND known.embedding_version_id = (SELECT version FROM model)
                    GROUP BY n.id ORDER BY 2 LIMIT $4 - (SELECT count(*) FROM other)
                ), found AS (
                    SELECT id, place FROM near UNION ALL SELECT id, place FROM other
                )
                SELECT f.id AS "id!", f.subject AS "subject!", f.predicate AS "predicate!", f.content AS "content!",
                       f.permanence AS "permanence!",
                       (SELECT r.cardinality = 'many' FROM predicate_rule($1, f.predicate_key) r) AS "holds_several!",
                       fact_dates(f.valid_from, f.valid_to, f.observed_at, f.dates, f.holds_from, f.holds_to) AS "dates: Json<FactDates>"
                FROM (
                    SELECT f.*, found.place FROM found JOIN facts f USING (id)
                    WHERE f.tenant_id = $1 AND fact_is_active(f.validity)
                    UNION ALL
                    -- few: all of them; never a scan of many
                    SELECT f.*, NULL FROM facts f
                    WHERE (SELECT rows FROM size) <= $4 AND f.tenant_id = $1 AND fact_is_active(f.validity)
                      AND f.scope IN ('global', $2) AND NOT EXISTS (SELECT FROM found WHERE found.id = f.id)) f
                ORDER BY f.place NULLS LAST, f.created_at DESC, f.id LIMIT $4
                "#,
                tenant.as_str(),
                butler.as_str(),
                &ids,
                limit,
                PARTS,
                EXACT_ROWS,
            )
            .fetch_all(pg)
        })
        .await
}

/// Remembered rules, at most `limit`, most relevant first. They include warnings, so that a failed rule is not learned
/// again.
pub async fn rules(
    session: &mut Session,
    tenant: &TenantId,
    butler: &Butler,
    episodes: &[EpisodeId],
    limit: i32,
) -> Result<Vec<KnownRule>, StoreError> {
    let ids = uuids(episodes);
    session
        .run(|pg| {
            sqlx::query_as!(
                KnownRule,
                r#"
                WITH model AS MATERIALIZED (
                    SELECT batch_version($1, $3) AS version
                ), part AS (
                    SELECT avg(embedding) AS centre FROM (
                        SELECT embedding, ntile($5) OVER (ORDER BY created_at, id) AS n FROM episodes
                        WHERE tenant_id = $1 AND id = ANY ($3) AND embedding_version_id = (SELECT version FROM model)) e
                    GROUP BY n
                ), size AS MATERIALIZED (
                    SELECT rules_count($1, $2, $6) AS rows
                ), other AS MATERIALIZED (
                    SELECT o.id, o.place FROM model, rules_not_embedded($1, $2, version, batch_words($1, $3), $4 / 2) o
                ), near AS (
                    SELECT n.id, row_number() OVER (ORDER BY min(distance), n.id) AS place FROM (
                        SELECT n.id, n.distance FROM size, part, LATERAL rules_near_exact($1, $2, centre, $4::integer) n
                        WHERE size.rows < $6
                        UNION ALL
                        SELECT n.id, n.distance FROM size, part, LATERAL rules_near_probed($1, $2, centre, $4::integer) n
                        WHERE size.rows >= $6) n
                    JOIN rules known ON known.id = n.id AND known.embedding_version_id = (SELECT version FROM model)
                    GROUP BY n.id ORDER BY 2 LIMIT $4 - (SELECT count(*) FROM other)
                ), found AS (
                    SELECT id, place FROM near UNION ALL SELECT id, place FROM other
                )
                SELECT r.id AS "id!", r.content AS "content!", r.maturity AS "maturity!"
                FROM (
                    SELECT r.*, found.place FROM found JOIN rules r USING (id)
                    WHERE r.tenant_id = $1 AND rule_is_remembered(r.metadata)
                    UNION ALL
                    SELECT r.*, NULL FROM rules r
                    WHERE (SELECT rows FROM size) <= $4 AND r.tenant_id = $1 AND rule_is_remembered(r.metadata)
                      AND r.scope IN ('global', $2) AND NOT EXISTS (SELECT FROM found WHERE found.id = r.id)) r
                ORDER BY r.place NULLS LAST, r.created_at DESC, r.id LIMIT $4
                "#,
                tenant.as_str(),
                butler.as_str(),
                &ids,
                limit,
                PARTS,
                EXACT_ROWS,
            )
            .fetch_all(pg)
        })
        .await
}
