//! `GET /api/memory/rules`.

use std::cmp::Ordering;
use std::sync::Arc;

use butler_domain::Maturity;
use butler_host::access::Right;
use butler_memory::Memory;
use butler_store::browse::rules::{self, RuleFilter, RuleFilterState, RuleItem, RuleSort};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::answer::{At, Many};
use crate::api::error::ApiError;
use crate::api::operation::{Asked, Operation, Verb};
use crate::api::page::{Paging, newest};

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Filters {
    /// Only this scope.
    scope: Option<String>,
    maturity: Option<Maturity>,
    /// Words, or how they begin; all of them must be there.
    q: Option<String>,
    /// Leave out what has decayed below this.
    #[schemars(range(min = 0.0, max = 1.0))]
    min_confidence: Option<f64>,
    /// `remembered` if left out, which holds the fading ones, too.
    state: Option<RuleFilterState>,
    /// The butler in whose database they are.
    butler: Option<String>,
    /// `newest` if left out.
    sort: Option<RuleSort>,
    #[serde(flatten)]
    paging: Paging,
}

impl Filters {
    pub fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }
}

pub struct ListRules;

impl Operation for ListRules {
    type Path = ();
    type Query = Filters;
    type Body = ();
    type Answer = Many<At<RuleItem>>;

    const ID: &'static str = "listRules";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/rules";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str = "Rules, filtered, sorted, page by page.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, (): (), query: Filters, (): ()) -> Result<Self::Answer, ApiError> {
        let butler = query.butler.clone();
        let scopes = query.scope.clone().map(|scope| vec![scope]);
        list(&asked, butler.as_deref(), scopes, query).await
    }
}

/// The rules of one butler or of all.
pub async fn list(
    asked: &Asked,
    butler: Option<&str>,
    scopes: Option<Vec<String>>,
    query: Filters,
) -> Result<Many<At<RuleItem>>, ApiError> {
    let sort = query.sort.unwrap_or_default();
    let wanted = query.paging.of(asked, butler)?.without_cursor(sort == RuleSort::Newest)?;
    let filter = RuleFilter {
        state: query.state.unwrap_or_default(),
        scopes,
        maturity: query.maturity,
        words: query.q.filter(|words| !words.trim().is_empty()),
        min_confidence: query.min_confidence.unwrap_or(0.0),
        sort,
    };
    let filter = &filter;
    let part = |memory: Arc<Memory>, page| async move {
        let mut conn = memory.db().reader(&asked.tenant).await?;
        Ok(rules::list(&mut conn, &asked.tenant, filter, page, asked.now).await?)
    };
    let cursor = |item: &RuleItem| (sort == RuleSort::Newest).then_some((item.rule.created_at, item.rule.id.0));
    asked.page(butler, wanted, part, |a, b| order(sort, a, b), cursor).await
}

/// As the statement orders them.
fn order(sort: RuleSort, a: &RuleItem, b: &RuleItem) -> Ordering {
    let key = |item: &RuleItem| (item.rule.created_at, item.rule.id.0);
    let by_age = newest(key(a), key(b));
    let by_effect = b.rule.effectiveness_score.total_cmp(&a.rule.effectiveness_score);
    match sort {
        RuleSort::Newest => by_age,
        RuleSort::Oldest => by_age.reverse(),
        RuleSort::Maturity => {
            a.rule.maturity.trust_rank().cmp(&b.rule.maturity.trust_rank()).then(by_effect).then(by_age)
        }
        RuleSort::MostEffective => by_effect.then(by_age),
        RuleSort::LeastEffective => by_effect.reverse().then(by_age),
        RuleSort::MostApplied => b.rule.applied_count.cmp(&a.rule.applied_count).then(by_age),
    }
}
