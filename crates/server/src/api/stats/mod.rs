//! `GET /api/memory/stats`: what the system knows, how sure it is, and what it will forget.

mod attention;
mod figures;
mod sum;

use butler_domain::Scope;
use butler_host::access::Right;
use butler_memory::Memory;
use butler_memory::jobs::{CONSOLIDATION, visible_to};
use butler_store::browse::figures as read;
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{Meta, One};
use super::error::ApiError;
use super::operation::{Asked, Operation, Verb};
use super::reach::Heard;
pub use figures::StatsView;
use figures::{ButlerFigures, Part};

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Which {
    /// One butler; all together if left out.
    butler: Option<String>,
    /// Facts and rules of this scope and the global one, episodes of this butler. All if left out.
    scope: Option<String>,
}

pub struct Stats;

impl Operation for Stats {
    type Path = ();
    type Query = Which;
    type Body = ();
    type Answer = One<StatsView>;

    const ID: &'static str = "getStats";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/stats";
    const TAG: &'static str = "overview";
    const SUMMARY: &'static str = "How much is known, how sure, what fades, what waits, and what needs attention.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, (): (), query: Which, (): ()) -> Result<Self::Answer, ApiError> {
        let scope = query.scope.map(Scope::new).transpose().map_err(butler_domain::Invalid::from);
        of(&asked, query.butler.as_deref(), scope.map_err(ApiError::bad_parameter)?).await
    }
}

/// Of one butler or of all together.
pub async fn of(asked: &Asked, butler: Option<&str>, scope: Option<Scope>) -> Result<One<StatsView>, ApiError> {
    let Heard { parts, unavailable } = asked
        .each(butler, |memory| {
            let scope = scope.as_ref();
            async move { part(asked, &memory, scope).await }
        })
        .await?;
    let butlers = parts.iter().map(|(name, part)| ButlerFigures::of(name, part)).collect();
    let mut view = sum::up(parts.into_iter().map(|(_, part)| part), asked.now);
    view.butlers = butlers;
    view.attention = attention::list(&view, &unavailable);
    view.summary = attention::sentence(&view);
    Ok(One { data: view, meta: Meta { unavailable } })
}

/// The figures of one butler.
async fn part(asked: &Asked, memory: &Memory, scope: Option<&Scope>) -> Result<Part, ApiError> {
    let (tenant, now, config) = (&asked.tenant, asked.now, &memory.config().confidence);
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
    let run = butler_store::jobs::runs(&mut owner, Some(CONSOLIDATION), asked.bound(), 1).await?.pop();
    Ok(Part {
        stats,
        confidence,
        thresholds: (config.retrieval_threshold, config.expiry_threshold),
        effectiveness,
        produced,
        backlog,
        entities,
        next_run_at: schedule.and_then(|row| row.next_run_at),
        last_run: run.map(|run| visible_to(run, asked.bound())),
        runtime: memory.runtime().is_some(),
    })
}
