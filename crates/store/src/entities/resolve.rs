//! Which entities a name may mean. All tiers in one statement, by the indexes of migration 040.

use butler_domain::resolve::{FUZZY_THRESHOLD, NEIGHBOURHOOD_FACTS, NameMatch};
use butler_domain::{EntityId, EntityType, TenantId, limits};
use uuid::Uuid;

use super::bad;
use crate::{Session, StoreError};

/// The most candidates of one call, like the results of any other: a name that means more of them is no name yet.
pub const CANDIDATES: usize = limits::RESULTS;
/// A fact is a sentence or two; of a longer one its beginning tells what it is about. Bounds what a call fetches.
const FACT_CHARS: i32 = 1000;

#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    pub name: &'a str,
    pub entity_type: Option<EntityType>,
    /// Similar names, too.
    pub fuzzy: bool,
    /// Entities the caller expects: if they match at all, they are among the candidates however many there are.
    pub known: &'a [EntityId],
    /// The facts of each candidate, for the neighbourhood.
    pub with_facts: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub id: EntityId,
    pub canonical_name: String,
    pub entity_type: EntityType,
    pub aliases: Vec<String>,
    pub name_match: NameMatch,
    /// Predicate and content of its newest active facts.
    pub facts: Vec<String>,
}

/// Each candidate once, at its best tier; tombstones are none.
pub async fn candidates(
    session: &mut Session,
    tenant: &TenantId,
    wanted: &Wanted<'_>,
) -> Result<Vec<Found>, StoreError> {
    let known: Vec<Uuid> = wanted.known.iter().map(|id| id.0).collect();
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT id AS "id!", canonical_name AS "canonical_name!", entity_type AS "entity_type!",
                          aliases AS "aliases!", tier AS "tier!", facts
                   FROM entity_candidates($1, $2, $3, $4, $5, $6, $7, $8, $9)"#,
                tenant.as_str(),
                wanted.name,
                wanted.entity_type.map(EntityType::as_str),
                wanted.fuzzy,
                FUZZY_THRESHOLD as f32,
                &known,
                CANDIDATES as i32,
                if wanted.with_facts { NEIGHBOURHOOD_FACTS as i32 } else { 0 },
                FACT_CHARS
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Found {
                id: EntityId(row.id),
                canonical_name: row.canonical_name,
                entity_type: row.entity_type.parse().map_err(|error| bad(row.id, "entity_type", error))?,
                aliases: row.aliases,
                name_match: match row.tier {
                    1 => NameMatch::Exact,
                    2 => NameMatch::Alias,
                    3 => NameMatch::Prefix,
                    _ => NameMatch::Fuzzy,
                },
                facts: row.facts.unwrap_or_default(),
            })
        })
        .collect()
}
