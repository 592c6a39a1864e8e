//! Every tool that takes an id, called with another tenant's; every question, asked about another tenant's memory.

use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::rows::Rows;
use crate::client::{Client, Reply};
use crate::work::World;

/// Ids of each kind a tenant tries; which ones changes from round to round with what there is.
const TRIED: usize = 2;

pub async fn check(world: &Arc<World>, rows: &Rows, address: &str) -> Vec<String> {
    let mut violations = Vec::new();
    let count = world.tenants.len();
    for (index, tenant) in world.tenants.iter().enumerate().filter(|_| count > 1) {
        let other = &world.tenants[(index + 1) % count];
        let mut client = Client::new(address.to_owned(), tenant.token.clone());
        let own = tenant.known().entities.last().copied();
        for (tool, arguments) in of_another(rows, &other.name, own) {
            match client.call(tool, &arguments).await {
                Reply::Refused { code, text } if code == "not_found" && !text.contains(&other.secret) => {}
                // the memory's own checks come first; they must not tell whether it is there
                Reply::Refused { code, text } if code == "invalid_argument" && !text.contains(&other.secret) => {}
                reply => violations.push(format!("{tool} {arguments} by {}: {reply:?}", tenant.name)),
            }
        }
        for (tool, mut arguments) in about(&other.word) {
            let told = client.call(tool, &arguments).await;
            if format!("{told:?}").contains(&other.secret) || !matches!(told, Reply::Done { .. }) {
                violations.push(format!("{tool} {arguments} by {}: {told:?}", tenant.name));
            }
            arguments["request_context"] = json!({ "tenant_id": other.name });
            let as_another = client.call(tool, &arguments).await;
            if !matches!(&as_another, Reply::Refused { code, .. } if code == "invalid_argument") {
                violations.push(format!("{tool} {arguments} by {}: {as_another:?}", tenant.name));
            }
        }
        violations.extend(counted(&mut client, rows, &tenant.name).await);
    }
    violations
}

/// What the tenant is told about itself is what there is.
async fn counted(client: &mut Client, rows: &Rows, tenant: &str) -> Option<String> {
    let of = |memories: &std::collections::HashMap<Uuid, super::rows::Memory>| {
        memories.values().filter(|memory| memory.tenant == tenant).count() as u64
    };
    // workers may learn or remove something meanwhile: facts and rules only grow, episodes only go
    let (facts, rules) = (of(&rows.facts), of(&rows.rules));
    match client.call("memory_stats", &json!({})).await {
        Reply::Done { answer, .. }
            if answer["facts"]["total"].as_u64() >= Some(facts)
                && answer["rules"]["total"].as_u64() >= Some(rules)
                && answer["episodes"]["total"].as_u64() <= Some(of(&rows.episodes)) =>
        {
            None
        }
        reply => Some(format!("memory_stats of {tenant} is not {facts} facts and {rules} rules: {reply:?}")),
    }
}

fn of_another(rows: &Rows, other: &str, own: Option<Uuid>) -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    let memories = [("episode", &rows.episodes), ("fact", &rows.facts), ("rule", &rows.rules)];
    for (kind, memories) in memories {
        for (id, _) in memories.iter().filter(|(_, memory)| memory.tenant == other).take(TRIED) {
            for tool in ["memory_get", "memory_confirm", "memory_forget"] {
                calls.push((tool, json!({"memory_type": kind, "memory_id": id})));
            }
            match kind {
                "rule" => {
                    calls.push(("memory_mark_helpful", json!({"rule_id": id})));
                    calls.push(("memory_mark_harmful", json!({"rule_id": id})));
                }
                "episode" => {
                    let fact = json!({"subject": "s", "predicate": "p", "content": "c", "source_episode_id": id});
                    calls.push(("memory_store_fact", fact));
                }
                _ => {}
            }
        }
    }
    for (id, _) in rows.entities.iter().filter(|(_, entity)| entity.tenant == other).take(TRIED) {
        calls.push(("entity_get", json!({"entity_id": id})));
        calls.push(("entity_update", json!({"entity_id": id, "metadata": {"k": 1}})));
        let fact = json!({"subject": "s", "predicate": "p", "content": "c", "entity_id": id});
        calls.push(("memory_store_fact", fact));
        if let Some(own) = own {
            calls.push(("entity_merge", json!({"source_entity_id": id, "target_entity_id": own})));
            calls.push(("entity_merge", json!({"source_entity_id": own, "target_entity_id": id})));
        }
    }
    calls
}

fn about(word: &str) -> [(&'static str, Value); 5] {
    [
        ("memory_search", json!({"query": word, "limit": 100})),
        ("memory_search", json!({"query": word, "mode": "keyword", "limit": 100})),
        ("memory_recall", json!({"topic": word, "limit": 100})),
        ("memory_context", json!({"trigger_prompt": word, "butler": "general"})),
        ("entity_resolve", json!({"name": word, "enable_fuzzy": true})),
    ]
}
