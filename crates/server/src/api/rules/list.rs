//! `GET /api/memory/rules`: lists rules.

use std::cmp::Ordering;
use std::sync::Arc;

use butler_domain::Maturity;
use butler_host::access::Right;
use butler_memory::Memory;
use butler_memory::browse::{RuleFilter, RuleFilterState, RuleItem, RuleSort};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::envelope::{List, WithHome};
use crate::api::error::ApiError;
use crate::api::operation::{Operation, RequestContext, Verb};
use crate::api::page::{Paging, best, newest};
use crate::api::times::SinceQuery;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Filters {
    /// Only rules of this scope.
    scope: Option<String>,
    maturity: Option<Maturity>,
    /// What to look for. With `sort=best`, by meaning, words and misspelled words, at most 200 rules. With another order,
    /// words or beginnings of words: only rules that contain all of them.
    q: Option<String>,
    /// Exclude rules whose effective confidence is lower.
    #[schemars(range(min = 0.0, max = 1.0))]
    min_confidence: Option<f64>,
    /// Default: `remembered`, which includes fading rules.
    state: Option<RuleFilterState>,
    /// Only rules with this tag.
    tag: Option<String>,
    /// Only rules in this butler's database.
    butler: Option<String>,
    /// Default: `newest`.
    sort: Option<RuleSort>,
    #[serde(flatten)]
    time: SinceQuery,
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
    type Answer = List<WithHome<RuleItem>>;

    const ID: &'static str = "listRules";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/rules";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str = "List rules.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: Filters, (): ()) -> Result<Self::Answer, ApiError> {
        let butler = query.butler.clone();
        let scopes = query.scope.clone().map(|scope| vec![scope]);
        list(&ctx, butler.as_deref(), scopes, query).await
    }
}

/// Lists the rules of one butler or of all.
pub async fn list(
    ctx: &RequestContext,
    butler: Option<&str>,
    scopes: Option<Vec<String>>,
    query: Filters,
) -> Result<List<WithHome<RuleItem>>, ApiError> {
    let sort = query.sort.unwrap_or_default();
    let request = ctx.page_request(query.paging, butler)?.cursor_only_if(sort == RuleSort::Newest)?;
    let filter = RuleFilter {
        state: query.state.unwrap_or_default(),
        scopes,
        maturity: query.maturity,
        words: query.q.filter(|words| !words.trim().is_empty()),
        min_confidence: query.min_confidence.unwrap_or(0.0),
        tag: query.tag,
        sort,
        ..RuleFilter::default()
    };
    let (filter, time) = (&filter, &query.time);
    let part = |memory: Arc<Memory>, page| async move {
        let (since, until) = time.read(&memory, &ctx.call(&memory))?;
        Ok(ctx.browse(&memory).rules(&RuleFilter { since, until, ..filter.clone() }, page).await?)
    };
    let cursor = |item: &RuleItem| (sort == RuleSort::Newest).then_some((item.rule.created_at, item.rule.id.0));
    ctx.page(butler, request, part, |a, b| order(sort, a, b), cursor).await
}

/// The order of the SQL function `browse_rules`, to merge the lists of several butlers.
fn order(sort: RuleSort, a: &RuleItem, b: &RuleItem) -> Ordering {
    let key = |item: &RuleItem| (item.rule.created_at, item.rule.id.0);
    let by_age = newest(key(a), key(b));
    let by_effect = b.rule.effectiveness_score.total_cmp(&a.rule.effectiveness_score);
    match sort {
        RuleSort::Newest => by_age,
        RuleSort::Oldest => by_age.reverse(),
        RuleSort::Best => best(a.score, b.score).then(by_age),
        RuleSort::Maturity => {
            a.rule.maturity.trust_rank().cmp(&b.rule.maturity.trust_rank()).then(by_effect).then(by_age)
        }
        RuleSort::MostEffective => by_effect.then(by_age),
        RuleSort::LeastEffective => by_effect.reverse().then(by_age),
        RuleSort::MostApplied => b.rule.applied_count.cmp(&a.rule.applied_count).then(by_age),
    }
}
