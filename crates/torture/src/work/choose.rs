//! Which tool next, and with what.

use std::sync::LazyLock;

use butler_memory::tool::{Right, Tool, ToolSpec};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{Call, Worker};
use crate::dice::Dice;
use crate::journal::{Change, Kind, OpenConflict};
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
/// One fact or rule in this many repeats a forgotten one.
const FORGOTTEN: u64 = 8;
/// One call about predicates in this many registers one. The others list them, so there must not be too many.
const REGISTERED: u64 = 4;
/// Without another scope or time for `keep_both`, which would store the content of a fact again.
const RESOLUTIONS: [&str; 5] = ["keep_a", "keep_b", "keep_both", "merge", "forget_both"];
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
        if let Some(Call { change, arguments, foreign: false, .. }) = &mut made
            && arguments.get(OVERRIDE).is_none()
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

/// The argument with which a forgotten statement is stored again.
const OVERRIDE: &str = "override_tombstone";

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
    if !foreign
        && dice.one_in(FORGOTTEN)
        && let Some(call) = store_forgotten(tool, dice, own)
    {
        return Some(call);
    }
    Some(match tool {
        "memory_store_episode" => store_episode(dice, text),
        "memory_store_fact" => return store_fact(dice, own, whose, foreign, text),
        "memory_store_rule" => store_rule(dice, text)?,
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
        "memory_predicates" if dice.one_in(REGISTERED) => {
            let change = Change::RegisterPredicate { name: text.to_owned() };
            Call { change, ..read(json!({"action": "register", "name": text})) }
        }
        "memory_review" if foreign || dice.one_in(2) => {
            let ((kind, proposal), approve) = (*dice.of(&whose.known().proposals)?, dice.one_in(2));
            let action = if approve { "approve" } else { "reject" };
            let change = Change::Decide { kind, proposal, approve, memory: None, changed: false };
            call(json!({"action": action, "proposal_id": proposal}), change)
        }
        "memory_conflicts" if foreign || dice.one_in(2) => {
            let (conflict, resolution) = (*dice.of(&whose.known().conflicts)?, *dice.of(&RESOLUTIONS)?);
            resolve(tool, conflict, resolution, foreign, text)
        }
        "memory_predicates" | "memory_review" | "memory_conflicts" => read(json!({"action": "list"})),
        "entity_create" | "entity_get" | "entity_neighbors" | "entity_update" | "entity_merge" | "entity_unmerge"
        | "entity_forget" => {
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

fn store_rule(dice: &mut Dice, text: &str) -> Option<Call> {
    let arguments = json!({"content": text, "scope": dice.of(&SCOPES)?});
    let change = Change::Store { kind: Kind::Rule, content: text.to_owned(), id: None, superseded: None };
    Some(Call { tool: "memory_store_rule", arguments, change, keyed: dice.one_in(2), foreign: false })
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

/// Stores what was forgotten once more. With the override it is known again; without, the call must be refused, or the
/// checks find a forgotten statement.
fn store_forgotten(tool: &'static str, dice: &mut Dice, own: &Tenant) -> Option<Call> {
    let kind = match tool {
        "memory_store_fact" => Kind::Fact,
        "memory_store_rule" => Kind::Rule,
        _ => return None,
    };
    let mut arguments = own.known().take_forgotten(kind)?;
    let content = arguments["content"].as_str()?.to_owned();
    arguments[OVERRIDE] = json!(dice.one_in(2));
    let change = Change::Store { kind, content, id: None, superseded: None };
    Some(Call { tool, arguments, change, keyed: dice.one_in(2), foreign: false })
}

fn resolve(tool: &'static str, open: OpenConflict, resolution: &'static str, foreign: bool, text: &str) -> Call {
    let mut arguments = json!({"action": "resolve", "conflict_id": open.id, "resolution": resolution});
    let content = (resolution == "merge").then(|| text.to_owned());
    if let Some(content) = &content {
        arguments["content"] = json!(content);
    }
    let change = Change::Resolve { conflict: open.id, sides: open.sides, resolution, content };
    Call { tool, arguments, change, keyed: false, foreign }
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
        "entity_unmerge" => {
            let id = *dice.of(&whose.known().merged)?;
            call(json!({"entity_id": id}), Change::UnmergeEntity { id })
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
    use crate::journal::Journal;

    /// Two tenants that know something of each kind.
    fn tenants() -> [Tenant; 2] {
        [0, 1].map(|index| {
            let tenant = Tenant::new(index, String::new());
            let mut known = tenant.known();
            KINDS.iter().for_each(|kind| known.learn(*kind, Uuid::nil()));
            known.learn_entity(Uuid::nil());
            known.learn_merge(Uuid::nil());
            known.proposals = vec![(Kind::Fact, Uuid::nil())];
            known.conflicts = vec![OpenConflict { id: Uuid::nil(), sides: [Uuid::nil(), Uuid::max()] }];
            drop(known);
            tenant
        })
    }

    #[test]
    fn every_tool_is_called_and_every_tool_that_writes_makes_a_change() {
        let [own, other] = tenants();
        let mut dice = Dice::new(1, 1);
        for tool in TOOLS.iter() {
            let spec = tool.spec();
            let calls: Vec<Call> = (0..100)
                .filter_map(|_| make(spec, &mut dice, &own, &own, false, "text client 1 call 1"))
                .filter(|call| call.tool == spec.name)
                .collect();
            assert!(!calls.is_empty(), "{} is never called", spec.name);
            let writes = calls.iter().any(|call| Journal::writes(&call.change));
            assert_eq!(writes, !spec.annotations.read_only, "{}", spec.name);
            let foreign = make(spec, &mut dice, &own, &other, true, "text client 1 call 1");
            assert!(foreign.is_some_and(|call| call.tool == spec.name), "{} is not called for a foreign id", spec.name);
        }
    }

    #[test]
    fn proposals_are_approved_and_rejected_and_conflicts_are_resolved_in_every_way() {
        let [own, _] = tenants();
        let mut dice = Dice::new(1, 1);
        let mut made = Vec::new();
        for tool in TOOLS.iter() {
            made.extend((0..100).filter_map(|_| make(tool.spec(), &mut dice, &own, &own, false, "text")));
        }
        let with = |name: &str, value: &str| made.iter().any(|call| call.arguments[name] == value);
        assert!(with("action", "approve") && with("action", "reject") && with("action", "register"));
        assert!(RESOLUTIONS.iter().all(|resolution| with("resolution", resolution)));
        let is_whole =
            |call: &&Call| (call.arguments["resolution"] == "merge") == call.arguments["content"].is_string();
        assert!(made.iter().filter(|call| call.tool == "memory_conflicts").all(|call| is_whole(&call)));
    }

    #[test]
    fn a_forgotten_statement_is_stored_again_once_with_or_without_the_override() {
        let [own, _] = tenants();
        let mut dice = Dice::new(1, 1);
        let mut overrides = Vec::new();
        for n in 0..40 {
            let id = Uuid::from_u128(n);
            own.known().statements.insert(id, json!({"content": "forgotten"}));
            own.known().forget(Kind::Rule, id, true);
            assert!(store_forgotten("memory_store_fact", &mut dice, &own).is_none(), "it is a rule");
            let again = store_forgotten("memory_store_rule", &mut dice, &own).unwrap();
            assert!(store_forgotten("memory_store_rule", &mut dice, &own).is_none(), "it was taken");
            overrides.push(again.arguments[OVERRIDE].as_bool().unwrap());
            assert!(matches!(again.change, Change::Store { content, .. } if content == "forgotten"));
        }
        assert!(overrides.contains(&true) && overrides.contains(&false));
    }

    #[test]
    fn a_tool_without_a_case_gets_its_arguments_from_its_schema() {
        let spec = |name: &str| TOOLS.iter().find(|tool| tool.spec().name == name).unwrap().spec();
        assert_eq!(arguments(spec("memory_recall"), "why?").map(Value::Object), Some(json!({"topic": "why?"})));
        assert!(arguments(spec("entity_get"), "why?").is_none(), "there is no id to give");
        assert!(arguments(spec("memory_store_rule"), "why?").is_none(), "it writes");
    }
}
