//! `GET /api/memory/changes`: what was learned, changed, contradicted, faded and forgotten.

use butler_domain::Scope;
use butler_host::access::Right;
use butler_memory::changes::{Changes, ChangesInput};
use butler_memory::times::TimeFilterTexts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::envelope::List;
use super::error::ApiError;
use super::operation::{Operation, RequestContext, Verb};

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ChangesQuery {
    /// Since when: a date, a time, or how long ago (`12h`, `7d`). Default: `7d`.
    since: Option<String>,
    /// Until when. Default: now.
    until: Option<String>,
    /// Only this scope and the global scope. Default: all scopes.
    scope: Option<String>,
    /// Only this butler. Default: all butlers.
    butler: Option<String>,
    /// Maximum number of tokens for each butler, newest changes first. Default: 20000.
    #[schemars(range(min = 1, max = 100_000))]
    token_budget: Option<i64>,
}

/// The changes of one butler.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ButlerChanges {
    pub butler: String,
    #[serde(flatten)]
    pub changes: Changes,
}

pub struct GetChanges;

impl Operation for GetChanges {
    type Path = ();
    type Query = ChangesQuery;
    type Body = ();
    type Answer = List<ButlerChanges>;

    const ID: &'static str = "getChanges";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/changes";
    const TAG: &'static str = "search";
    const SUMMARY: &'static str = "Get what was learned, changed, contradicted, faded and forgotten since a time.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: ChangesQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, query) = (&ctx, &query);
        let replies = ctx
            .each(query.butler.as_deref(), |memory| async move {
                let call = ctx.call(&memory);
                let since = query.since.as_deref().unwrap_or("7d");
                let texts =
                    TimeFilterTexts { since: Some(since), until: query.until.as_deref(), ..TimeFilterTexts::default() };
                let time_filter = memory.time_filter(call.now, texts)?;
                let input = ChangesInput {
                    since: time_filter.since.unwrap_or(call.now),
                    until: time_filter.until,
                    scope: query.scope.clone().map(Scope::new).transpose().map_err(butler_domain::Invalid::from)?,
                    token_budget: query.token_budget.map_or(20_000, |budget| budget.unsigned_abs() as usize),
                };
                Ok(memory.changes(&call, &input).await?)
            })
            .await?;
        let data = replies.parts.into_iter().map(|(butler, changes)| ButlerChanges { butler, changes }).collect();
        Ok(List::complete(data, replies.unavailable))
    }
}
