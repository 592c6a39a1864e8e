//! The entities that a name may mean, of all tiers in one statement.

use butler_domain::resolve::{FUZZY_THRESHOLD, NEIGHBOURHOOD_FACTS, NameMatch};
use butler_domain::{EntityId, EntityType, TenantId, limits};
use uuid::Uuid;

use super::bad;
use crate::{Session, StoreError};

/// The most candidates that one call returns, the same limit as for search results.
pub const CANDIDATES: usize = limits::RESULTS;
/// Characters read of each fact: usually all of it, and otherwise enough to see what it is about.
const FACT_CHARS: i32 = 1000;

/// A name to resolve.
#[derive(Debug, Clone)]
pub struct NameQuery<'a> {
    pub name: &'a str,
    pub entity_type: Option<EntityType>,
    /// Also match similar names.
    pub fuzzy: bool,
    /// Entities that the caller expects. Those that match are returned even if there are more candidates than the limit.
    pub known: &'a [EntityId],
    /// Also read the facts of each candidate, for the neighbourhood.
    pub with_facts: bool,
}

/// An entity that the name may mean.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityMatch {
    pub id: EntityId,
    pub canonical_name: String,
    pub entity_type: EntityType,
    pub aliases: Vec<String>,
    pub name_match: NameMatch,
    /// Predicate and content of the newest active facts about the entity.
    pub facts: Vec<String>,
}

/// Each candidate once, with its best tier; merged entities are left out.
pub async fn candidates(
    session: &mut Session,
    tenant: &TenantId,
    query: &NameQuery<'_>,
) -> Result<Vec<EntityMatch>, StoreError> {
    let known: Vec<Uuid> = query.known.iter().map(|id| id.0).collect();
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT id AS "id!", canonical_name AS "canonical_name!", entity_type AS "entity_type!",
                          aliases AS "aliases!", tier AS "tier!", facts
                   FROM entity_candidates($1, $2, $3, $4, $5, $6, $7, $8, $9)"#,
                tenant.as_str(),
                query.name,
                query.entity_type.map(EntityType::as_str),
                query.fuzzy,
                FUZZY_THRESHOLD as f32,
                &known,
                CANDIDATES as i32,
                if query.with_facts { NEIGHBOURHOOD_FACTS as i32 } else { 0 },
                FACT_CHARS
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter()
        .map(|row| {
            Ok(EntityMatch {
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
