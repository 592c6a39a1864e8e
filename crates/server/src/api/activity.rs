//! `GET /api/memory/activity` and `GET /api/timeline`: audit events, newest first.

use std::sync::Arc;

use butler_domain::validate::Invalid;
use butler_host::access::Right;
use butler_memory::Memory;
use butler_store::browse::events::{self, EventFilter, EventItem};
use butler_store::browse::palette::FoundKind;
use schemars::JsonSchema;
use serde::Deserialize;

use super::envelope::{List, WithHome};
use super::error::ApiError;
use super::operation::{Operation, RequestContext, Verb};
use super::page::{Paging, date_or_time};

/// The events that change what is known, without housekeeping events.
const KNOWLEDGE_EVENTS: [&str; 13] = [
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
    /// Only events in this butler's database.
    butler: Option<String>,
    #[serde(flatten)]
    paging: Paging,
}

pub struct ListActivity;

impl Operation for ListActivity {
    type Path = ();
    type Query = ActivityFilters;
    type Body = ();
    type Answer = List<WithHome<EventItem>>;

    const ID: &'static str = "listActivity";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/activity";
    const TAG: &'static str = "events";
    const SUMMARY: &'static str = "List what changed: facts created, superseded or expired; \
         rules promoted, demoted or turned into warnings.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: ActivityFilters, (): ()) -> Result<Self::Answer, ApiError> {
        let types = Some(KNOWLEDGE_EVENTS.iter().map(|name| (*name).to_owned()).collect());
        let filter = EventFilter { types, ..EventFilter::default() };
        list(&ctx, query.butler.as_deref(), filter, query.paging).await
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct TimelineFilters {
    /// Only these event types, separated by commas: `fact_created,rule_promoted`.
    #[serde(rename = "type")]
    types: Option<String>,
    /// Only events about this kind of memory.
    kind: Option<FoundKind>,
    /// Only events in this butler's database.
    butler: Option<String>,
    /// Only events at or after this date or time: `2026-03-01` or `2026-03-01T12:00:00Z`.
    from: Option<String>,
    /// Only events at or before this date or time.
    to: Option<String>,
    #[serde(flatten)]
    paging: Paging,
}

pub struct Timeline;

impl Operation for Timeline {
    type Path = ();
    type Query = TimelineFilters;
    type Body = ();
    type Answer = List<WithHome<EventItem>>;

    const ID: &'static str = "listTimeline";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/timeline";
    const TAG: &'static str = "events";
    const SUMMARY: &'static str = "List all events, newest first.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: TimelineFilters, (): ()) -> Result<Self::Answer, ApiError> {
        let filter = EventFilter {
            types: query.types.as_deref().map(types).transpose()?,
            kind: query.kind.map(|kind| kind.as_str().to_owned()),
            from: query.from.as_deref().map(|text| date_or_time("from", text, false)).transpose()?,
            to: query.to.as_deref().map(|text| date_or_time("to", text, true)).transpose()?,
        };
        list(&ctx, query.butler.as_deref(), filter, query.paging).await
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
            let invalid = Invalid::new("type", format!("unknown event type {name:?}"));
            Err(ApiError::bad_parameter(
                invalid.hint(format!("valid values: {}", known().collect::<Vec<_>>().join(", "))),
            ))
        })
        .collect()
}

async fn list(
    ctx: &RequestContext,
    butler: Option<&str>,
    filter: EventFilter,
    paging: Paging,
) -> Result<List<WithHome<EventItem>>, ApiError> {
    let request = ctx.page_request(paging, butler)?;
    let filter = &filter;
    let part = |memory: Arc<Memory>, page| async move {
        let mut conn = memory.db().reader(&ctx.tenant).await?;
        Ok(events::list(&mut conn, &ctx.tenant, filter, page).await?)
    };
    let key = |item: &EventItem| (item.created_at, item.id);
    ctx.page(butler, request, part, |a, b| key(b).cmp(&key(a)), |item| Some(key(item))).await
}
