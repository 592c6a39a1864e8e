//! `GET /api/memory/search?q=`: the command palette.

use butler_host::access::Right;
use butler_store::browse::palette::{self, FoundKind, PaletteItem};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{At, Many, PageMeta};
use super::error::ApiError;
use super::operation::{Asked, Operation, Verb};

/// A palette shows a handful.
const USUAL: i64 = 20;
/// What is longer is not typed into a palette.
const TYPED_BYTES: usize = 512;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Typed {
    /// What was typed so far; each word may be the beginning of one.
    q: Option<String>,
    /// Only this kind.
    kind: Option<FoundKind>,
    /// The butler in whose database they are.
    butler: Option<String>,
    /// The most lines; 20 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<i64>,
}

pub struct Search;

impl Operation for Search {
    type Path = ();
    type Query = Typed;
    type Body = ();
    type Answer = Many<At<PaletteItem>>;

    const ID: &'static str = "searchMemory";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/search";
    const TAG: &'static str = "search";
    const SUMMARY: &'static str = "Facts, rules, episodes and entities that begin with what was typed. It looks no further than it shows: `meta.total` \
         counts at most one more than `limit` of each kind.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, (): (), query: Typed, (): ()) -> Result<Self::Answer, ApiError> {
        let limit = query.limit.unwrap_or(USUAL);
        let words = typed(query.q.as_deref().unwrap_or_default());
        let empty = PageMeta { limit, ..PageMeta::default() };
        if words.is_empty() {
            return Ok(Many { data: Vec::new(), meta: empty });
        }
        let (asked, words) = (&asked, words.as_str());
        let heard = asked
            .each(query.butler.as_deref(), |memory| async move {
                let mut conn = memory.db().reader(&asked.tenant).await?;
                // one more than can be shown, so that whether there is more is known
                let limit = i32::try_from(limit + 1).unwrap_or(i32::MAX);
                Ok(palette::find(&mut conn, &asked.tenant, words, limit, asked.now).await?)
            })
            .await?;
        let mut data: Vec<At<PaletteItem>> = Vec::new();
        for (home, items) in heard.parts {
            data.extend(items.into_iter().map(|item| At { home: home.clone(), item }));
        }
        data.retain(|found| query.kind.is_none_or(|kind| kind == found.item.kind));
        let total = i64::try_from(data.len()).unwrap_or(i64::MAX);
        let data = share(data, limit as usize);
        let has_more = total > data.len() as i64;
        Ok(Many { data, meta: PageMeta { total, has_more, unavailable: heard.unavailable, ..empty } })
    }
}

fn typed(text: &str) -> String {
    let mut end = text.len().min(TYPED_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].trim().to_owned()
}

/// From here on a score says: this is its very name.
const NAMED: f64 = 1.0;

/// The best of each kind in turn, so that no kind crowds out another. What bears the typed name comes first, an entity
/// before its facts; then kind by kind.
fn share(mut found: Vec<At<PaletteItem>>, limit: usize) -> Vec<At<PaletteItem>> {
    found.sort_by(|a, b| b.item.score.total_cmp(&a.item.score).then(b.item.created_at.cmp(&a.item.created_at)));
    let mut ranks = [0_usize; 4];
    let mut ranked: Vec<(usize, At<PaletteItem>)> = found
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
        let named = found.item.score >= NAMED;
        let kind = found.item.kind;
        (!named, if named && kind == FoundKind::Entity { 0 } else { kind as usize + 1 }, *rank)
    });
    ranked.into_iter().map(|(_, found)| found).collect()
}
