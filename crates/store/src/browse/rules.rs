//! Rules for lists and detail pages.

use butler_domain::{Maturity, Rule, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::{LISTED_CHARS, Listed, Page};
use crate::rows::RuleRow;
use crate::{Session, StoreError};

/// How many of a rule's latest marks are shown. All of them stay in `rule_applications`.
const APPLICATIONS: i64 = 500;

/// Which states a list shows. `Remembered` includes fading rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleFilterState {
    #[default]
    Remembered,
    Fading,
    Forgotten,
    All,
}

impl RuleFilterState {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Remembered => "remembered",
            Self::Fading => "fading",
            Self::Forgotten => "forgotten",
            Self::All => "all",
        }
    }
}

/// The order of a list of rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleSort {
    #[default]
    Newest,
    Oldest,
    /// The best match of the query first.
    Best,
    /// Proven rules first, then anti-patterns, established rules and candidates; within each, the most effective first.
    Maturity,
    MostEffective,
    LeastEffective,
    MostApplied,
}

impl RuleSort {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::Best => "best",
            Self::Maturity => "maturity",
            Self::MostEffective => "most_effective",
            Self::LeastEffective => "least_effective",
            Self::MostApplied => "most_applied",
        }
    }
}

/// Selects rules; `None` leaves a filter out.
#[derive(Debug, Clone, Default)]
pub struct RuleFilter {
    pub state: RuleFilterState,
    pub scopes: Option<Vec<String>>,
    pub maturity: Option<Maturity>,
    pub words: Option<String>,
    pub min_confidence: f64,
    pub tag: Option<String>,
    /// Only these. The order `best` is theirs.
    pub ids: Option<Vec<Uuid>>,
    /// Stored from then on.
    pub since: Option<Timestamp>,
    /// Stored before then.
    pub until: Option<Timestamp>,
    pub sort: RuleSort,
}

impl RuleFilter {
    /// Whether it leaves out rules that have the words and the state.
    pub fn is_narrow(&self) -> bool {
        self.scopes.is_some()
            || self.maturity.is_some()
            || self.min_confidence > 0.0
            || self.tag.is_some()
            || self.state != RuleFilterState::Remembered
    }

    /// Whether search can find rules in this state. It finds remembered rules only.
    pub fn is_searchable(&self) -> bool {
        matches!(self.state, RuleFilterState::Remembered | RuleFilterState::Fading)
    }
}

/// The state of a rule as people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleState {
    Active,
    Fading,
    Forgotten,
}

/// A rule in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RuleItem {
    #[serde(flatten)]
    pub rule: Rule,
    /// The confidence left after decay since the last confirmation.
    pub effective_confidence: f64,
    pub state: RuleState,
    /// Whether `content` is cut.
    pub truncated: bool,
    /// How well it matches the query, in the order `best`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// One page of the rules that match the filter. Long texts are cut.
pub async fn list(
    session: &mut Session,
    tenant: &TenantId,
    filter: &RuleFilter,
    page: Page,
    now: Timestamp,
) -> Result<Listed<RuleItem>, StoreError> {
    let filter = json!({
        "state": filter.state.as_str(), "scopes": filter.scopes, "maturity": filter.maturity.map(Maturity::as_str),
        "words": filter.words, "min_confidence": filter.min_confidence, "tag": filter.tag, "ids": filter.ids,
        "since": filter.since, "until": filter.until, "sort": filter.sort.as_str(),
        "by_trust": Maturity::BY_TRUST.map(Maturity::as_str),
    });
    let found = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT ids AS "ids!", total AS "total!" FROM browse_rules($1, $2, $3, $4, $5, $6, $7)"#,
                tenant.as_str(),
                now,
                filter,
                page.after_at(),
                page.after_id(),
                page.limit,
                page.offset,
            )
            .fetch_one(pg)
        })
        .await?;
    let rows = by_ids(session, tenant, &found.ids, Some(LISTED_CHARS), now).await?;
    Ok(Listed { rows, total: found.total })
}

/// The whole rule; `None` if this tenant has no such rule.
pub async fn one(
    session: &mut Session,
    tenant: &TenantId,
    id: Uuid,
    now: Timestamp,
) -> Result<Option<RuleItem>, StoreError> {
    Ok(by_ids(session, tenant, &[id], None, now).await?.pop())
}

async fn by_ids(
    session: &mut Session,
    tenant: &TenantId,
    ids: &[Uuid],
    chars: Option<i32>,
    now: Timestamp,
) -> Result<Vec<RuleItem>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query_as!(
                RuleRow,
                r#"
                SELECT id, tenant_id, CASE WHEN $3::integer IS NULL THEN content ELSE left(content, $3 + 1) END AS "content!", scope,
                       maturity, confidence, decay_rate, permanence, effectiveness_score, applied_count, success_count,
                       harmful_count, source, source_episode_id, source_butler, created_at, last_applied_at, last_evaluated_at,
                       last_confirmed_at, reference_count, last_referenced_at, tags, metadata
                FROM rules WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY array_position($2, id)
                "#,
                tenant.as_str(),
                ids,
                chars
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter()
        .map(|row| {
            let mut rule = Rule::try_from(row)?;
            let truncated = super::cut(&mut rule.content, chars);
            let effective_confidence = butler_domain::decay::effective_confidence(
                rule.confidence,
                rule.decay_rate,
                rule.last_confirmed_at,
                now,
            );
            let state = state(&rule);
            Ok(RuleItem { rule, effective_confidence, state, truncated, score: None })
        })
        .collect()
}

fn state(rule: &Rule) -> RuleState {
    if rule.metadata.get("forgotten") == Some(&true.into()) {
        RuleState::Forgotten
    } else if rule.metadata.get("status") == Some(&"fading".into()) {
        RuleState::Fading
    } else {
        RuleState::Active
    }
}

/// A mark, and the rule's figures after it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Application {
    pub id: Uuid,
    /// `helpful` or `harmful`.
    pub outcome: String,
    pub reason: Option<String>,
    pub effectiveness_score: f64,
    pub maturity: String,
    pub actor: Option<String>,
    pub request_id: Option<String>,
    pub applied_at: Timestamp,
}

/// The latest marks of a rule, newest first.
pub async fn applications(session: &mut Session, tenant: &TenantId, id: Uuid) -> Result<Vec<Application>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                Application,
                "SELECT id, outcome, reason, effectiveness_score, maturity, actor, request_id, applied_at
                 FROM rule_applications WHERE tenant_id = $1 AND rule_id = $2 ORDER BY applied_at DESC, id DESC LIMIT $3",
                tenant.as_str(),
                id,
                APPLICATIONS
            )
            .fetch_all(pg)
        })
        .await
}
