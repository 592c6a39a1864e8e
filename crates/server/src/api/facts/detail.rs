//! `GET /api/memory/facts/{id}`: the fact, why it is known, how sure, until when, and what happened to it.

use butler_domain::decay::falls_below_at;
use butler_domain::{Fact, MemoryType, Relation, Timestamp};
use butler_host::access::Right;
use butler_memory::config::ConfidenceConfig;
use butler_store::browse::events::{self, EventItem};
use butler_store::browse::facts::{self, FactItem, Version};
use butler_store::browse::links::{self, LinkItem, Side};
use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::{ById, In};
use crate::api::answer::{At, One};
use crate::api::error::ApiError;
use crate::api::operation::{Asked, Operation, Verb};

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FactDetail {
    #[serde(flatten)]
    pub fact: FactItem,
    pub decay: Decay,
    /// The episodes it was learned from.
    pub provenance: Vec<Source>,
    /// Every version under its key, oldest first.
    pub supersession_chain: Vec<Version>,
    pub links: Vec<LinkItem>,
    /// Who changed it, newest first.
    pub events: Vec<EventItem>,
}

/// How confidence is lost, and when it is too little.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Decay {
    pub confidence: f64,
    /// Per day: effective = confidence · e^(−rate · days since confirmed).
    pub rate: f64,
    pub days_since_confirmed: Option<f64>,
    pub effective_confidence: f64,
    /// Null: it never fades.
    pub half_life_days: Option<f64>,
    pub retrieval_threshold: f64,
    pub expiry_threshold: f64,
    /// When it falls below the retrieval threshold; null: never.
    pub fades_on: Option<Timestamp>,
    /// When it falls below the expiry threshold; null: never.
    pub expires_on: Option<Timestamp>,
    pub if_confirmed_today: IfConfirmed,
    /// Half a year ahead from now, for drawing.
    pub curve: Vec<CurvePoint>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CurvePoint {
    pub at: Timestamp,
    pub effective_confidence: f64,
    /// The same if it is confirmed now.
    pub if_confirmed: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct IfConfirmed {
    pub effective_confidence: f64,
    pub fades_on: Option<Timestamp>,
    pub expires_on: Option<Timestamp>,
}

/// How far ahead people look, and how finely a line of that length is drawn.
const CURVE_DAYS: i64 = 180;
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

/// Where a memory comes from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Source {
    pub episode_id: Uuid,
    /// The beginning of the episode, or `expired episode`.
    pub label: String,
    /// The episode is gone; that it was learned from stays known.
    pub expired: bool,
}

/// The episodes a memory was derived from.
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
    type Path = ById;
    type Query = In;
    type Body = ();
    type Answer = One<At<FactDetail>>;

    const ID: &'static str = "getFact";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/facts/{id}";
    const TAG: &'static str = "facts";
    const SUMMARY: &'static str = "One fact: where it comes from, what it replaced, how it decays, and who changed it.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, path: ById, place: In, (): ()) -> Result<Self::Answer, ApiError> {
        read(&asked, &place, path.id).await
    }
}

pub async fn read(asked: &Asked, place: &In, id: Uuid) -> Result<One<At<FactDetail>>, ApiError> {
    let (home, item) = asked
        .find(place.butler.as_deref(), &format!("fact with id {id}"), |memory| async move {
            let mut conn = memory.db().reader(&asked.tenant).await?;
            let Some(fact) = facts::one(&mut conn, &asked.tenant, id, asked.now).await? else { return Ok(None) };
            let links = links::of(&mut conn, &asked.tenant, MemoryType::Fact, id).await?;
            Ok(Some(FactDetail {
                decay: Decay::of(decaying(&fact.fact), &memory.config().confidence, asked.now),
                provenance: sources(&links),
                supersession_chain: facts::chain(&mut conn, &asked.tenant, id).await?,
                links,
                events: events::of_memory(&mut conn, &asked.tenant, id).await?,
                fact,
            }))
        })
        .await?;
    Ok(One::of(At { home, item }))
}

fn decaying(fact: &Fact) -> (f64, f64, Option<Timestamp>) {
    (fact.confidence, fact.decay_rate, fact.last_confirmed_at)
}
