//! Calls with another tenant's ids, made from the schemas of the tools, so that a new tool or argument is tried, too.

use std::collections::HashMap;

use butler_memory::tool::ToolSpec;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::check::rows::Rows;

/// Ids of each kind per tenant and round.
const TRIED: usize = 2;
/// What an id can belong to.
const KINDS: [&str; 6] = ["episode", "fact", "rule", "entity", "proposal", "conflict"];
/// Ids that name no row: the caller chooses its session, and `check` tries the other tenant.
const NO_REFERENCE: [&str; 2] = ["session_id", "tenant_id"];

/// A call that names a row of another tenant.
#[derive(Debug)]
pub struct ForeignCall {
    pub tool: &'static str,
    pub arguments: Value,
    /// The same call with an id that exists nowhere, which must be refused with the same words. `None`: the answer must be
    /// `not_found`.
    pub unknown: Option<Value>,
}

/// Every tool that takes an id, with ids of the other tenant. `own` is an entity of the caller, for tools with two ids.
pub fn calls(rows: &Rows, other: &str, own: Option<Uuid>) -> Vec<ForeignCall> {
    let mut calls = Vec::new();
    for tool in butler_memory::tools() {
        let spec = tool.spec();
        for name in properties(spec).filter(|(name, schema)| is_id(name, schema)).map(|(name, _)| name) {
            for action in changing_actions(spec) {
                calls.extend(calls_with(spec, name, action, &Ids { rows, other, own }));
            }
        }
    }
    calls
}

struct Ids<'a> {
    rows: &'a Rows,
    other: &'a str,
    own: Option<Uuid>,
}

impl Ids<'_> {
    /// Ids of the other tenant.
    fn of(&self, kind: &str) -> Vec<Uuid> {
        let Self { rows, other, .. } = self;
        match kind {
            "episode" => some(&rows.episodes, |row| row.tenant == *other),
            "fact" => some(&rows.facts, |row| row.tenant == *other),
            "rule" => some(&rows.rules, |row| row.tenant == *other),
            "entity" => some(&rows.entities, |row| row.tenant == *other),
            "proposal" => some(&rows.proposals, |row| row.tenant == *other),
            "conflict" => some(&rows.conflicts, |row| row.tenant == *other),
            _ => Vec::new(),
        }
    }
}

fn some<T>(rows: &HashMap<Uuid, T>, is_foreign: impl Fn(&T) -> bool) -> Vec<Uuid> {
    rows.iter().filter(|(_, row)| is_foreign(row)).take(TRIED).map(|(id, _)| *id).collect()
}

fn properties(spec: &ToolSpec) -> impl Iterator<Item = (&String, &Value)> {
    spec.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// Whether an argument is the id of a row, or a list of them.
fn is_id(name: &str, schema: &Value) -> bool {
    let is_uuid = |schema: &Value| schema["format"] == "uuid";
    !NO_REFERENCE.contains(&name) && (name.ends_with("_id") || is_uuid(schema) || is_uuid(&schema["items"]))
}

/// What the id in an argument of this name can belong to.
fn kinds_of(name: &str) -> Vec<&'static str> {
    match name {
        "memory_id" => vec!["episode", "fact", "rule"],
        // An episode that is held is approved and rejected like a proposal.
        "proposal_id" => vec!["proposal", "episode"],
        _ => {
            let name = name.trim_end_matches('s');
            KINDS.into_iter().filter(|kind| name.strip_suffix("_id").is_some_and(|name| name.ends_with(kind))).collect()
        }
    }
}

/// The actions that take an id: all that change something. A tool without actions has one call.
fn changing_actions(spec: &ToolSpec) -> Vec<Option<&str>> {
    let Some((_, schema)) = properties(spec).find(|(name, _)| *name == "action") else { return vec![None] };
    let actions = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    actions.filter(|action| !spec.reading_actions.contains(action)).map(Some).collect()
}

/// The calls of a tool whose argument `name` is an id of the other tenant.
fn calls_with(spec: &ToolSpec, name: &str, action: Option<&str>, ids: &Ids<'_>) -> Vec<ForeignCall> {
    let Some(others) = other_arguments(spec, name, ids.own) else { return Vec::new() };
    let schema = &spec.input_schema["properties"][name];
    let is_list = schema["type"] == "array";
    // What a new memory refers to, and a choice among what names an entity.
    let is_reference = spec.takes_idempotency_key || is_list;
    let mut calls = Vec::new();
    for kind in kinds_of(name) {
        // no episode can be confirmed, so that call says nothing about the id
        if spec.name == "memory_confirm" && kind == "episode" {
            continue;
        }
        let with = |given: String| {
            let mut arguments = others.clone();
            arguments.insert(name.to_owned(), if is_list { json!([given]) } else { json!(given) });
            if let Some(action) = action {
                arguments.insert("action".to_owned(), json!(action));
            }
            if arguments.contains_key("memory_type") {
                arguments.insert("memory_type".to_owned(), json!(kind));
            }
            Value::Object(arguments)
        };
        for id in ids.of(kind) {
            let unknown = is_reference.then(|| with(Uuid::from_u128(id.as_u128() ^ 1).to_string()));
            calls.push(ForeignCall { tool: spec.name, arguments: with(id.to_string()), unknown });
            // An id that need not be whole may be the end of one.
            if schema["format"].is_null() && !is_list {
                let end = id.simple().to_string().split_off(16);
                calls.push(ForeignCall { tool: spec.name, arguments: with(end), unknown: None });
            }
        }
    }
    calls
}

/// Values for the other arguments, so that nothing but the id is wrong: what the schema requires, and every choice and
/// flag. `None`: the call needs an entity of the caller, which has none.
fn other_arguments(spec: &ToolSpec, name: &str, own: Option<Uuid>) -> Option<Map<String, Value>> {
    let required = spec.input_schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
    let mut arguments = Map::new();
    let mut names_own = false;
    for (other, schema) in properties(spec).filter(|(other, _)| *other != name) {
        let value = if is_id(other, schema) {
            if !is_required(other) {
                continue;
            }
            names_own = true;
            json!(own?)
        } else if !schema["enum"].is_null() {
            schema["enum"][0].clone()
        } else if schema["type"] == "boolean" {
            json!(true)
        } else if is_required(other) && schema["type"] == "string" {
            json!("c")
        } else {
            continue;
        };
        arguments.insert(other.clone(), value);
    }
    // A preview says little about the change, but the caller's own entity must survive.
    if let Some(dry_run) = arguments.get_mut("dry_run") {
        *dry_run = json!(names_own);
    }
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rows::{Conflict, Entity, Memory, Proposal};

    const OWN: u128 = 0x99;

    /// Of each kind, a row of the caller, whose number ends in 0, and one of the other tenant.
    fn rows() -> Rows {
        let mut rows = Rows::default();
        for (n, tenant) in [(0, "own"), (1, "other")] {
            let tenant = || tenant.to_owned();
            let memory = || Memory { tenant: tenant(), content: String::new(), state: String::new(), forgotten: false };
            rows.episodes.insert(Uuid::from_u128(0x10 + n), memory());
            rows.facts.insert(Uuid::from_u128(0x20 + n), memory());
            rows.rules.insert(Uuid::from_u128(0x30 + n), memory());
            let (name, metadata) = (String::new(), json!({}));
            rows.entities
                .insert(Uuid::from_u128(0x40 + n), Entity { tenant: tenant(), name, merged_into: None, metadata });
            rows.proposals.insert(Uuid::from_u128(0x50 + n), Proposal { tenant: tenant(), state: "open".to_owned() });
            let conflict = Conflict { tenant: tenant(), resolution: None, result: None };
            rows.conflicts.insert(Uuid::from_u128(0x60 + n), conflict);
        }
        rows
    }

    fn made() -> Vec<ForeignCall> {
        calls(&rows(), "other", Some(Uuid::from_u128(OWN)))
    }

    #[test]
    fn every_id_of_every_tool_and_action_is_tried_with_each_kind_of_row() {
        let (rows, calls) = (rows(), made());
        let ids = Ids { rows: &rows, other: "other", own: None };
        for tool in butler_memory::tools() {
            let spec = tool.spec();
            for (name, _) in properties(spec).filter(|(name, schema)| is_id(name, schema)) {
                let kinds = kinds_of(name);
                assert!(!kinds.is_empty(), "{}: what does {name} belong to?", spec.name);
                for action in changing_actions(spec) {
                    let is_tried = |kind: &str| {
                        let id = ids.of(kind)[0].to_string();
                        calls.iter().any(|call| {
                            let names = call.arguments[name].to_string().contains(&id);
                            names && call.tool == spec.name && call.arguments["action"] == json!(action)
                        })
                    };
                    let missing: Vec<&str> = kinds.iter().copied().filter(|kind| !is_tried(kind)).collect();
                    let expected: &[&str] = if spec.name == "memory_confirm" { &["episode"] } else { &[] };
                    assert_eq!(missing, expected, "{} {action:?}: {name} is not tried with these", spec.name);
                }
            }
        }
    }

    #[test]
    fn the_tools_that_decide_about_a_row_are_among_the_calls() {
        let calls = made();
        let tries = |tool: &str, name: &str, value: &str, n: u128| {
            let id = json!(Uuid::from_u128(n));
            let names = |call: &&ForeignCall| {
                let arguments = call.arguments.as_object().into_iter().flatten();
                arguments.filter(|(_, given)| **given == id).count() == 1
            };
            calls
                .iter()
                .filter(names)
                .any(|call| call.tool == tool && (name.is_empty() || call.arguments[name] == value))
        };
        assert!(tries("entity_neighbors", "", "", 0x41) && tries("entity_unmerge", "", "", 0x41));
        assert!(
            tries("memory_conflicts", "action", "resolve", 0x61) && tries("memory_conflicts", "action", "reopen", 0x61)
        );
        assert!(tries("memory_review", "action", "approve", 0x51) && tries("memory_review", "action", "reject", 0x51));
        assert!(
            tries("memory_get", "memory_type", "rule", 0x31) && tries("memory_forget", "memory_type", "episode", 0x11)
        );
    }

    #[test]
    fn no_row_of_the_caller_is_named_but_its_entity_which_stays() {
        for call in made() {
            let arguments = call.arguments.to_string();
            for n in [0x10, 0x20, 0x30, 0x40, 0x50, 0x60] {
                assert!(!arguments.contains(&Uuid::from_u128(n).to_string()), "{call:?}");
            }
            let names_own = arguments.contains(&Uuid::from_u128(OWN).to_string());
            if call.tool == "entity_forget" {
                assert_eq!(call.arguments["dry_run"], names_own, "{call:?}");
            }
        }
    }

    #[test]
    fn a_reference_is_compared_with_an_unknown_id_and_every_other_id_must_not_be_found() {
        for ForeignCall { tool, arguments, unknown } in made() {
            let is_reference = tool.starts_with("memory_store_") || arguments.to_string().contains('[');
            assert_eq!(unknown.is_some(), is_reference, "{tool} {arguments}");
            assert_ne!(unknown, Some(arguments), "{tool}");
        }
    }
}
