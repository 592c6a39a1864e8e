//! `GET /api/memory/facts/{id}`: a fact with its origin, its confidence and decay, and its history.

use butler_domain::decay::falls_below_at;
use butler_domain::{Fact, MemoryType, Relation, Timestamp};
use butler_host::access::Right;
use butler_memory::browse::{EventItem, FactItem, LinkItem, Period, Side, Version};
use butler_memory::config::ConfidenceConfig;
use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::{ButlerQuery, IdPath};
use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::operation::{Operation, RequestContext, Verb};

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FactDetail {
    #[serde(flatten)]
    pub fact: FactItem,
    pub decay: Decay,
    /// The episodes that the fact was learned from.
    pub provenance: Vec<Source>,
    /// All versions of the fact, oldest first.
    pub supersession_chain: Vec<Version>,
    /// All facts of its key in the order of time, earliest first.
    pub timeline: Vec<Period>,
    pub links: Vec<LinkItem>,
    /// Audit events of this fact, newest first.
    pub events: Vec<EventItem>,
}

/// How the confidence decays, and when it falls below the thresholds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Decay {
    pub confidence: f64,
    /// Decay rate per day: effective confidence = confidence · e^(−rate · days since the last confirmation).
    pub rate: f64,
    pub days_since_confirmed: Option<f64>,
    pub effective_confidence: f64,
    /// Null if the memory never fades.
    pub half_life_days: Option<f64>,
    pub retrieval_threshold: f64,
    pub expiry_threshold: f64,
    /// When the effective confidence falls below the retrieval threshold; null if never.
    pub fades_on: Option<Timestamp>,
    /// When the effective confidence falls below the expiry threshold; null if never.
    pub expires_on: Option<Timestamp>,
    pub if_confirmed_today: IfConfirmed,
    /// The next 180 days, for a chart.
    pub curve: Vec<CurvePoint>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CurvePoint {
    pub at: Timestamp,
    pub effective_confidence: f64,
    /// The effective confidence at that time if the memory is confirmed now.
    pub if_confirmed: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct IfConfirmed {
    pub effective_confidence: f64,
    pub fades_on: Option<Timestamp>,
    pub expires_on: Option<Timestamp>,
}

/// The chart shows half a year.
const CURVE_DAYS: i64 = 180;
/// One point for every two days is enough for a smooth line.
const CURVE_STEP: usize = 2;

impl Decay {
    pub fn of(
        (confidence, rate, confirmed): (f64, f64, Option<Timestamp>),
        config: &ConfidenceConfig,
        now: Timestamp,
    ) -> Self {
        let below = |threshold, from| falls_below_at(threshold, confidence, rate, from);
        let (retrieval, expiry) = (config.retrieval_threshold, config.expiry_threshold);
        let effective = |confirmed, at| butler_domain::decay::effective_confidence(confidence, rate, confirmed, at);
        let days = (0..=CURVE_DAYS).step_by(CURVE_STEP).map(|day| now + TimeDelta::days(day));
        Self {
            confidence,
            rate,
            days_since_confirmed: confirmed.map(|at| butler_domain::clock::days_between(at, now)),
            effective_confidence: effective(confirmed, now),
            half_life_days: (rate > 0.0).then(|| std::f64::consts::LN_2 / rate),
            retrieval_threshold: retrieval,
            expiry_threshold: expiry,
            fades_on: below(retrieval, confirmed),
            expires_on: below(expiry, confirmed),
            if_confirmed_today: IfConfirmed {
                effective_confidence: confidence,
                fades_on: below(retrieval, Some(now)),
                expires_on: below(expiry, Some(now)),
            },
            curve: days
                .map(|at| CurvePoint {
                    at,
                    effective_confidence: effective(confirmed, at),
                    if_confirmed: effective(Some(now), at),
                })
                .collect(),
        }
    }
}

/// An episode that a memory was learned from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Source {
    pub episode_id: Uuid,
    /// The beginning of the episode's text, or `expired episode`.
    pub label: String,
    /// Whether the episode has been deleted; the link to it remains.
    pub expired: bool,
}

/// Selects the episodes that a memory was derived from.
pub fn sources(links: &[LinkItem]) -> Vec<Source> {
    links
        .iter()
        .filter(|link| link.side == Side::Outgoing && link.relation == Relation::DerivedFrom)
        .filter(|link| link.memory_type == MemoryType::Episode)
        .map(|link| Source {
            episode_id: link.id,
            label: link.label.clone().unwrap_or_else(|| "expired episode".to_owned()),
            expired: link.label.is_none(),
        })
        .collect()
}

pub struct GetFact;

impl Operation for GetFact {
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<FactDetail>>;

    const ID: &'static str = "getFact";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/facts/{id}";
    const TAG: &'static str = "facts";
    const SUMMARY: &'static str = "Get a fact with its origin, the versions it superseded, its decay and its history.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        read(&ctx, &query, path.id).await
    }
}

pub async fn read(
    ctx: &RequestContext,
    query: &ButlerQuery,
    id: Uuid,
) -> Result<Single<WithHome<FactDetail>>, ApiError> {
    let (home, item) = ctx
        .find(query.butler.as_deref(), &format!("fact with id {id}"), |memory| async move {
            let Some(record) = ctx.browse(&memory).fact(id).await? else { return Ok(None) };
            Ok(Some(FactDetail {
                decay: Decay::of(decaying(&record.fact.fact), &memory.config().confidence, ctx.now),
                provenance: sources(&record.links),
                supersession_chain: record.versions,
                timeline: record.timeline,
                links: record.links,
                events: record.events,
                fact: record.fact,
            }))
        })
        .await?;
    Ok(Single::new(WithHome { home, item }))
}

fn decaying(fact: &Fact) -> (f64, f64, Option<Timestamp>) {
    (fact.confidence, fact.decay_rate, fact.last_confirmed_at)
}
