//! Facts with an object are edges between entities.

use std::collections::BTreeSet;

use butler_domain::FactId;
use butler_memory::FactChanges;
use butler_testkit::MemoryFixture;
use proptest::strategy::{Strategy, ValueTree};
use serde_json::{Value, json};

use super::{everything, id, person};

async fn relate(memory: &MemoryFixture, subject: &str, predicate: &str, object: &str) -> Value {
    let content = format!("{subject} {predicate} {object}");
    let edge = json!({"subject": subject, "predicate": predicate, "content": content, "object": object});
    memory.call("memory_store_fact", edge).await.expect("an answer")
}

async fn neighbors(memory: &MemoryFixture, arguments: Value) -> Value {
    memory.call("entity_neighbors", arguments).await.expect("an answer")
}

/// Each edge as "source predicate target", with a mark if it is read from the other side.
fn edges(answer: &Value) -> Vec<String> {
    let name = |id: &Value| {
        let entities = answer["entities"].as_array().expect("a list");
        entities.iter().find(|entity| entity["entity_id"] == *id).expect("a neighbor")["canonical_name"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    let edges = answer["edges"].as_array().expect("a list").iter();
    edges
        .map(|edge| {
            let mark = if edge["inferred"] == true { "*" } else { "" };
            let (source, target) = (name(&edge["source_entity_id"]), name(&edge["target_entity_id"]));
            format!("{source} {} {target}{mark}", edge["predicate"].as_str().expect("a text"))
        })
        .collect()
}

#[tokio::test]
async fn relations_are_found_from_both_ends() {
    let memory = MemoryFixture::new().await;
    let mut ids = Vec::new();
    for name in ["Ann", "Bob", "Cid", "Dora"] {
        ids.push(person(&memory, name, &[]).await);
    }
    relate(&memory, "Ann", "has_child", "Bob").await;
    relate(&memory, "Ann", "married_to", "Cid").await;
    relate(&memory, "Dora", "met once", "Ann").await;
    let from = async |at: usize, direction: &str| {
        edges(&neighbors(&memory, json!({"entity_id": ids[at], "direction": direction})).await)
    };
    assert_eq!(from(0, "out").await, ["Ann has_child Bob", "Ann married_to Cid"]);
    assert_eq!(from(1, "out").await, ["Bob child_of Ann*"], "the inverse");
    assert_eq!(from(2, "out").await, ["Cid married_to Ann*"], "symmetric");
    assert_eq!(from(0, "in").await, ["Bob child_of Ann*", "Cid married_to Ann*", "Dora met_once Ann"]);
    assert_eq!(from(0, "both").await, ["Ann has_child Bob", "Ann married_to Cid", "Dora met_once Ann"]);
    let named = neighbors(&memory, json!({"entity_id": ids[1], "predicates": ["Child of"], "depth": 2})).await;
    assert_eq!(edges(&named), ["Bob child_of Ann*"]);
}

#[tokio::test]
async fn the_object_is_part_of_the_key_unless_the_predicate_holds_one_value() {
    let memory = MemoryFixture::new().await;
    for name in ["Ann", "Bob", "Cid"] {
        person(&memory, name, &[]).await;
    }
    relate(&memory, "Ann", "knows", "Bob").await;
    assert_eq!(relate(&memory, "Ann", "knows", "Cid").await["superseded_id"], Value::Null);
    assert_eq!(relate(&memory, "Ann", "knows", "Bob").await["confirmed"], true);
    relate(&memory, "Ann", "once saw", "Bob").await;
    assert_eq!(relate(&memory, "Ann", "once saw", "Cid").await["superseded_id"], Value::Null, "not registered");
    relate(&memory, "Ann", "married_to", "Bob").await;
    assert!(relate(&memory, "Ann", "married_to", "Cid").await["superseded_id"].is_string(), "one value");
}

#[tokio::test]
async fn an_object_that_names_nobody_is_kept_as_text() {
    let memory = MemoryFixture::new().await;
    person(&memory, "Ann", &[]).await;
    let stored = relate(&memory, "Ann", "knows", "Nobody").await;
    assert_eq!(stored.get("object_entity_id"), None);
    let fact = memory.call("memory_get", json!({"memory_type": "fact", "memory_id": stored["id"]})).await.unwrap();
    assert!(fact.to_string().contains(r#""unlinked_object":"Nobody""#), "{fact}");
}

#[tokio::test]
async fn impossible_edges_are_refused_and_write_nothing() {
    let memory = MemoryFixture::new().await;
    let ann = person(&memory, "Ann", &[]).await;
    let foreign = memory
        .call(
            "entity_create",
            json!({"canonical_name": "Zoe", "entity_type": "person", "request_context": {"tenant_id": "other"}}),
        )
        .await
        .unwrap()["entity_id"]
        .clone();
    let before = everything(&memory).await;
    let edge =
        |object: Value| json!({"subject": "Ann", "predicate": "knew", "content": "x", "object_entity_id": object});
    for (object, problem) in
        [(json!(ann), "same entity"), (foreign, "does not exist"), (json!(uuid::Uuid::nil()), "does not exist")]
    {
        let refused = memory.call("memory_store_fact", edge(object.clone())).await.unwrap_err();
        assert!(refused.message.contains(problem), "{object}: {refused:?}");
    }
    for (arguments, field) in
        [(json!({"entity_id": ann, "depth": 4}), "depth"), (json!({"entity_id": ann, "direction": "up"}), "direction")]
    {
        let refused = memory.call("entity_neighbors", arguments).await.unwrap_err();
        assert!(refused.message.contains(field), "{refused:?}");
    }
    assert_eq!(everything(&memory).await, before);
}

#[tokio::test]
async fn a_merge_moves_the_relations_to_the_merged_entity() {
    let memory = MemoryFixture::new().await;
    let (bob, robert) = (person(&memory, "Bob", &[]).await, person(&memory, "Robert", &[]).await);
    person(&memory, "Ann", &[]).await;
    person(&memory, "Cid", &[]).await;
    for (subject, object) in [("Ann", "Bob"), ("Ann", "Robert"), ("Cid", "Bob")] {
        relate(&memory, subject, "knows", object).await;
    }
    let merge = json!({"source_entity_id": bob, "target_entity_id": robert});
    let merged = memory.call("entity_merge", merge).await.unwrap();
    assert_eq!(merged["facts_repointed"], 2, "{merged}");
    let around = neighbors(&memory, json!({"entity_id": robert, "direction": "in"})).await;
    let mut edges = edges(&around);
    edges.sort();
    assert_eq!(edges, ["Ann knows Robert", "Cid knows Robert"], "{around}");
}

#[tokio::test]
async fn predicates_are_listed_searched_registered_and_changed() {
    let memory = MemoryFixture::new().await;
    let call = async |arguments: Value| memory.call("memory_predicates", arguments).await;
    let all = call(json!({"action": "list"})).await.unwrap();
    assert!(all["predicates"].as_array().unwrap().iter().any(|p| p["name"] == "likes" && p["cardinality"] == "many"));
    let found = call(json!({"action": "search", "query": "speaks: a language", "limit": 1})).await.unwrap();
    assert_eq!(found["predicates"][0]["name"], "speaks");
    let register = json!({"action": "register", "name": "mentors", "cardinality": "many", "inverse": "mentored_by"});
    assert_eq!(call(register.clone()).await.unwrap()["predicates"][0]["built_in"], false);
    assert_eq!(call(register).await.unwrap_err().code.as_str(), "conflict");
    for (wrong, field) in [
        (json!({"action": "register", "name": "coaches", "inverse": "mentored_by"}), "inverse"),
        (json!({"action": "register", "name": "x", "inverse": "x"}), "inverse"),
        (json!({"action": "register", "name": "x", "inverse": "y", "symmetric": true}), "symmetric"),
        (json!({"action": "update", "name": "unheard of"}), "name"),
        (json!({"action": "drop"}), "action"),
        (json!({"action": "register"}), "name"),
    ] {
        let refused = call(wrong).await.unwrap_err();
        assert!(refused.message.contains(field), "{refused:?}");
    }
    for content in ["tea", "coffee"] {
        let fact = json!({"subject": "Ann", "predicate": "likes", "content": content});
        memory.call("memory_store_fact", fact).await.unwrap();
    }
    let refused = call(json!({"action": "update", "name": "likes", "cardinality": "one"})).await.unwrap_err();
    assert!(refused.message.contains("Ann"), "{refused:?}");
}

/// The entities within so many steps, by a search of our own.
fn closure(edges: &BTreeSet<(usize, usize)>, depth: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::from([0]);
    for _ in 0..depth {
        let next = edges.iter().filter(|(a, b)| reached.contains(a) || reached.contains(b)).flat_map(|(a, b)| [*a, *b]);
        reached = reached.iter().copied().chain(next).collect();
    }
    reached
}

#[tokio::test]
async fn neighbors_are_the_closure_of_the_graph() {
    let memory = MemoryFixture::new().await;
    let graphs = proptest::collection::btree_set((0usize..8, 0usize..8), 1..14);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for round in 0..12 {
        let graph = graphs.new_tree(&mut runner).unwrap().current();
        let graph: BTreeSet<(usize, usize)> = graph.into_iter().filter(|(a, b)| a != b).collect();
        let mut ids = Vec::new();
        for node in 0..8 {
            ids.push(person(&memory, &format!("P{round} {node}"), &[]).await);
        }
        for (a, b) in &graph {
            relate(&memory, &format!("P{round} {a}"), "knew", &format!("P{round} {b}")).await;
        }
        for depth in 1..=3 {
            let answer = neighbors(&memory, json!({"entity_id": ids[0], "depth": depth, "limit": 500})).await;
            let found: BTreeSet<usize> = (answer["entities"].as_array().unwrap().iter())
                .map(|entity| ids.iter().position(|known| *known == id(&entity["entity_id"])).unwrap())
                .collect();
            assert_eq!(found, closure(&graph, depth), "{graph:?} at depth {depth}");
        }
    }
}

/// A model names the object in one run and leaves it out in the next.
#[tokio::test]
async fn the_same_statement_with_and_without_its_object_is_one_fact() {
    let memory = MemoryFixture::new().await;
    for name in ["Ann", "Bob"] {
        person(&memory, name, &[]).await;
    }
    let plain = json!({"subject": "Ann", "predicate": "knows", "content": "Ann knows Bob"});
    let first = memory.call("memory_store_fact", plain.clone()).await.unwrap();
    let edge = relate(&memory, "Ann", "knows", "Bob").await;
    assert_eq!(edge["superseded_id"], first["id"], "the object is news");
    assert_eq!(memory.call("memory_store_fact", plain).await.unwrap()["id"], edge["id"]);
}

#[tokio::test]
async fn contradicting_inverses_are_refused() {
    let memory = MemoryFixture::new().await;
    for wrong in [
        json!({"action": "update", "name": "has_child", "inverse": "kid_of"}),
        json!({"action": "update", "name": "manages", "symmetric": true}),
        json!({"action": "register", "name": "foo", "inverse": "child_of"}),
    ] {
        let refused = memory.call("memory_predicates", wrong.clone()).await.unwrap_err();
        assert!(refused.message.starts_with("inverse"), "{wrong}: {}", refused.message);
    }
}

#[tokio::test]
async fn neighbors_have_the_names_of_then() {
    let memory = MemoryFixture::new().await;
    let (ann, bob) = (person(&memory, "Ann", &[]).await, person(&memory, "Bob", &[]).await);
    relate(&memory, "Ann", "works_with", "Bob").await;
    memory.clock.set("2030-02-01T00:00:00Z".parse().expect("a time"));
    memory.call("entity_update", json!({"entity_id": bob, "canonical_name": "Robert Roy"})).await.expect("an answer");
    memory.clock.set("2030-03-01T00:00:00Z".parse().expect("a time"));
    let now = neighbors(&memory, json!({"entity_id": ann})).await;
    assert_eq!(edges(&now), ["Ann works_with Robert Roy"]);
    let then = neighbors(&memory, json!({"entity_id": ann, "as_of": "2030-01-20"})).await;
    assert_eq!(edges(&then), ["Ann works_with Bob"]);
}

#[tokio::test]
async fn an_object_kept_as_text_becomes_a_relation_when_its_entity_is_created() {
    let memory = MemoryFixture::new().await;
    let ann = person(&memory, "Ann", &[]).await;
    relate(&memory, "Ann", "knows", "Cárl").await;
    relate(&memory, "Ann", "rides_with", "carl").await;
    let friend = json!({"subject": "Ann", "predicate": "met", "content": "a friend from school", "object": "Carl"});
    memory.call("memory_store_fact", friend).await.expect("an answer");
    assert_eq!(edges(&neighbors(&memory, json!({"entity_id": ann})).await), [""; 0]);
    let found = memory.call("memory_search", json!({"query": "Carl school"})).await.expect("an answer");
    assert_eq!(found["results"][0]["predicate"], "met", "the name of the object is searched: {found}");
    let carl = person(&memory, "Carl", &[]).await;
    // `knows` and `met` are symmetric, so they are read from either side.
    let expected = ["Carl knows Ann*", "Carl met Ann*", "Ann rides_with Carl"];
    assert_eq!(edges(&neighbors(&memory, json!({"entity_id": carl})).await), expected);
    let events = "SELECT payload AS p FROM memory_events WHERE event_type = 'fact_repointed'";
    let moved = super::rows(&memory, events).await;
    assert_eq!(moved.len(), 3);
    assert!(moved.iter().all(|event| event["p"]["after"]["object_entity_id"] == json!(carl)), "{moved:?}");
    // The statement is the same as before, now with its object.
    let again = relate(&memory, "Ann", "knows", "Cárl").await;
    assert_eq!(again["superseded_id"], Value::Null, "{again}");
    assert_eq!(super::rows(&memory, "SELECT FROM facts WHERE metadata ? 'unlinked_object'").await.len(), 0);
}

#[tokio::test]
async fn an_object_that_gets_its_entity_by_a_rename_meets_the_relation_that_exists() {
    let memory = MemoryFixture::new().await;
    person(&memory, "Ann", &[]).await;
    let bob = person(&memory, "Robert", &[]).await;
    let by_id = json!({"subject": "Ann", "predicate": "knows", "content": "knows him well", "object_entity_id": bob});
    memory.call("memory_store_fact", by_id).await.expect("an answer");
    let as_text = json!({"subject": "Ann", "predicate": "knows", "content": "a colleague", "object": "Bob"});
    memory.call("memory_store_fact", as_text).await.expect("an answer");
    memory.call("entity_update", json!({"entity_id": bob, "aliases": ["Bob"]})).await.expect("an answer");
    let active = "SELECT content AS c, object_entity_id AS o FROM facts WHERE validity = 'active'";
    let left = super::rows(&memory, active).await;
    assert_eq!(left, [json!({"c": "knows him well", "o": bob})], "of two on one key the entity's own stays");
}

#[tokio::test]
async fn metadata_of_the_caller_never_becomes_a_relation() {
    let memory = MemoryFixture::new().await;
    let ann = person(&memory, "Ann", &[]).await;
    let own = json!({"subject": "Ann", "predicate": "drew", "content": "a portrait", "metadata": {"object": "Carl"}});
    let own = memory.call("memory_store_fact", own).await.expect("an answer");
    person(&memory, "Carl", &[]).await;
    assert_eq!(edges(&neighbors(&memory, json!({"entity_id": ann})).await), [""; 0]);
    let fact = memory.call("memory_get", json!({"memory_type": "fact", "memory_id": own["id"]})).await.unwrap();
    assert_eq!(fact["metadata"], json!({"object": "Carl"}), "and it is kept: {fact}");
}

#[tokio::test]
async fn an_edit_keeps_an_object_that_is_text_until_its_entity_is_created() {
    let memory = MemoryFixture::new().await;
    let ann = person(&memory, "Ann", &[]).await;
    let stored = relate(&memory, "Ann", "rides_with", "Carl").await;
    let changes = FactChanges { content: Some("on the morning train".to_owned()), ..FactChanges::default() };
    let fact = FactId(id(&stored["id"]).parse().expect("an id"));
    memory.memory.edit_fact(&memory.as_test(), fact, &changes).await.unwrap().expect("the fact");
    person(&memory, "Carl", &[]).await;
    assert_eq!(edges(&neighbors(&memory, json!({"entity_id": ann})).await), ["Ann rides_with Carl"]);
}
