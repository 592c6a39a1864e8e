//! Predicates: whether they hold one value or many, and how they relate to each other.

use butler_domain::ids::new_id;
use butler_domain::{Predicate, TenantId};
use sqlx::types::Json;

use crate::error::unknown_outcome;
use crate::{Session, StoreError, WriteContext};

/// The tenant's own predicates and the built-in ones that it did not change, by name.
pub async fn list(session: &mut Session, tenant: &TenantId) -> Result<Vec<Predicate>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT name AS "name!", cardinality AS "cardinality!", inverse, is_symmetric AS "is_symmetric!",
                          is_temporal AS "is_temporal!", object_type, description AS "description!",
                          is_built_in AS "is_built_in!"
                   FROM known_predicates($1) ORDER BY name COLLATE "C""#,
                tenant.as_str()
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter()
        .map(|row| {
            let bad = |column, error: butler_domain::UnknownName| StoreError::BadData {
                table: "predicates",
                column,
                id: row.name.clone(),
                reason: error.to_string(),
            };
            Ok(Predicate {
                cardinality: row.cardinality.parse().map_err(|error| bad("cardinality", error))?,
                object_type: (row.object_type.as_deref().map(str::parse).transpose())
                    .map_err(|error| bad("object_type", error))?,
                inverse: row.inverse,
                symmetric: row.is_symmetric,
                temporal: row.is_temporal,
                description: row.description,
                built_in: row.is_built_in,
                name: row.name,
            })
        })
        .collect()
}

/// The result of registering a predicate. All outcomes but `Set` wrote nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetOutcome {
    Set,
    /// This other predicate already has that inverse, or is the inverse of another one.
    InverseTaken {
        by: String,
    },
    /// This subject has several values, so the predicate cannot hold one.
    SeveralValues {
        subject: String,
    },
}

/// Registers or changes a predicate.
pub async fn set(write: WriteContext<'_>, predicate: &Predicate) -> Result<SetOutcome, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT outcome AS "outcome!", other FROM set_predicate($1, $2, $3, $4, $5, $6)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                Json(predicate) as _,
            )
            .fetch_one(pg)
        })
        .await?;
    let other = row.other.unwrap_or_default();
    match &row.outcome[..] {
        "set" => Ok(SetOutcome::Set),
        "inverse_taken" => Ok(SetOutcome::InverseTaken { by: other }),
        "several_values" => Ok(SetOutcome::SeveralValues { subject: other }),
        unknown => Err(unknown_outcome("set_predicate", unknown)),
    }
}
