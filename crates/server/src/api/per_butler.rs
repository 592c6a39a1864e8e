//! `GET /api/butlers/{name}/memory/…`: what one butler knows, that is its own scope, the global scope and its sessions.

use butler_domain::Scope;
use butler_host::access::Right;
use butler_store::browse::episodes::EpisodeItem;
use butler_store::browse::facts::FactItem;
use butler_store::browse::rules::RuleItem;
use schemars::JsonSchema;
use serde::Deserialize;

use super::envelope::{List, Single, WithHome};
use super::error::ApiError;
use super::operation::{Operation, RequestContext, Verb};
use super::stats::{self, StatsView};
use super::{episodes, facts, rules};

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ButlerPath {
    /// Name of the butler.
    pub name: String,
}

impl ButlerPath {
    /// The scopes from which the butler retrieves.
    fn scopes(&self) -> Vec<String> {
        vec![Scope::GLOBAL.to_owned(), self.name.clone()]
    }
}

pub struct ButlerStats;

impl Operation for ButlerStats {
    type Path = ButlerPath;
    type Query = ();
    type Body = ();
    type Answer = Single<StatsView>;

    const ID: &'static str = "getButlerStats";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/butlers/{name}/memory/stats";
    const TAG: &'static str = "butlers";
    const SUMMARY: &'static str = "The figures of what one butler knows.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, path: ButlerPath, (): (), (): ()) -> Result<Self::Answer, ApiError> {
        let scope = Scope::new(path.name.as_str()).map_err(butler_domain::Invalid::from);
        stats::of(&ctx, Some(&path.name), Some(scope.map_err(ApiError::bad_parameter)?)).await
    }
}

pub struct ButlerFacts;

impl Operation for ButlerFacts {
    type Path = ButlerPath;
    type Query = facts::list::Filters;
    type Body = ();
    type Answer = List<WithHome<FactItem>>;

    const ID: &'static str = "listButlerFacts";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/butlers/{name}/memory/facts";
    const TAG: &'static str = "butlers";
    const SUMMARY: &'static str =
        "List the facts that one butler knows: those of its own scope and of the global scope.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, path: ButlerPath, query: Self::Query, (): ()) -> Result<Self::Answer, ApiError> {
        let scopes = narrowed(path.scopes(), query.scope());
        facts::list::list(&ctx, Some(&path.name), Some(scopes), query).await
    }
}

pub struct ButlerRules;

impl Operation for ButlerRules {
    type Path = ButlerPath;
    type Query = rules::list::Filters;
    type Body = ();
    type Answer = List<WithHome<RuleItem>>;

    const ID: &'static str = "listButlerRules";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/butlers/{name}/memory/rules";
    const TAG: &'static str = "butlers";
    const SUMMARY: &'static str =
        "List the rules that one butler follows: those of its own scope and of the global scope.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, path: ButlerPath, query: Self::Query, (): ()) -> Result<Self::Answer, ApiError> {
        let scopes = narrowed(path.scopes(), query.scope());
        rules::list::list(&ctx, Some(&path.name), Some(scopes), query).await
    }
}

pub struct ButlerEpisodes;

impl Operation for ButlerEpisodes {
    type Path = ButlerPath;
    type Query = episodes::Filters;
    type Body = ();
    type Answer = List<WithHome<EpisodeItem>>;

    const ID: &'static str = "listButlerEpisodes";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/butlers/{name}/memory/episodes";
    const TAG: &'static str = "butlers";
    const SUMMARY: &'static str = "List the episodes of one butler's sessions, newest first.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, path: ButlerPath, query: Self::Query, (): ()) -> Result<Self::Answer, ApiError> {
        let of = path.name.clone();
        episodes::list(&ctx, Some(&path.name), Some(of), query).await
    }
}

/// Restricts the scopes to the requested one. A scope from which the butler does not retrieve yields an empty list.
fn narrowed(mut scopes: Vec<String>, requested: Option<&str>) -> Vec<String> {
    if let Some(requested) = requested {
        scopes.retain(|scope| scope == requested);
    }
    scopes
}
