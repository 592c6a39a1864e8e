//! `GET /api/memory/stats`: how much is known, how confident it is, what fades, and what needs attention.

mod attention;
mod figures;
mod sum;

use butler_domain::Scope;
use butler_host::access::Right;
use butler_memory::Memory;
use butler_memory::jobs::{CONSOLIDATION, seen_by};
use butler_store::browse::figures as read;
use schemars::JsonSchema;
use serde::Deserialize;

use super::envelope::{Meta, Single};
use super::error::ApiError;
use super::operation::{Operation, RequestContext, Verb};
use super::replies::Replies;
pub use figures::StatsView;
use figures::{ButlerFigures, Part};

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
            async move { part(ctx, &memory, scope).await }
        })
        .await?;
    let butlers = parts.iter().map(|(name, part)| ButlerFigures::of(name, part)).collect();
    let mut view = sum::total(parts.into_iter().map(|(_, part)| part), ctx.now);
    view.butlers = butlers;
    view.attention = attention::list(&view, &unavailable);
    view.summary = attention::sentence(&view);
    Ok(Single { data: view, meta: Meta { unavailable } })
}

/// Reads the figures of one butler.
async fn part(ctx: &RequestContext, memory: &Memory, scope: Option<&Scope>) -> Result<Part, ApiError> {
    let (tenant, now, config) = (&ctx.tenant, ctx.now, &memory.config().confidence);
    let mut conn = memory.db().reader(tenant).await?;
    let stats = butler_store::stats::read(&mut conn, tenant, scope, now).await?;
    let waiting = stats.episodes.unconsolidated + stats.episodes.failed;
    let confidence = read::confidence(&mut conn, tenant, scope, config.expiry_threshold, now).await?;
    let effectiveness = read::effectiveness(&mut conn, tenant, scope).await?;
    let produced = read::produced(&mut conn, tenant).await?;
    let backlog = read::backlog(&mut conn, tenant, waiting, now).await?;
    let entities = read::entities(&mut conn, tenant).await?;
    drop(conn);
    let mut owner = memory.db().owner().await?;
    let schedule = butler_store::jobs::schedule(&mut owner, CONSOLIDATION).await?;
    let run = butler_store::jobs::runs(&mut owner, Some(CONSOLIDATION), ctx.restricted_to(), 1).await?.pop();
    Ok(Part {
        stats,
        confidence,
        thresholds: (config.retrieval_threshold, config.expiry_threshold),
        effectiveness,
        produced,
        backlog,
        entities,
        next_run_at: schedule.and_then(|row| row.next_run_at),
        last_run: run.map(|run| seen_by(run, ctx.restricted_to())),
        runtime: memory.runtime().is_some(),
    })
}
