//! `GET /api/memory/search?q=`: the search page and the command palette.

use butler_host::access::Right;
use butler_memory::browse::{EXACT_NAME, FoundKind, PaletteItem};
use schemars::JsonSchema;
use serde::Deserialize;

use super::envelope::{List, PageMeta, WithHome};
use super::error::ApiError;
use super::operation::{Operation, RequestContext, Verb};

const DEFAULT_LIMIT: i64 = 20;
/// Longer text is not typed into a command palette, so the rest is ignored.
const MAX_TEXT_BYTES: usize = 512;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchQuery {
    /// The text typed so far: words, beginnings of words, misspelled words, or another way to say it.
    q: Option<String>,
    /// Default: `kind`.
    sort: Option<SearchSort>,
    /// Only results of this kind.
    kind: Option<FoundKind>,
    /// Only results in this butler's database.
    butler: Option<String>,
    /// Maximum number of results. Default: 20.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<i64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchSort {
    /// Exact names first, then by kind. Every kind has a share of the results.
    #[default]
    Kind,
    /// The best match first, whatever its kind.
    Best,
}

pub struct Search;

impl Operation for Search {
    type Path = ();
    type Query = SearchQuery;
    type Body = ();
    type Answer = List<WithHome<PaletteItem>>;

    const ID: &'static str = "searchMemory";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/search";
    const TAG: &'static str = "search";
    const SUMMARY: &'static str = "Find facts, rules, episodes and entities by words and by meaning, while the user types. \
         `meta.total` counts at most one more than `limit` of each kind.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: SearchQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
        let words = bounded(query.q.as_deref().unwrap_or_default());
        let empty = PageMeta { limit, ..PageMeta::default() };
        if words.is_empty() {
            return Ok(List { data: Vec::new(), meta: empty });
        }
        let (ctx, words) = (&ctx, words.as_str());
        let replies = ctx
            .each(query.butler.as_deref(), |memory| async move {
                // One extra row of each kind shows whether there are more.
                let limit = i32::try_from(limit + 1).unwrap_or(i32::MAX);
                Ok(ctx.browse(&memory).find(words, limit).await?)
            })
            .await?;
        let mut data: Vec<WithHome<PaletteItem>> = Vec::new();
        for (home, items) in replies.parts {
            data.extend(items.into_iter().map(|item| WithHome { home: home.clone(), item }));
        }
        data.retain(|found| query.kind.is_none_or(|kind| kind == found.item.kind));
        let total = i64::try_from(data.len()).unwrap_or(i64::MAX);
        let data = match query.sort.unwrap_or_default() {
            SearchSort::Kind => balance(data, limit as usize),
            SearchSort::Best => best(data, limit as usize),
        };
        let has_more = total > data.len() as i64;
        Ok(List { data, meta: PageMeta { total, has_more, unavailable: replies.unavailable, ..empty } })
    }
}

fn bounded(text: &str) -> String {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].trim().to_owned()
}

fn best(mut found: Vec<WithHome<PaletteItem>>, limit: usize) -> Vec<WithHome<PaletteItem>> {
    sort(&mut found);
    found.truncate(limit);
    found
}

fn sort(found: &mut [WithHome<PaletteItem>]) {
    found.sort_by(|a, b| b.item.score.total_cmp(&a.item.score).then(b.item.created_at.cmp(&a.item.created_at)));
}

/// Takes the best results of each kind in turn, so that no kind crowds out another. Exact names come first, with an
/// entity before its facts; the rest is grouped by kind.
fn balance(mut found: Vec<WithHome<PaletteItem>>, limit: usize) -> Vec<WithHome<PaletteItem>> {
    sort(&mut found);
    let mut ranks = [0_usize; 4];
    let mut ranked: Vec<(usize, WithHome<PaletteItem>)> = found
        .into_iter()
        .map(|found| {
            let rank = &mut ranks[found.item.kind as usize];
            *rank += 1;
            (*rank, found)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.truncate(limit);
    ranked.sort_by_key(|(rank, found)| {
        let named = found.item.score >= EXACT_NAME;
        let kind = found.item.kind;
        (!named, if named && kind == FoundKind::Entity { 0 } else { kind as usize + 1 }, *rank)
    });
    ranked.into_iter().map(|(_, found)| found).collect()
}
