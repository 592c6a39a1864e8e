//! `GET /api/memory/episodes` and `/{id}`: what happened, and what became of it.

use std::sync::Arc;

use butler_domain::{ConsolidationStatus, MemoryType, Relation};
use butler_host::access::Right;
use butler_memory::Memory;
use butler_store::browse::episodes::{self, EpisodeFilter, EpisodeItem};
use butler_store::browse::events::{self, EventItem};
use butler_store::browse::links::{self, LinkItem, Side};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{At, Many, One};
use super::error::ApiError;
use super::facts::{ById, In};
use super::operation::{Asked, Operation, Verb};
use super::page::{Paging, moment, newest};

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Filters {
    /// The butler whose sessions they are.
    butler: Option<String>,
    /// Not before this day or moment: `2026-03-01` or `2026-03-01T12:00:00Z`.
    from: Option<String>,
    /// Not after this day or moment.
    to: Option<String>,
    status: Option<ConsolidationStatus>,
    /// Words, or how they begin; all of them must be there.
    q: Option<String>,
    #[serde(flatten)]
    paging: Paging,
}

pub struct ListEpisodes;

impl Operation for ListEpisodes {
    type Path = ();
    type Query = Filters;
    type Body = ();
    type Answer = Many<At<EpisodeItem>>;

    const ID: &'static str = "listEpisodes";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/episodes";
    const TAG: &'static str = "episodes";
    const SUMMARY: &'static str = "Episodes, newest first, filtered, page by page.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, (): (), query: Filters, (): ()) -> Result<Self::Answer, ApiError> {
        let butler = query.butler.clone();
        list(&asked, None, butler, query).await
    }
}

/// The episodes in one butler's database or in all; `of` is whose sessions.
pub async fn list(
    asked: &Asked,
    home: Option<&str>,
    of: Option<String>,
    query: Filters,
) -> Result<Many<At<EpisodeItem>>, ApiError> {
    let wanted = query.paging.of(asked, home)?;
    let filter = EpisodeFilter {
        butler: of,
        status: query.status,
        from: query.from.as_deref().map(|text| moment("from", text, false)).transpose()?,
        to: query.to.as_deref().map(|text| moment("to", text, true)).transpose()?,
        words: query.q.filter(|words| !words.trim().is_empty()),
    };
    let filter = &filter;
    let part = |memory: Arc<Memory>, page| async move {
        let mut conn = memory.db().reader(&asked.tenant).await?;
        Ok(episodes::list(&mut conn, &asked.tenant, filter, page, asked.now).await?)
    };
    let key = |item: &EpisodeItem| (item.episode.created_at, item.episode.id.0);
    asked.page(home, wanted, part, |a, b| newest(key(a), key(b)), |item| Some(key(item))).await
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EpisodeDetail {
    #[serde(flatten)]
    pub episode: EpisodeItem,
    /// The facts and rules that were made from it.
    pub became: Vec<LinkItem>,
    pub links: Vec<LinkItem>,
    /// What happened to it, newest first.
    pub events: Vec<EventItem>,
}

pub struct GetEpisode;

impl Operation for GetEpisode {
    type Path = ById;
    type Query = In;
    type Body = ();
    type Answer = One<At<EpisodeDetail>>;

    const ID: &'static str = "getEpisode";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/episodes/{id}";
    const TAG: &'static str = "episodes";
    const SUMMARY: &'static str = "One episode, and the facts and rules that were made from it.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, path: ById, place: In, (): ()) -> Result<Self::Answer, ApiError> {
        let (asked, id) = (&asked, path.id);
        let (home, item) = asked
            .find(place.butler.as_deref(), &format!("episode with id {id}"), |memory| async move {
                let mut conn = memory.db().reader(&asked.tenant).await?;
                let Some(episode) = episodes::one(&mut conn, &asked.tenant, id, asked.now).await? else {
                    return Ok(None);
                };
                let links = links::of(&mut conn, &asked.tenant, MemoryType::Episode, id).await?;
                let made = |link: &&LinkItem| link.side == Side::Incoming && link.relation == Relation::DerivedFrom;
                let became = links.iter().filter(made).cloned().collect();
                let events = events::of_memory(&mut conn, &asked.tenant, id).await?;
                Ok(Some(EpisodeDetail { episode, became, links, events }))
            })
            .await?;
        Ok(One::of(At { home, item }))
    }
}
