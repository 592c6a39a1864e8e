//! `GET /api/memory/episodes` and `/{id}`: episodes, and the facts and rules learned from them.

use std::sync::Arc;

use butler_domain::{ConsolidationStatus, Relation};
use butler_host::access::Right;
use butler_memory::Memory;
use butler_memory::browse::{EpisodeFilter, EpisodeItem, EpisodeRecord, EpisodeSort, EventItem, LinkItem, Side};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::envelope::{List, Single, WithHome};
use super::error::ApiError;
use super::facts::{ButlerQuery, IdPath};
use super::operation::{Operation, RequestContext, Verb};
use super::page::{Paging, best, date_or_time, newest};
use super::times::SinceQuery;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Filters {
    /// Only episodes from sessions of this butler.
    butler: Option<String>,
    /// Only episodes of this session.
    session_id: Option<Uuid>,
    /// Only episodes stored at or after this date or time: `2026-03-01` or `2026-03-01T12:00:00Z`.
    from: Option<String>,
    /// Only episodes stored at or before this date or time.
    to: Option<String>,
    status: Option<ConsolidationStatus>,
    /// What to look for. With `sort=best`, by meaning, words and misspelled words, at most 200 episodes. Otherwise words or
    /// beginnings of words: only episodes that contain all of them.
    q: Option<String>,
    /// Default: `newest`.
    sort: Option<EpisodeSort>,
    #[serde(flatten)]
    time: SinceQuery,
    #[serde(flatten)]
    paging: Paging,
}

pub struct ListEpisodes;

impl Operation for ListEpisodes {
    type Path = ();
    type Query = Filters;
    type Body = ();
    type Answer = List<WithHome<EpisodeItem>>;

    const ID: &'static str = "listEpisodes";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/episodes";
    const TAG: &'static str = "episodes";
    const SUMMARY: &'static str = "List episodes.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: Filters, (): ()) -> Result<Self::Answer, ApiError> {
        let butler = query.butler.clone();
        list(&ctx, None, butler, query).await
    }
}

/// Lists the episodes in the database of `home`, or in all databases. `of` restricts them to sessions of that butler.
pub async fn list(
    ctx: &RequestContext,
    home: Option<&str>,
    of: Option<String>,
    query: Filters,
) -> Result<List<WithHome<EpisodeItem>>, ApiError> {
    let sort = query.sort.unwrap_or_default();
    let request = ctx.page_request(query.paging, home)?.cursor_only_if(sort == EpisodeSort::Newest)?;
    let filter = EpisodeFilter {
        butler: of,
        session: query.session_id,
        status: query.status,
        from: query.from.as_deref().map(|text| date_or_time("from", text, false)).transpose()?,
        to: query.to.as_deref().map(|text| date_or_time("to", text, true)).transpose()?,
        words: query.q.filter(|words| !words.trim().is_empty()),
        sort,
        ..EpisodeFilter::default()
    };
    let (filter, time) = (&filter, &query.time);
    let part = |memory: Arc<Memory>, page| async move {
        let (since, until) = time.read(&memory, &ctx.call(&memory))?;
        Ok(ctx.browse(&memory).episodes(&EpisodeFilter { since, until, ..filter.clone() }, page).await?)
    };
    let key = |item: &EpisodeItem| (item.episode.created_at, item.episode.id.0);
    let order = |a: &EpisodeItem, b: &EpisodeItem| {
        let by_age = newest(key(a), key(b));
        if sort == EpisodeSort::Best { best(a.score, b.score).then(by_age) } else { by_age }
    };
    ctx.page(home, request, part, order, |item| (sort == EpisodeSort::Newest).then(|| key(item))).await
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EpisodeDetail {
    #[serde(flatten)]
    pub episode: EpisodeItem,
    /// The facts and rules learned from this episode.
    pub became: Vec<LinkItem>,
    pub links: Vec<LinkItem>,
    /// Audit events of this episode, newest first.
    pub events: Vec<EventItem>,
}

pub struct GetEpisode;

impl Operation for GetEpisode {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<EpisodeDetail>>;

    const ID: &'static str = "getEpisode";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/episodes/{id}";
    const TAG: &'static str = "episodes";
    const SUMMARY: &'static str = "Get an episode with the facts and rules learned from it.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, id) = (&ctx, path.id);
        let (home, item) = ctx
            .find(query.butler.as_deref(), &format!("episode with id {id}"), |memory| async move {
                let Some(EpisodeRecord { episode, links, events }) = ctx.browse(&memory).episode(id).await? else {
                    return Ok(None);
                };
                let learned = |link: &&LinkItem| link.side == Side::Incoming && link.relation == Relation::DerivedFrom;
                let became = links.iter().filter(learned).cloned().collect();
                Ok(Some(EpisodeDetail { episode, became, links, events }))
            })
            .await?;
        Ok(Single::new(WithHome { home, item }))
    }
}
