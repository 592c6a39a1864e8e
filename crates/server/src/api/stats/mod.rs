//! `GET /api/memory/stats`: how much is known, how confident it is, what fades, and what needs attention.

mod attention;
mod figures;
mod sum;

use butler_domain::Scope;
use butler_host::access::Right;
use schemars::JsonSchema;
use serde::Deserialize;

use super::envelope::{Meta, Single};
use super::error::ApiError;
use super::operation::{Operation, RequestContext, Verb};
use super::replies::Replies;
use figures::ButlerFigures;
pub use figures::StatsView;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct StatsQuery {
    /// Only this butler. Default: all butlers together.
    butler: Option<String>,
    /// Only facts and rules of this scope and the global scope, and episodes of the butler with this name. Default:
    /// all.
    scope: Option<String>,
}

pub struct Stats;

impl Operation for Stats {
    type Path = ();
    type Query = StatsQuery;
    type Body = ();
    type Answer = Single<StatsView>;

    const ID: &'static str = "getStats";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/stats";
    const TAG: &'static str = "overview";
    const SUMMARY: &'static str =
        "Get counts of memories, their confidence, what fades, the consolidation backlog, and what needs attention.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: StatsQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let scope = query.scope.map(Scope::new).transpose().map_err(butler_domain::Invalid::from);
        of(&ctx, query.butler.as_deref(), scope.map_err(ApiError::bad_parameter)?).await
    }
}

/// The statistics of one butler or of all together.
pub async fn of(
    ctx: &RequestContext,
    butler: Option<&str>,
    scope: Option<Scope>,
) -> Result<Single<StatsView>, ApiError> {
    let Replies { parts, unavailable } = ctx
        .each(butler, |memory| {
            let scope = scope.as_ref();
            async move { Ok(ctx.browse(&memory).figures(scope, ctx.restricted_to()).await?) }
        })
        .await?;
    let warnings = attention::of_butlers(&parts);
    let butlers = parts.iter().map(|(name, part)| ButlerFigures::of(name, part)).collect();
    let mut view = sum::total(parts.into_iter().map(|(_, part)| part), ctx.now);
    view.butlers = butlers;
    view.attention = attention::list(&view, &unavailable, warnings);
    view.summary = attention::sentence(&view);
    Ok(Single { data: view, meta: Meta::new(unavailable) })
}
