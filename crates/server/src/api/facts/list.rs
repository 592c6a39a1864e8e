//! `GET /api/memory/facts`: lists facts.

use std::cmp::Ordering;
use std::sync::Arc;

use butler_domain::Permanence;
use butler_host::access::Right;
use butler_memory::Memory;
use butler_memory::browse::{FactFilter, FactFilterState, FactItem, FactSort};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::api::envelope::{List, WithHome};
use crate::api::error::ApiError;
use crate::api::operation::{Operation, RequestContext, Verb};
use crate::api::page::{Paging, best, newest};
use crate::api::times::TimeQuery;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Filters {
    /// Only facts of this scope.
    scope: Option<String>,
    /// Only facts with exactly this subject.
    subject: Option<String>,
    /// What to look for. With `sort=best`, by meaning, words and misspelled words, at most 200 facts. With another order,
    /// words or beginnings of words: only facts that contain all of them.
    q: Option<String>,
    /// Exclude facts whose effective confidence is lower.
    #[schemars(range(min = 0.0, max = 1.0))]
    min_confidence: Option<f64>,
    /// What the facts are now. Default: `active`, which includes fading facts; with `valid_at` or `as_of`, all.
    validity: Option<FactFilterState>,
    permanence: Option<Permanence>,
    entity_id: Option<Uuid>,
    /// Only facts with this tag.
    tag: Option<String>,
    /// Only facts in this butler's database.
    butler: Option<String>,
    /// Default: `newest`.
    sort: Option<FactSort>,
    #[serde(flatten)]
    time: TimeQuery,
    #[serde(flatten)]
    paging: Paging,
}

impl Filters {
    pub fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }
}

pub struct ListFacts;

impl Operation for ListFacts {
    type Path = ();
    type Query = Filters;
    type Body = ();
    type Answer = List<WithHome<FactItem>>;

    const ID: &'static str = "listFacts";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/facts";
    const TAG: &'static str = "facts";
    const SUMMARY: &'static str = "List facts.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: Filters, (): ()) -> Result<Self::Answer, ApiError> {
        let butler = query.butler.clone();
        let scopes = query.scope.clone().map(|scope| vec![scope]);
        list(&ctx, butler.as_deref(), scopes, query).await
    }
}

/// Lists the facts of one butler or of all.
pub async fn list(
    ctx: &RequestContext,
    butler: Option<&str>,
    scopes: Option<Vec<String>>,
    query: Filters,
) -> Result<List<WithHome<FactItem>>, ApiError> {
    let sort = query.sort.unwrap_or_default();
    let request = ctx.page_request(query.paging, butler)?.cursor_only_if(sort == FactSort::Newest)?;
    let filter = FactFilter {
        scopes,
        subject: query.subject,
        words: query.q.filter(|words| !words.trim().is_empty()),
        min_confidence: query.min_confidence.unwrap_or(0.0),
        permanence: query.permanence,
        entity: query.entity_id,
        tag: query.tag,
        sort,
        ..FactFilter::default()
    };
    let (filter, time, validity) = (&filter, &query.time, query.validity);
    let part = |memory: Arc<Memory>, page| async move {
        let time_filter = time.read(&memory, &ctx.call(&memory))?;
        let state = validity.unwrap_or(FactFilterState::of(&time_filter));
        Ok(ctx.browse(&memory).facts(&FactFilter { state, time_filter, ..filter.clone() }, page).await?)
    };
    let cursor = |item: &FactItem| (sort == FactSort::Newest).then_some((item.fact.created_at, item.fact.id.0));
    ctx.page(butler, request, part, |a, b| order(sort, a, b), cursor).await
}

/// The order of the SQL function `browse_facts`, to merge the lists of several butlers.
fn order(sort: FactSort, a: &FactItem, b: &FactItem) -> Ordering {
    let key = |item: &FactItem| (item.fact.created_at, item.fact.id.0);
    let by_age = newest(key(a), key(b));
    match sort {
        FactSort::Newest => by_age,
        FactSort::Oldest => by_age.reverse(),
        FactSort::Best => best(a.score, b.score).then(by_age),
        FactSort::MostConfident => b.effective_confidence.total_cmp(&a.effective_confidence).then(by_age),
        FactSort::LeastConfident => order(FactSort::MostConfident, b, a),
        FactSort::Importance => b.fact.importance.total_cmp(&a.fact.importance).then(by_age),
        FactSort::Subject => {
            let name = |item: &FactItem| (item.fact.subject.clone(), item.fact.predicate.clone(), item.fact.id);
            name(a).cmp(&name(b))
        }
    }
}
