//! `GET /api/memory/activity` and `GET /api/timeline`: what happened, newest first.

use std::sync::Arc;

use butler_domain::validate::Invalid;
use butler_host::access::Right;
use butler_memory::Memory;
use butler_store::browse::events::{self, EventFilter, EventItem};
use butler_store::browse::palette::FoundKind;
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{At, Many};
use super::error::ApiError;
use super::operation::{Asked, Operation, Verb};
use super::page::{Paging, moment};

/// What became known or ceased to be: knowledge, not housekeeping.
const KNOWLEDGE: [&str; 13] = [
    "fact_created",
    "fact_superseded",
    "fact_expired",
    "fact_fading",
    "fact_forgotten",
    "fact_restored",
    "rule_created",
    "rule_edited",
    "rule_promoted",
    "rule_demoted",
    "rule_inverted",
    "rule_forgotten",
    "entity_merge",
];

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ActivityFilters {
    /// The butler in whose database they are.
    butler: Option<String>,
    #[serde(flatten)]
    paging: Paging,
}

pub struct ListActivity;

impl Operation for ListActivity {
    type Path = ();
    type Query = ActivityFilters;
    type Body = ();
    type Answer = Many<At<EventItem>>;

    const ID: &'static str = "listActivity";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/activity";
    const TAG: &'static str = "events";
    const SUMMARY: &'static str =
        "How knowledge changed: facts made, replaced, expired; rules promoted, demoted, turned into warnings.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, (): (), query: ActivityFilters, (): ()) -> Result<Self::Answer, ApiError> {
        let types = Some(KNOWLEDGE.iter().map(|name| (*name).to_owned()).collect());
        let filter = EventFilter { types, ..EventFilter::default() };
        list(&asked, query.butler.as_deref(), filter, query.paging).await
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct TimelineFilters {
    /// Types of event, separated by commas: `fact_created,rule_promoted`.
    #[serde(rename = "type")]
    types: Option<String>,
    /// What it is about.
    kind: Option<FoundKind>,
    /// The butler in whose database they are.
    butler: Option<String>,
    /// Not before this day or moment: `2026-03-01` or `2026-03-01T12:00:00Z`.
    from: Option<String>,
    /// Not after this day or moment.
    to: Option<String>,
    #[serde(flatten)]
    paging: Paging,
}

pub struct Timeline;

impl Operation for Timeline {
    type Path = ();
    type Query = TimelineFilters;
    type Body = ();
    type Answer = Many<At<EventItem>>;

    const ID: &'static str = "listTimeline";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/timeline";
    const TAG: &'static str = "events";
    const SUMMARY: &'static str = "All events, newest first, filtered.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, (): (), query: TimelineFilters, (): ()) -> Result<Self::Answer, ApiError> {
        let filter = EventFilter {
            types: query.types.as_deref().map(types).transpose()?,
            kind: query.kind.map(|kind| kind.as_str().to_owned()),
            from: query.from.as_deref().map(|text| moment("from", text, false)).transpose()?,
            to: query.to.as_deref().map(|text| moment("to", text, true)).transpose()?,
        };
        list(&asked, query.butler.as_deref(), filter, query.paging).await
    }
}

fn types(text: &str) -> Result<Vec<String>, ApiError> {
    let known = || butler_domain::event::EventType::ALL.iter().map(|known| known.as_str());
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    names
        .map(|name| {
            if known().any(|known| known == name) {
                return Ok(name.to_owned());
            }
            let invalid = Invalid::new("type", format!("there is no event {name:?}"));
            Err(ApiError::bad_parameter(invalid.hint(format!("valid are {}", known().collect::<Vec<_>>().join(", ")))))
        })
        .collect()
}

async fn list(
    asked: &Asked,
    butler: Option<&str>,
    filter: EventFilter,
    paging: Paging,
) -> Result<Many<At<EventItem>>, ApiError> {
    let wanted = paging.of(asked, butler)?;
    let filter = &filter;
    let part = |memory: Arc<Memory>, page| async move {
        let mut conn = memory.db().reader(&asked.tenant).await?;
        Ok(events::list(&mut conn, &asked.tenant, filter, page).await?)
    };
    let key = |item: &EventItem| (item.created_at, item.id);
    asked.page(butler, wanted, part, |a, b| key(b).cmp(&key(a)), |item| Some(key(item))).await
}
