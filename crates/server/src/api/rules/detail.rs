//! `GET /api/memory/rules/{id}`: a rule with its applications, its effectiveness and what it needs for the next level.

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

use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::detail::{Decay, Source, sources};
use crate::api::facts::{ButlerQuery, IdPath};
use crate::api::operation::{Operation, RequestContext, Verb};

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RuleDetail {
    #[serde(flatten)]
    pub rule: RuleItem,
    pub decay: Decay,
    /// What the rule needs for the next maturity level; null if there is none above.
    pub next_level: Option<NextStep>,
    /// The helpful and harmful marks, newest first.
    pub applications: Vec<Application>,
    /// Effectiveness and maturity after each mark, oldest first.
    pub effectiveness_over_time: Vec<EffectAt>,
    /// The reasons given with harmful marks, oldest first.
    pub harmful_reasons: Vec<String>,
    /// The text of the rule before it was turned into a warning.
    pub original_content: Option<String>,
    /// The episodes that the rule was learned from.
    pub provenance: Vec<Source>,
    pub links: Vec<LinkItem>,
    /// Audit events of this rule, newest first.
    pub events: Vec<EventItem>,
}

/// What a rule needs to reach the next maturity level.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NextStep {
    pub maturity: Maturity,
    /// Number of helpful marks needed, provided that no harmful one is added.
    pub helpful_marks: i32,
    /// Days until the rule is old enough.
    pub days: f64,
    /// The same as a sentence.
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
    type Path = IdPath;
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<RuleDetail>>;

    const ID: &'static str = "getRule";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/rules/{id}";
    const TAG: &'static str = "rules";
    const SUMMARY: &'static str =
        "Get a rule with its applications, its effectiveness and what it needs for the next level.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, path: IdPath, query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, id) = (&ctx, path.id);
        let (home, item) = ctx
            .find(query.butler.as_deref(), &format!("rule with id {id}"), |memory| async move {
                detail(ctx, &memory, id).await
            })
            .await?;
        Ok(Single::new(WithHome { home, item }))
    }
}

async fn detail(ctx: &RequestContext, memory: &Memory, id: Uuid) -> Result<Option<RuleDetail>, ApiError> {
    let mut conn = memory.db().reader(&ctx.tenant).await?;
    let Some(rule) = rules::one(&mut conn, &ctx.tenant, id, ctx.now).await? else { return Ok(None) };
    let links = links::of(&mut conn, &ctx.tenant, MemoryType::Rule, id).await?;
    let applications = rules::applications(&mut conn, &ctx.tenant, id).await?;
    let decaying = (rule.rule.confidence, rule.rule.decay_rate, rule.rule.last_confirmed_at);
    Ok(Some(RuleDetail {
        decay: Decay::of(decaying, &memory.config().confidence, ctx.now),
        next_level: next(memory, &rule.rule, ctx.now),
        effectiveness_over_time: applications.iter().rev().map(effect).collect(),
        harmful_reasons: reasons(&rule.rule),
        original_content: rule.rule.metadata.get("original_content").and_then(Value::as_str).map(str::to_owned),
        provenance: sources(&links),
        links,
        events: events::of_memory(&mut conn, &ctx.tenant, id).await?,
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
