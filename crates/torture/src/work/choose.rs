//! Which tool next, and with what.

use std::sync::LazyLock;

use butler_memory::tool::{Right, Tool, ToolSpec};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{Call, Worker};
use crate::dice::Dice;
use crate::journal::{Change, Kind};
use crate::tenant::Tenant;

/// Every tool of the program, so that a new one is called as well.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(butler_memory::tools);
/// Few keys, so that most facts supersede another, and clients of a tenant meet.
const SUBJECTS: u64 = 8;
const PREDICATES: [&str; 3] = ["is", "likes", "lives in"];
const SCOPES: [&str; 2] = ["global", "general"];
const KINDS: [Kind; 3] = [Kind::Episode, Kind::Fact, Kind::Rule];
/// Marks fall on this many of the latest rules, so that some of them collect enough to be inverted.
const MARKED: usize = 16;
/// One call in this many is about another tenant's.
const FOREIGN: u64 = 12;
/// One fact or rule in this many comes from untrusted text.
const UNTRUSTED: u64 = 10;
/// Keeps cleanup at work once enough was consolidated.
const MAX_EPISODES: u64 = 150;

impl Worker {
    pub(super) fn choose(&mut self) -> Call {
        let spec = TOOLS[self.dice.weighted(TOOLS.iter().map(|tool| weight(tool.spec())))].spec();
        let foreign = self.world.tenants.len() > 1 && self.dice.one_in(FOREIGN);
        let whose = if foreign { self.other() } else { self.tenant };
        let place = format!("client {} call {}", self.index, self.calls + 1);
        let world = std::sync::Arc::clone(&self.world);
        let (own, whose) = (&world.tenants[self.tenant], &world.tenants[whose]);
        let text = format!("{} {} {place}", own.word, own.secret);
        let mut made = make(spec, &mut self.dice, own, whose, foreign, &text);
        if let Some(Call { change, foreign: false, .. }) = &mut made
            && let Change::Store { kind: kind @ (Kind::Fact | Kind::Rule), content, .. } = &*change
            && self.dice.one_in(UNTRUSTED)
        {
            *change = Change::Propose { kind: *kind, content: content.clone(), id: None };
        }
        // nothing to work on yet: something to work on, then
        made.unwrap_or_else(|| store_episode(&mut self.dice, &text))
    }

    fn other(&mut self) -> usize {
        let count = self.world.tenants.len();
        (self.tenant + 1 + self.dice.between(0, count as u64 - 1) as usize) % count
    }
}

/// How often a tool is called, compared with the others: stores most often, jobs least.
fn weight(spec: &ToolSpec) -> u64 {
    match spec.right {
        Right::Admin | Right::Metrics => 1,
        Right::Read => 5,
        Right::Write if spec.takes_idempotency_key => 12,
        Right::Write => 5,
    }
}

fn make(spec: &ToolSpec, dice: &mut Dice, own: &Tenant, whose: &Tenant, foreign: bool, text: &str) -> Option<Call> {
    let tool = spec.name;
    let question = format!("what of {} {}", whose.word, dice.of(&PREDICATES).unwrap_or(&"is"));
    let call = |arguments: Value, change: Change| Call { tool, arguments, change, keyed: false, foreign };
    let read = |arguments: Value| Call { foreign: false, ..call(arguments, Change::Nothing) };
    let kind = *dice.of(&KINDS)?;
    Some(match tool {
        "memory_store_episode" => store_episode(dice, text),
        "memory_store_fact" => return store_fact(dice, own, whose, foreign, text),
        "memory_store_rule" => {
            let scope = dice.of(&SCOPES)?;
            let change = Change::Store { kind: Kind::Rule, content: text.to_owned(), id: None, superseded: None };
            Call {
                tool,
                arguments: json!({"content": text, "scope": scope}),
                change,
                keyed: dice.one_in(2),
                foreign: false,
            }
        }
        "memory_context" => read(json!({"trigger_prompt": question, "butler": "general"})),
        "memory_recall" => read(json!({"topic": question})),
        "memory_search" => read(json!({"query": question, "limit": 20})),
        "memory_stats" => read(json!({})),
        "memory_changes" => read(json!({"since": "1h"})),
        "entity_resolve" => read(json!({"name": whose.word, "enable_fuzzy": dice.one_in(2)})),
        "memory_get" => {
            let id = *dice.of(whose.known().of(kind))?;
            call(json!({"memory_type": kind.as_str(), "memory_id": id}), Change::Get { kind })
        }
        "memory_confirm" => {
            let kind = if kind == Kind::Episode { Kind::Fact } else { kind };
            let id = *dice.of(whose.known().of(kind))?;
            call(json!({"memory_type": kind.as_str(), "memory_id": id}), Change::Confirm { kind, id })
        }
        "memory_forget" => {
            let id = *dice.of(whose.known().of(kind))?;
            call(json!({"memory_type": kind.as_str(), "memory_id": id}), Change::Forget { kind, id, changed: false })
        }
        "memory_mark_helpful" | "memory_mark_harmful" => {
            let known = whose.known();
            let rule = *dice.of(&known.rules[known.rules.len().saturating_sub(MARKED)..])?;
            let helpful = tool == "memory_mark_helpful";
            let arguments = if helpful { json!({"rule_id": rule}) } else { json!({"rule_id": rule, "reason": text}) };
            call(arguments, Change::Mark { rule, helpful })
        }
        "memory_run_consolidation" => read(json!({"dry_run": dice.one_in(4)})).working(),
        "memory_run_episode_cleanup" => read(json!({"max_entries": MAX_EPISODES})).working(),
        "memory_predicates" | "memory_conflicts" => read(json!({"action": "list"})),
        "entity_create" | "entity_get" | "entity_neighbors" | "entity_update" | "entity_merge" | "entity_forget" => {
            return entity(tool, dice, own, whose, foreign, text);
        }
        _ => read(Value::Object(arguments(spec, &question)?)),
    })
}

/// The required arguments of a tool that has no case above, made from its schema. A tool that writes needs a case: only
/// that knows what the call must leave behind.
fn arguments(spec: &ToolSpec, question: &str) -> Option<Map<String, Value>> {
    if !spec.annotations.read_only {
        return None;
    }
    let required = spec.input_schema.get("required").and_then(Value::as_array).into_iter().flatten();
    required
        .filter_map(Value::as_str)
        .map(|name| {
            let property = &spec.input_schema["properties"][name];
            let value = match property["type"].as_str()? {
                // An id of nothing would only be refused.
                "string" if property["format"].is_null() => property["enum"].get(0).cloned().unwrap_or(json!(question)),
                "integer" | "number" => json!(1),
                "boolean" => json!(false),
                _ => return None,
            };
            Some((name.to_owned(), value))
        })
        .collect()
}

fn store_episode(dice: &mut Dice, text: &str) -> Call {
    let change = Change::Store { kind: Kind::Episode, content: text.to_owned(), id: None, superseded: None };
    let arguments = json!({"content": text, "butler": "general", "importance": dice.between(0, 11)});
    Call { tool: "memory_store_episode", arguments, change, keyed: dice.one_in(2), foreign: false }
}

fn store_fact(dice: &mut Dice, own: &Tenant, whose: &Tenant, foreign: bool, text: &str) -> Option<Call> {
    let subject = format!("{} {}", own.word, dice.between(0, SUBJECTS));
    let mut arguments = json!({
        "subject": subject, "predicate": dice.of(&PREDICATES)?, "content": text, "scope": dice.of(&SCOPES)?,
    });
    if foreign || dice.one_in(4) {
        arguments["entity_id"] = json!(*dice.of(&whose.known().entities)?);
    }
    if dice.one_in(4) {
        arguments["object_entity_id"] = json!(*dice.of(&whose.known().entities)?);
    }
    if dice.one_in(3) {
        // a change, a plan or history; late, equal and overlapping dates are likely
        let year = dice.between(2015, 2035);
        arguments["valid_from"] = json!(year.to_string());
        if dice.one_in(3) {
            arguments["valid_to"] = json!((year + dice.between(1, 4)).to_string());
        }
    }
    if dice.one_in(8) {
        arguments["observed_at"] = json!(dice.between(2015, 2025).to_string());
    }
    if dice.one_in(4) {
        arguments["source_episode_id"] = json!(*dice.of(&whose.known().episodes)?);
    }
    let change = Change::Store { kind: Kind::Fact, content: text.to_owned(), id: None, superseded: None };
    Some(Call { tool: "memory_store_fact", arguments, change, keyed: dice.one_in(2), foreign })
}

fn entity(
    tool: &'static str,
    dice: &mut Dice,
    own: &Tenant,
    whose: &Tenant,
    foreign: bool,
    text: &str,
) -> Option<Call> {
    let some = |dice: &mut Dice, whose: &Tenant| dice.of(&whose.known().entities).copied();
    let call = |arguments: Value, change: Change| Call { tool, arguments, change, keyed: false, foreign };
    Some(match tool {
        "entity_create" => {
            let aliases = json!([format!("{} also", own.word)]);
            let arguments = json!({"canonical_name": text, "entity_type": "person", "aliases": aliases});
            Call { foreign: false, ..call(arguments, Change::CreateEntity { name: text.to_owned(), id: None }) }
        }
        "entity_get" => {
            let id: Uuid = some(dice, whose)?;
            call(json!({"entity_id": id}), Change::GetEntity)
        }
        "entity_neighbors" => {
            let id: Uuid = some(dice, whose)?;
            call(json!({"entity_id": id, "depth": dice.between(1, 4)}), Change::GetEntity)
        }
        "entity_update" => {
            let id = some(dice, whose)?;
            let key = text.rsplit_once(" client ").map(|(_, place)| format!("client {place}"))?;
            call(json!({"entity_id": id, "metadata": {key.clone(): 1}}), Change::UpdateEntity { id, key })
        }
        "entity_forget" => {
            let (id, erase) = (some(dice, whose)?, dice.one_in(2));
            let arguments = json!({"entity_id": id, "erase": erase, "dry_run": false});
            call(arguments, Change::ForgetEntity { id, erase })
        }
        _ => {
            let (source, target) = (some(dice, whose)?, some(dice, own)?);
            let arguments = json!({"source_entity_id": source, "target_entity_id": target});
            call(arguments, Change::MergeEntities { source, target })
        }
    })
}

impl Call {
    fn working(self) -> Self {
        Self { change: Change::Work, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_without_a_case_gets_its_arguments_from_its_schema() {
        let spec = |name: &str| TOOLS.iter().find(|tool| tool.spec().name == name).unwrap().spec();
        assert_eq!(arguments(spec("memory_recall"), "why?").map(Value::Object), Some(json!({"topic": "why?"})));
        assert!(arguments(spec("entity_get"), "why?").is_none(), "there is no id to give");
        assert!(arguments(spec("memory_store_rule"), "why?").is_none(), "it writes");
    }
}
