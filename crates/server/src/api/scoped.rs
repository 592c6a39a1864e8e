//! `GET /api/butlers/{name}/memory/…`: what one butler knows: its own scope and the global one, its own sessions.

use butler_domain::Scope;
use butler_host::access::Right;
use butler_store::browse::episodes::EpisodeItem;
use butler_store::browse::facts::FactItem;
use butler_store::browse::rules::RuleItem;
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{At, Many, One};
use super::error::ApiError;
use super::operation::{Asked, Operation, Verb};
use super::stats::{self, StatsView};
use super::{episodes, facts, rules};

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Named {
    /// The butler's.
    pub name: String,
}

impl Named {
    /// The scopes it retrieves from.
    fn scopes(&self) -> Vec<String> {
        vec![Scope::GLOBAL.to_owned(), self.name.clone()]
    }
}

pub struct ButlerStats;

impl Operation for ButlerStats {
    type Path = Named;
    type Query = ();
    type Body = ();
    type Answer = One<StatsView>;

    const ID: &'static str = "getButlerStats";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/butlers/{name}/memory/stats";
    const TAG: &'static str = "butlers";
    const SUMMARY: &'static str = "The figures of what one butler knows.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, path: Named, (): (), (): ()) -> Result<Self::Answer, ApiError> {
        let scope = Scope::new(path.name.as_str()).map_err(butler_domain::Invalid::from);
        stats::of(&asked, Some(&path.name), Some(scope.map_err(ApiError::bad_parameter)?)).await
    }
}

pub struct ButlerFacts;

impl Operation for ButlerFacts {
    type Path = Named;
    type Query = facts::list::Filters;
    type Body = ();
    type Answer = Many<At<FactItem>>;

    const ID: &'static str = "listButlerFacts";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/butlers/{name}/memory/facts";
    const TAG: &'static str = "butlers";
    const SUMMARY: &'static str = "The facts one butler knows: global ones and those of its own scope.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, path: Named, query: Self::Query, (): ()) -> Result<Self::Answer, ApiError> {
        let scopes = narrowed(path.scopes(), query.scope());
        facts::list::list(&asked, Some(&path.name), Some(scopes), query).await
    }
}

pub struct ButlerRules;

impl Operation for ButlerRules {
    type Path = Named;
    type Query = rules::list::Filters;
    type Body = ();
    type Answer = Many<At<RuleItem>>;

    const ID: &'static str = "listButlerRules";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/butlers/{name}/memory/rules";
    const TAG: &'static str = "butlers";
    const SUMMARY: &'static str = "The rules one butler follows: global ones and those of its own scope.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, path: Named, query: Self::Query, (): ()) -> Result<Self::Answer, ApiError> {
        let scopes = narrowed(path.scopes(), query.scope());
        rules::list::list(&asked, Some(&path.name), Some(scopes), query).await
    }
}

pub struct ButlerEpisodes;

impl Operation for ButlerEpisodes {
    type Path = Named;
    type Query = episodes::Filters;
    type Body = ();
    type Answer = Many<At<EpisodeItem>>;

    const ID: &'static str = "listButlerEpisodes";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/butlers/{name}/memory/episodes";
    const TAG: &'static str = "butlers";
    const SUMMARY: &'static str = "What happened in one butler's sessions, newest first.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, path: Named, query: Self::Query, (): ()) -> Result<Self::Answer, ApiError> {
        let of = path.name.clone();
        episodes::list(&asked, Some(&path.name), Some(of), query).await
    }
}

/// A scope that is not the butler's shows nothing rather than somebody else's.
fn narrowed(mut scopes: Vec<String>, wanted: Option<&str>) -> Vec<String> {
    if let Some(wanted) = wanted {
        scopes.retain(|scope| scope == wanted);
    }
    scopes
}
