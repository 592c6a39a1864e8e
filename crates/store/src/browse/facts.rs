//! Facts for lists and detail pages.

use butler_domain::times::{FactDates, TimeFilter};
use butler_domain::{Fact, Permanence, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::types::Json;
use uuid::Uuid;

use super::{LISTED_CHARS, Listed, Page};
use crate::rows::FactRow;
use crate::search::TimeFilterRow;
use crate::times::{PeriodRow, names_then};
use crate::{Session, StoreError};

/// A longer chain of versions is cut.
const CHAIN: i32 = 200;

/// Which states a list shows. `Active` includes fading facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactFilterState {
    #[default]
    Active,
    Fading,
    Superseded,
    Expired,
    Retracted,
    /// An older name of retracted.
    Forgotten,
    All,
}

impl FactFilterState {
    /// The states that a caller who names none means: what held at a moment may have ended since.
    pub const fn of(time_filter: &TimeFilter) -> Self {
        if time_filter.has_moment() { Self::All } else { Self::Active }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Fading => "fading",
            Self::Superseded => "superseded",
            Self::Expired => "expired",
            Self::Retracted | Self::Forgotten => "retracted",
            Self::All => "all",
        }
    }
}

/// The order of a list of facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactSort {
    #[default]
    Newest,
    Oldest,
    /// The best match of the query first.
    Best,
    MostConfident,
    LeastConfident,
    Importance,
    Subject,
}

impl FactSort {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::Best => "best",
            Self::MostConfident => "most_confident",
            Self::LeastConfident => "least_confident",
            Self::Importance => "importance",
            Self::Subject => "subject",
        }
    }
}

/// Selects facts; `None` leaves a filter out.
#[derive(Debug, Clone, Default)]
pub struct FactFilter {
    pub state: FactFilterState,
    /// Facts in any of these scopes.
    pub scopes: Option<Vec<String>>,
    pub subject: Option<String>,
    /// The text as typed. Each word is a prefix.
    pub words: Option<String>,
    /// Applies to the effective confidence.
    pub min_confidence: f64,
    pub permanence: Option<Permanence>,
    pub entity: Option<Uuid>,
    pub tag: Option<String>,
    /// Only these. The order `best` is theirs.
    pub ids: Option<Vec<Uuid>>,
    /// Only those that fit this time.
    pub time_filter: TimeFilter,
    pub sort: FactSort,
}

impl FactFilter {
    /// Whether it leaves out facts that have the words and the state.
    pub fn is_narrow(&self) -> bool {
        self.scopes.is_some()
            || self.subject.is_some()
            || self.min_confidence > 0.0
            || self.permanence.is_some()
            || self.entity.is_some()
            || self.tag.is_some()
            || self.state != FactFilterState::Active
    }

    /// Whether a search finds the facts of this state: without a moment it finds active ones only.
    pub fn is_searchable(&self) -> bool {
        self.time_filter.has_moment() || matches!(self.state, FactFilterState::Active | FactFilterState::Fading)
    }
}

/// The state of a fact as people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactState {
    Active,
    /// Active, and about to expire unless confirmed.
    Fading,
    Superseded,
    Expired,
    Retracted,
}

/// A fact in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactItem {
    #[serde(flatten)]
    pub fact: Fact,
    /// The confidence left after decay since the last confirmation.
    pub effective_confidence: f64,
    pub state: FactState,
    pub entity_name: Option<String>,
    /// Whether `content` is cut.
    pub truncated: bool,
    /// How well it matches the query, in the order `best`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// One page of the facts that match the filter. Long texts are cut.
pub async fn list(
    session: &mut Session,
    tenant: &TenantId,
    filter: &FactFilter,
    page: Page,
    now: Timestamp,
) -> Result<Listed<FactItem>, StoreError> {
    let (ids, total) = ids(session, tenant, filter, page, now).await?;
    let rows = by_ids(session, tenant, &ids, Some(LISTED_CHARS), (now, filter.time_filter.as_of)).await?;
    Ok(Listed { rows, total })
}

/// The ids of one page, and how many facts match.
pub async fn ids(
    session: &mut Session,
    tenant: &TenantId,
    filter: &FactFilter,
    page: Page,
    now: Timestamp,
) -> Result<(Vec<Uuid>, i64), StoreError> {
    let filter = json!({
        "state": filter.state.as_str(), "scopes": filter.scopes, "subject": filter.subject, "words": filter.words,
        "min_confidence": filter.min_confidence, "permanence": filter.permanence.map(Permanence::as_str),
        "entity": filter.entity, "tag": filter.tag, "ids": filter.ids, "sort": filter.sort.as_str(),
        "asked": TimeFilterRow::new(&filter.time_filter),
    });
    let found = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT ids AS "ids!", total AS "total!" FROM browse_facts($1, $2, $3, $4, $5, $6, $7)"#,
                tenant.as_str(),
                now,
                filter,
                page.after_at(),
                page.after_id(),
                i32::try_from(page.limit).unwrap_or(i32::MAX),
                i32::try_from(page.offset).unwrap_or(i32::MAX),
            )
            .fetch_one(pg)
        })
        .await?;
    Ok((found.ids, found.total))
}

/// The whole fact; `None`: this tenant has no such fact.
pub async fn one(
    session: &mut Session,
    tenant: &TenantId,
    id: Uuid,
    now: Timestamp,
) -> Result<Option<FactItem>, StoreError> {
    Ok(by_ids(session, tenant, &[id], None, (now, None)).await?.pop())
}

/// The facts in the order of the ids, with the dates and names that were believed at `as_of`.
async fn by_ids(
    session: &mut Session,
    tenant: &TenantId,
    ids: &[Uuid],
    chars: Option<i32>,
    (now, as_of): (Timestamp, Option<Timestamp>),
) -> Result<Vec<FactItem>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = session
        .run(|pg| {
            sqlx::query_as!(
                FactRow,
                r#"
                SELECT id, tenant_id, subject, predicate, CASE WHEN $3::integer IS NULL THEN content ELSE left(content, $3 + 1) END AS "content!",
                       importance, confidence, decay_rate, permanence, source, source_butler, source_episode_id, supersedes_id,
                       entity_id, object_entity_id, validity, scope, reference_count, created_at, last_referenced_at, last_confirmed_at,
                       fact_dates_then(facts.id, facts.valid_from, facts.valid_to, facts.observed_at, facts.dates, facts.holds_from, facts.holds_to, $4) AS "dates: Json<FactDates>",
                       NULL::jsonb AS "periods: Json<Vec<PeriodRow>>", tags, metadata
                FROM unnest($2::uuid[]) WITH ORDINALITY AS given (fact_id, place) JOIN facts ON id = fact_id
                WHERE tenant_id = $1 ORDER BY place
                "#,
                tenant.as_str(),
                ids,
                chars,
                as_of
            )
            .fetch_all(pg)
        })
        .await?;
    let facts = rows.into_iter().map(Fact::try_from).collect::<Result<Vec<_>, _>>()?;
    let entities: Vec<Uuid> = facts.iter().filter_map(|fact| fact.entity_id).map(|id| id.0).collect();
    let mut names = super::entities::names(session, tenant, &entities).await?;
    if let Some(as_of) = as_of {
        names.extend(names_then(session, tenant, &entities, as_of).await?);
    }
    let named = |fact: &Fact| fact.entity_id.and_then(|id| names.get(&id.0).cloned());
    Ok(facts.into_iter().map(|fact| (named(&fact), fact)).map(|(name, fact)| item(fact, name, chars, now)).collect())
}

fn item(mut fact: Fact, entity_name: Option<String>, chars: Option<i32>, now: Timestamp) -> FactItem {
    let truncated = super::cut(&mut fact.content, chars);
    let fading = fact.metadata.get("status") == Some(&"fading".into());
    let effective_confidence =
        butler_domain::decay::effective_confidence(fact.confidence, fact.decay_rate, fact.last_confirmed_at, now);
    let state = match fact.validity {
        butler_domain::Validity::Active if fading => FactState::Fading,
        butler_domain::Validity::Active => FactState::Active,
        butler_domain::Validity::Superseded => FactState::Superseded,
        butler_domain::Validity::Expired => FactState::Expired,
        butler_domain::Validity::Retracted => FactState::Retracted,
    };
    FactItem { fact, effective_confidence, state, entity_name, truncated, score: None }
}

/// One version in the history of a fact.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Version {
    pub id: Uuid,
    pub content: String,
    pub validity: String,
    pub importance: f64,
    pub permanence: String,
    pub source_butler: Option<String>,
    pub created_at: Timestamp,
    pub supersedes_id: Option<Uuid>,
}

/// The fact, all facts it replaced and all that replaced it, oldest first. After a merge of entities, one fact can
/// replace two: `supersedes_id` names one of them, links name the others.
pub async fn chain(session: &mut Session, tenant: &TenantId, id: Uuid) -> Result<Vec<Version>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                Version,
                r#"
                WITH RECURSIVE older AS (
                    SELECT $2::uuid AS id, 0 AS depth
                    UNION
                    SELECT p.id, depth + 1 FROM older CROSS JOIN LATERAL (
                        SELECT f.supersedes_id AS id FROM facts f
                        WHERE f.tenant_id = $1 AND f.id = older.id AND f.supersedes_id IS NOT NULL
                        UNION
                        SELECT l.target_id FROM memory_links l
                        WHERE l.tenant_id = $1 AND l.source_type = 'fact' AND l.source_id = older.id
                          AND l.target_type = 'fact' AND l.relation = 'supersedes') p
                    WHERE depth < $3::integer
                ), newer AS (
                    SELECT $2::uuid AS id, 0 AS depth
                    UNION
                    SELECT n.id, depth + 1 FROM newer CROSS JOIN LATERAL (
                        SELECT f.id FROM facts f WHERE f.tenant_id = $1 AND f.supersedes_id = newer.id
                        UNION
                        SELECT l.source_id FROM memory_links l
                        WHERE l.tenant_id = $1 AND l.target_type = 'fact' AND l.target_id = newer.id
                          AND l.source_type = 'fact' AND l.relation = 'supersedes') n
                    WHERE depth < $3::integer
                )
                SELECT f.id, f.content, f.validity, f.importance, f.permanence, f.source_butler, f.created_at, f.supersedes_id
                FROM facts f
                WHERE f.tenant_id = $1 AND f.id IN (SELECT id FROM older UNION SELECT id FROM newer)
                ORDER BY f.created_at, f.id LIMIT $3::integer
                "#,
                tenant.as_str(),
                id,
                CHAIN,
            )
            .fetch_all(pg)
        })
        .await
}
