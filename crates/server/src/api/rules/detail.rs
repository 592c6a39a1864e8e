//! `GET /api/memory/rules/{id}`: the rule, how it did, and what it still lacks.

use butler_domain::maturity::{RuleState, next_level};
use butler_domain::{Maturity, MemoryType, Rule, Timestamp};
use butler_host::access::Right;
use butler_memory::Memory;
use butler_store::browse::events::{self, EventItem};
use butler_store::browse::links::{self, LinkItem};
use butler_store::browse::rules::{self, Application, RuleItem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::api::answer::{At, One};
use crate::api::error::ApiError;
use crate::api::facts::detail::{Decay, Source, sources};
use crate::api::facts::{ById, In};
use crate::api::operation::{Asked, Operation, Verb};

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RuleDetail {
    #[serde(flatten)]
    pub rule: RuleItem,
    pub decay: Decay,
    /// Null: there is no level above.
    pub next_level: Option<NextStep>,
    /// The marks it got, newest first.
    pub applications: Vec<Application>,
    /// Effectiveness and maturity after each mark, oldest first.
    pub effectiveness_over_time: Vec<EffectAt>,
    /// Why it did harm, oldest first.
    pub harmful_reasons: Vec<String>,
    /// What a rule that became a warning said before.
    pub original_content: Option<String>,
    /// The episodes it was learned from.
    pub provenance: Vec<Source>,
    pub links: Vec<LinkItem>,
    /// Who changed it, newest first.
    pub events: Vec<EventItem>,
}

/// What a rule still lacks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NextStep {
    pub maturity: Maturity,
    /// Helpful marks, if no harmful one comes between.
    pub helpful_marks: i32,
    /// Days until it is old enough.
    pub days: f64,
    pub in_words: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EffectAt {
    pub at: Timestamp,
    pub outcome: String,
    pub effectiveness: f64,
    pub maturity: String,
}

pub struct GetRule;

impl Operation for GetRule {
    type Path = ById;
    type Query = In;
    type Body = ();
    type Answer = One<At<RuleDetail>>;

    const ID: &'static str = "getRule";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/rules/{id}";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str = "One rule: its applications, how well it does, and what it lacks for the next level.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, path: ById, place: In, (): ()) -> Result<Self::Answer, ApiError> {
        let (asked, id) = (&asked, path.id);
        let (home, item) = asked
            .find(place.butler.as_deref(), &format!("rule with id {id}"), |memory| async move {
                detail(asked, &memory, id).await
            })
            .await?;
        Ok(One::of(At { home, item }))
    }
}

async fn detail(asked: &Asked, memory: &Memory, id: Uuid) -> Result<Option<RuleDetail>, ApiError> {
    let mut conn = memory.db().reader(&asked.tenant).await?;
    let Some(rule) = rules::one(&mut conn, &asked.tenant, id, asked.now).await? else { return Ok(None) };
    let links = links::of(&mut conn, &asked.tenant, MemoryType::Rule, id).await?;
    let applications = rules::applications(&mut conn, &asked.tenant, id).await?;
    let decaying = (rule.rule.confidence, rule.rule.decay_rate, rule.rule.last_confirmed_at);
    Ok(Some(RuleDetail {
        decay: Decay::of(decaying, &memory.config().confidence, asked.now),
        next_level: next(memory, &rule.rule, asked.now),
        effectiveness_over_time: applications.iter().rev().map(effect).collect(),
        harmful_reasons: reasons(&rule.rule),
        original_content: rule.rule.metadata.get("original_content").and_then(Value::as_str).map(str::to_owned),
        provenance: sources(&links),
        links,
        events: events::of_memory(&mut conn, &asked.tenant, id).await?,
        applications,
        rule,
    }))
}

fn effect(mark: &Application) -> EffectAt {
    EffectAt {
        at: mark.applied_at,
        outcome: mark.outcome.clone(),
        effectiveness: mark.effectiveness_score,
        maturity: mark.maturity.clone(),
    }
}

fn reasons(rule: &Rule) -> Vec<String> {
    match rule.metadata.get("harmful_reasons") {
        Some(Value::Array(reasons)) => reasons.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(reason)) => vec![reason.clone()],
        _ => Vec::new(),
    }
}

fn next(memory: &Memory, rule: &Rule, now: Timestamp) -> Option<NextStep> {
    let step = next_level(&RuleState::from(rule), &memory.rule_thresholds(), now)?;
    let marks = match step.helpful_marks {
        1 => "one more helpful mark".to_owned(),
        marks => format!("{marks} more helpful marks"),
    };
    let days = step.days.ceil();
    let in_words = match days as i64 {
        0 => format!("{marks} to {}", step.maturity),
        1 => format!("{marks} and one more day to {}", step.maturity),
        days => format!("{marks} and {days} more days to {}", step.maturity),
    };
    Some(NextStep { maturity: step.maturity, helpful_marks: step.helpful_marks, days: step.days, in_words })
}
