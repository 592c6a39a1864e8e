//! Facts of an older program that meet on one key. It compared keys letter by letter, so `User` and `user` could both be
//! active; here they are one subject. The newest stays active and supersedes the others.

use butler_domain::{TenantId, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use super::write::insert;
use super::{Kind, facts};
use crate::{Session, StoreError};

/// Notes the facts that the import brings, until the transaction ends: those that were there before are not changed.
pub(super) async fn prepare(session: &mut Session) -> Result<(), StoreError> {
    let table = "CREATE TEMPORARY TABLE transfer_imported (id uuid PRIMARY KEY) ON COMMIT DROP";
    session.run(|pg| sqlx::raw_sql(table).execute(pg)).await?;
    Ok(())
}

pub(super) async fn note(session: &mut Session, created: &[Uuid]) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query("INSERT INTO transfer_imported SELECT unnest($1::uuid[]) ON CONFLICT DO NOTHING")
                .bind(created)
                .execute(pg)
        })
        .await?;
    Ok(())
}

/// The active fact that has the key of a row.
#[derive(sqlx::FromRow)]
struct Holder {
    id: Uuid,
    created_at: Timestamp,
    is_older: bool,
    is_imported: bool,
}

/// Writes an active fact of an older program although another one has its key. Returns whether it did: it does not if that
/// one was there before the import and is older.
pub(super) async fn resolve(
    session: &mut Session,
    tenant: &TenantId,
    row: &Value,
    now: Timestamp,
) -> Result<bool, StoreError> {
    if !row["corrected"].is_null() || !matches!(row["validity"].as_str(), None | Some("active")) {
        return Ok(false);
    }
    let Some(id) = row["id"].as_str().and_then(|id| id.parse::<Uuid>().ok()) else { return Ok(false) };
    // Ids are unique among all tenants, so it may be another one's.
    let exists = session
        .run(|pg| {
            sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM facts WHERE id = $1) AS "exists!""#, id).fetch_one(pg)
        })
        .await?;
    if exists {
        return Ok(false);
    }
    let Some(holder) = holder(session, tenant, row).await? else { return Ok(false) };
    let (winner, loser) = if holder.is_older {
        if !holder.is_imported {
            return Ok(false);
        }
        end(session, tenant, holder.id, row["created_at"].as_str()).await?;
        insert(session, Kind::Fact, tenant, &json!([row]), now).await?;
        (id, holder.id)
    } else {
        let mut row = row.clone();
        row["validity"] = json!("superseded");
        insert(session, Kind::Fact, tenant, &json!([row]), now).await?;
        end(session, tenant, id, Some(&holder.created_at.to_rfc3339())).await?;
        (holder.id, id)
    };
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT FROM supersede_fact($1, 'import', NULL, $2, gen_random_uuid(), $3, $4)",
                tenant.as_str(),
                now,
                winner,
                loser
            )
            .execute(pg)
        })
        .await?;
    // What was there before the import stays as it is.
    let is_new = winner == id || holder.is_imported;
    session
        .run(|pg| {
            sqlx::query!(
                "UPDATE facts SET holds_from = created_at
                 WHERE tenant_id = $1 AND id = $2 AND holds_from = '-infinity' AND created_at < holds_to AND $3",
                tenant.as_str(),
                winner,
                is_new
            )
            .execute(pg)
        })
        .await?;
    note(session, &[id]).await?;
    facts::mark_due(session, tenant, &[id]).await?;
    Ok(true)
}

/// Not checked at compile time: the temporary table is there only within an import.
async fn holder(session: &mut Session, tenant: &TenantId, row: &Value) -> Result<Option<Holder>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as(
                "SELECT f.id, f.created_at, (f.created_at, f.id) < (r.created_at, r.id) AS is_older,
                        EXISTS (SELECT FROM transfer_imported i WHERE i.id = f.id) AS is_imported
                 FROM jsonb_to_record($2) AS r(id uuid, subject text, predicate text, entity_id uuid, scope text, slot text,
                                               created_at timestamptz)
                 JOIN facts f ON f.tenant_id = $1 AND f.holder = fact_holder(r.entity_id, r.subject)
                      AND f.predicate_key = predicate_key(r.predicate) AND f.scope = coalesce(r.scope, 'global')
                      AND f.slot = coalesce(r.slot, '') AND f.validity = 'active' AND f.id <> r.id",
            )
            .bind(tenant.as_str())
            .bind(row)
            .fetch_optional(pg)
        })
        .await
}

/// The fact held until the newer one was stored.
async fn end(session: &mut Session, tenant: &TenantId, id: Uuid, newer: Option<&str>) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query(
                "UPDATE facts SET validity = 'superseded', holds_to = greatest(created_at, $3::timestamptz)
                 WHERE tenant_id = $1 AND id = $2",
            )
            .bind(tenant.as_str())
            .bind(id)
            .bind(newer)
            .execute(pg)
        })
        .await?;
    Ok(())
}
