//! What a language model says about open conflicts.

use butler_domain::consolidation::Judgement;
use butler_domain::ids::new_id;
use butler_domain::{TenantId, Timestamp, Verdict};
use serde::Serialize;
use sqlx::types::Json;
use uuid::Uuid;

use crate::{Session, StoreError, WriteContext};

/// A fact of a pair, as far as the judge needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedSide {
    pub subject: String,
    pub predicate: String,
    pub content: String,
    pub scope: String,
    pub created_at: Timestamp,
    pub valid_from: Option<Timestamp>,
    pub valid_to: Option<Timestamp>,
}

/// An open conflict of two active facts that nobody judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnjudgedPair {
    pub id: Uuid,
    pub a: JudgedSide,
    pub b: JudgedSide,
}

/// The newest open conflicts that were not judged.
pub async fn unjudged(session: &mut Session, tenant: &TenantId, limit: i64) -> Result<Vec<UnjudgedPair>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT c.id,
                       a.subject AS a_subject, a.predicate AS a_predicate, a.content AS a_content, a.scope AS a_scope,
                       a.created_at AS a_created_at, a.valid_from AS a_valid_from, a.valid_to AS a_valid_to,
                       b.subject AS b_subject, b.predicate AS b_predicate, b.content AS b_content, b.scope AS b_scope,
                       b.created_at AS b_created_at, b.valid_from AS b_valid_from, b.valid_to AS b_valid_to
                FROM conflicts c
                JOIN facts a ON a.tenant_id = $1 AND a.id = c.fact_a AND a.validity = 'active'
                JOIN facts b ON b.tenant_id = $1 AND b.id = c.fact_b AND b.validity = 'active'
                WHERE c.tenant_id = $1 AND c.state = 'open' AND c.judged_at IS NULL
                ORDER BY c.found_at DESC, c.id LIMIT $2
                "#,
                tenant.as_str(),
                limit,
            )
            .fetch_all(pg)
        })
        .await?;
    let pairs = rows.into_iter().map(|row| UnjudgedPair {
        id: row.id,
        a: JudgedSide {
            subject: row.a_subject,
            predicate: row.a_predicate,
            content: row.a_content,
            scope: row.a_scope,
            created_at: row.a_created_at,
            valid_from: row.a_valid_from,
            valid_to: row.a_valid_to,
        },
        b: JudgedSide {
            subject: row.b_subject,
            predicate: row.b_predicate,
            content: row.b_content,
            scope: row.b_scope,
            created_at: row.b_created_at,
            valid_from: row.b_valid_from,
            valid_to: row.b_valid_to,
        },
    });
    Ok(pairs.collect())
}

/// How many conflicts were judged, and how many of them that closed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Judged {
    pub judged: u64,
    pub closed: u64,
}

/// Keeps verdicts about conflicts, with an event each, and closes the conflicts that are none.
pub async fn judge(write: WriteContext<'_>, verdicts: &[(Uuid, Judgement)]) -> Result<Judged, StoreError> {
    #[derive(Serialize)]
    struct Row<'a> {
        id: Uuid,
        event_id: Uuid,
        verdict: Verdict,
        reason: &'a str,
    }
    let WriteContext { session, tenant, now, origin } = write;
    let rows: Vec<Row<'_>> = verdicts
        .iter()
        .map(|(id, said)| Row { id: *id, event_id: new_id(now), verdict: said.verdict, reason: &said.reason })
        .collect();
    let counts = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT judged AS "judged!", closed AS "closed!" FROM judge_conflicts($1, $2, $3, $4, $5)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                Json(&rows) as _,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(Judged { judged: u64::from(counts.judged.unsigned_abs()), closed: u64::from(counts.closed.unsigned_abs()) })
}
