//! Tries every tool that takes an id with the ids of another tenant, and every query about another tenant's memory.

mod foreign_ids;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::rows::{Memory, Rows};
use crate::client::{Client, Reply};
use crate::work::World;

type ToolCall = (&'static str, Value);

pub async fn check(world: &Arc<World>, rows: &Rows, address: &str) -> Vec<String> {
    let mut violations = Vec::new();
    let count = world.tenants.len();
    for (index, tenant) in world.tenants.iter().enumerate().filter(|_| count > 1) {
        let other = &world.tenants[(index + 1) % count];
        let mut client = Client::new(address.to_owned(), tenant.token.clone());
        let mut violation = |(tool, arguments): &ToolCall, reply: &Reply| {
            violations.push(format!("{tool} {arguments} by {}: {reply:?}", tenant.name));
        };
        let own = tenant.known().entities.last().copied();
        for call in foreign_ids::calls(rows, &other.name, own) {
            let reply = client.call(call.tool, &call.arguments).await;
            let is_refused = match &call.unknown {
                None => is_not_found(&reply, &other.secret),
                Some(unknown) => is_same_refusal(&reply, &client.call(call.tool, unknown).await),
            };
            if !is_refused {
                violation(&(call.tool, call.arguments), &reply);
            }
        }
        for mut call in about(&other.word) {
            let reply = client.call(call.0, &call.1).await;
            if !shows_nothing(&reply, &other.secret) {
                violation(&call, &reply);
            }
            call.1["request_context"] = json!({ "tenant_id": other.name });
            let reply = client.call(call.0, &call.1).await;
            if !is_refused_with(&reply, "invalid_argument") {
                violation(&call, &reply);
            }
        }
        violations.extend(wrong_counts(&mut client, rows, &tenant.name).await);
    }
    violations
}

fn is_refused_with(reply: &Reply, wanted: &str) -> bool {
    matches!(reply, Reply::Refused { code, .. } if code == wanted)
}

/// A foreign id is answered as if it did not exist.
fn is_not_found(reply: &Reply, secret: &str) -> bool {
    is_refused_with(reply, "not_found") && !format!("{reply:?}").contains(secret)
}

/// A query about another tenant's memory succeeds and finds nothing of it.
fn shows_nothing(reply: &Reply, secret: &str) -> bool {
    matches!(reply, Reply::Done { .. }) && !format!("{reply:?}").contains(secret)
}

/// A reference to a foreign id gets the same refusal as a reference to an id that exists nowhere, so it tells nothing.
fn is_same_refusal(foreign: &Reply, unknown: &Reply) -> bool {
    match (foreign, unknown) {
        (Reply::Refused { code, text }, Reply::Refused { code: expected_code, text: expected_text }) => {
            code == expected_code && without_ids(text) == without_ids(expected_text)
        }
        _ => false,
    }
}

fn without_ids(text: &str) -> String {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    parts.filter(|part| part.parse::<Uuid>().is_err()).collect::<Vec<_>>().join(" ")
}

/// The counts that a tenant is told must match its rows.
async fn wrong_counts(client: &mut Client, rows: &Rows, tenant: &str) -> Option<String> {
    let of =
        |memories: &HashMap<Uuid, Memory>| memories.values().filter(|memory| memory.tenant == tenant).count() as u64;
    let expected = [of(&rows.facts), of(&rows.rules), of(&rows.episodes)];
    let reply = client.call("memory_stats", &json!({})).await;
    let [facts, rules, episodes] = expected;
    (!has_counts(&reply, expected)).then(|| {
        format!(
            "memory_stats of {tenant} does not show {facts} facts, {rules} rules and {episodes} episodes: {reply:?}"
        )
    })
}

/// Background jobs may have run since the rows were read: facts and rules are only added, episodes only removed.
fn has_counts(reply: &Reply, [facts, rules, episodes]: [u64; 3]) -> bool {
    let Reply::Done { answer, .. } = reply else { return false };
    let total = |kind: &str| answer[kind]["total"].as_u64();
    total("facts").is_some_and(|total| total >= facts)
        && total("rules").is_some_and(|total| total >= rules)
        && total("episodes").is_some_and(|total| total <= episodes)
}

fn about(word: &str) -> [ToolCall; 5] {
    [
        ("memory_search", json!({"query": word, "limit": 100})),
        ("memory_search", json!({"query": word, "mode": "keyword", "limit": 100})),
        ("memory_recall", json!({"topic": word, "limit": 100})),
        ("memory_context", json!({"trigger_prompt": word, "butler": "general"})),
        ("entity_resolve", json!({"name": word, "enable_fuzzy": true})),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "hush001walnut";

    fn refused(code: &str, text: &str) -> Reply {
        Reply::Refused { code: code.to_owned(), text: text.to_owned() }
    }

    fn done(answer: Value) -> Reply {
        Reply::Done { text: answer.to_string(), answer }
    }

    #[test]
    fn a_foreign_id_must_be_not_found_and_nothing_else() {
        assert!(is_not_found(&refused("not_found", "no such fact"), SECRET));
        for reply in [
            refused("not_found", "hush001walnut is not yours"),
            refused("invalid_argument", "no such fact"),
            refused("invalid_state", "it was forgotten"),
            refused("conflict", "it was changed"),
            done(json!({"id": 1})),
            Reply::Unknown { said: None },
            Reply::Wrong { what: "internal".to_owned() },
        ] {
            assert!(!is_not_found(&reply, SECRET), "{reply:?}");
        }
    }

    #[test]
    fn a_reference_to_a_foreign_id_must_be_refused_like_one_to_an_unknown_id() {
        let [foreign, unknown] = [1, 2].map(Uuid::from_u128);
        let missing = |id: Uuid| refused("invalid_argument", &format!("entity {id} does not exist"));
        assert!(is_same_refusal(&missing(foreign), &missing(unknown)));
        for reply in [
            refused("invalid_argument", &format!("entity {foreign} belongs to another tenant")),
            refused("not_found", &format!("entity {foreign} does not exist")),
            done(json!({"id": foreign})),
        ] {
            assert!(!is_same_refusal(&reply, &missing(unknown)), "{reply:?}");
        }
    }

    #[test]
    fn a_query_must_succeed_without_another_tenants_secret() {
        assert!(shows_nothing(&done(json!({"results": []})), SECRET));
        assert!(!shows_nothing(&done(json!({"results": [{"content": SECRET}]})), SECRET));
        assert!(!shows_nothing(&refused("not_found", ""), SECRET));
        assert!(!shows_nothing(&Reply::Unknown { said: None }, SECRET));
    }

    #[test]
    fn counts_of_another_tenant_are_found() {
        let stats = |facts: u64, rules: u64, episodes: u64| {
            done(json!({"facts": {"total": facts}, "rules": {"total": rules}, "episodes": {"total": episodes}}))
        };
        assert!(has_counts(&stats(3, 2, 1), [3, 2, 1]));
        assert!(has_counts(&stats(4, 3, 0), [3, 2, 1]), "background jobs ran in between");
        for wrong in [stats(2, 2, 1), stats(3, 1, 1), stats(3, 2, 2), done(json!({})), refused("not_found", "")] {
            assert!(!has_counts(&wrong, [3, 2, 1]), "{wrong:?}");
        }
    }
}
