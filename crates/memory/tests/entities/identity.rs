//! Facts find the entity that their subject names, and keys ignore how a name is spelled.

use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

async fn entity(memory: &MemoryFixture, name: &str, aliases: &[&str]) -> Value {
    let arguments = json!({"canonical_name": name, "entity_type": "person", "aliases": aliases});
    memory.call("entity_create", arguments).await.expect("an entity")["entity_id"].clone()
}

async fn store(memory: &MemoryFixture, subject: &str, predicate: &str, content: &str) -> Value {
    let fact = json!({"subject": subject, "predicate": predicate, "content": content});
    memory.call("memory_store_fact", fact).await.expect("an answer")
}

async fn column(memory: &MemoryFixture, statement: &'static str) -> Vec<String> {
    sqlx::query_scalar(statement).fetch_all(&mut memory.db.connect().await).await.expect("an answer")
}

const ACTIVE: &str = "SELECT content FROM facts WHERE validity = 'active' ORDER BY content COLLATE \"C\"";
const EVENTS: &str =
    "SELECT event_type FROM memory_events WHERE event_type LIKE 'fact%' ORDER BY created_at, event_type";

#[tokio::test]
async fn a_subject_that_names_one_entity_is_linked_to_it() {
    let memory = MemoryFixture::new().await;
    let anna = entity(&memory, "Anna Grønning", &["Annie"]).await;
    for subject in ["Anna Grønning", "  anna gronning ", "ANNIE"] {
        let stored = store(&memory, subject, "lives_in", subject).await;
        assert_eq!((&stored["entity_id"], &stored["linked_by"]), (&anna, &json!("name")), "{subject}");
    }
    assert_eq!(column(&memory, ACTIVE).await.len(), 1, "one key, however the subject is spelled");
    let stored = store(&memory, "Bert", "lives_in", "Kiel").await;
    assert_eq!((&stored["entity_id"], &stored["linked_by"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn a_name_of_several_entities_links_to_none_and_lists_them() {
    let memory = MemoryFixture::new().await;
    let (first, second) =
        (entity(&memory, "Anna Berg", &["Anna"]).await, entity(&memory, "Anna Dahl", &["Anna"]).await);
    let stored = store(&memory, "Anna", "lives_in", "Kiel").await;
    assert_eq!(stored["entity_id"], Value::Null);
    let candidates: Vec<&Value> = stored["candidates"].as_array().unwrap().iter().map(|c| &c["entity_id"]).collect();
    assert_eq!(candidates, [&first, &second]);
    assert!(stored["hint"].as_str().unwrap().contains("entity_id"), "{stored}");
}

#[tokio::test]
async fn user_and_me_are_the_owner_once_one_is_marked() {
    let memory = MemoryFixture::new().await;
    store(&memory, "user", "diet", "vegan").await;
    let anna = entity(&memory, "Anna", &[]).await;
    let update = json!({"entity_id": anna, "metadata": {"owner": true}});
    memory.call("entity_update", update).await.unwrap();
    for subject in ["user", "me", "I"] {
        let stored = store(&memory, subject, "diet", &format!("vegetarian, says {subject}")).await;
        assert_eq!((&stored["entity_id"], &stored["linked_by"]), (&anna, &json!("owner")), "{subject}");
        assert!(stored["superseded_id"].is_string(), "{stored}");
    }
}

#[tokio::test]
async fn an_entity_takes_over_the_facts_that_name_it() {
    let memory = MemoryFixture::new().await;
    store(&memory, "Anna", "lives_in", "Kiel").await;
    store(&memory, "Annie", "works_at", "the harbour").await;
    let anna = entity(&memory, "Anna", &[]).await;
    let linked = "SELECT subject FROM facts WHERE entity_id IS NOT NULL ORDER BY subject";
    assert_eq!(column(&memory, linked).await, ["Anna"]);
    memory.call("entity_update", json!({"entity_id": anna, "aliases": ["Annie"]})).await.unwrap();
    assert_eq!(column(&memory, linked).await, ["Anna", "Annie"]);
    let events = column(&memory, EVENTS).await;
    assert_eq!(events.iter().filter(|event| *event == "fact_repointed").count(), 2, "{events:?}");
}

/// The older fact has faded, so the newer one wins, whichever of them the entity had.
#[tokio::test]
async fn where_two_facts_meet_the_more_confident_one_stays() {
    for entity_has_the_newer in [true, false] {
        let memory = MemoryFixture::new().await;
        let anna = entity(&memory, "Anna", &[]).await;
        let about_anna = |content: &'static str| json!({"subject": "A.", "predicate": "lives in", "content": content, "entity_id": anna});
        let unlinked = |content: &'static str| json!({"subject": "Annie", "predicate": "lives_in", "content": content});
        let (first, second) = if entity_has_the_newer {
            (unlinked("old"), about_anna("new"))
        } else {
            (about_anna("old"), unlinked("new"))
        };
        memory.call("memory_store_fact", first).await.unwrap();
        memory.clock.advance_days(100.0);
        memory.call("memory_store_fact", second).await.unwrap();
        memory.call("entity_update", json!({"entity_id": anna, "aliases": ["Annie"]})).await.unwrap();
        assert_eq!(column(&memory, ACTIVE).await, ["new"]);
        let unlinked = "SELECT content FROM facts WHERE entity_id IS NULL";
        assert_eq!(column(&memory, unlinked).await, [""; 0], "the loser is in the entity's history");
    }
}

#[tokio::test]
async fn keys_ignore_spelling_but_not_meaning() {
    let memory = MemoryFixture::new().await;
    store(&memory, "User", "favorite color", "red").await;
    let second = store(&memory, "user", "Favorite-Color", "green").await;
    assert!(second["superseded_id"].is_string(), "{second}");
    store(&memory, "Caf\u{e9}", "open", "yes").await;
    assert!(store(&memory, "Cafe\u{301}", "open", "no").await["superseded_id"].is_string(), "composition");
    store(&memory, "my-app", "language", "Rust").await;
    assert_eq!(store(&memory, "my_app", "language", "Go").await["superseded_id"], Value::Null, "two programs");
    assert_eq!(column(&memory, ACTIVE).await, ["Go", "Rust", "green", "no"]);
    let written = "SELECT subject || ' ' || predicate FROM facts WHERE content IN ('red', 'green') ORDER BY subject COLLATE \"C\"";
    assert_eq!(column(&memory, written).await, ["User favorite color", "user Favorite-Color"]);
}

#[tokio::test]
async fn a_predicate_of_several_values_keeps_them_all() {
    let memory = MemoryFixture::new().await;
    let tea = store(&memory, "Ann", "likes", "tea").await;
    store(&memory, "Ann", "likes", "coffee").await;
    let again = store(&memory, "ann", "Likes", "Tea.").await;
    assert_eq!((&again["id"], &again["confirmed"]), (&tea["id"], &json!(true)), "{again}");
    assert_eq!(column(&memory, ACTIVE).await, ["coffee", "tea"]);
}

#[tokio::test]
async fn the_very_same_fact_is_a_confirmation_and_another_grade_is_a_version() {
    let memory = MemoryFixture::new().await;
    let fact = json!({"subject": "Ann", "predicate": "allergy", "content": "nuts", "importance": 9,
                      "permanence": "permanent", "tags": ["health"]});
    let first = memory.call("memory_store_fact", fact.clone()).await.unwrap();
    memory.clock.advance_days(10.0);
    let again = store(&memory, "Ann", "allergy", "nuts").await;
    assert_eq!(
        (&again["id"], &again["confirmed"], &again["superseded_id"]),
        (&first["id"], &json!(true), &Value::Null)
    );
    let confirmed = "SELECT concat_ws(' ', reference_count, last_confirmed_at > created_at) FROM facts";
    assert_eq!(column(&memory, confirmed).await, ["1 t"]);
    // A correction that names no grade keeps the old ones.
    store(&memory, "Ann", "allergy", "walnuts").await;
    let graded =
        "SELECT concat_ws(' ', content, importance, permanence, decay_rate, tags) FROM facts WHERE validity = 'active'";
    assert_eq!(column(&memory, graded).await, [r#"walnuts 9 permanent 0 ["health"]"#]);
    let mut regraded = fact;
    (regraded["content"], regraded["importance"]) = ("walnuts".into(), 3.into());
    assert!(memory.call("memory_store_fact", regraded).await.unwrap()["superseded_id"].is_string());
    let events = column(&memory, EVENTS).await;
    assert_eq!(events.iter().filter(|event| *event == "fact_confirmed").count(), 1, "{events:?}");
}

#[tokio::test]
async fn a_fact_that_was_ambiguous_is_linked_when_its_candidates_are_merged() {
    let memory = MemoryFixture::new().await;
    let (first, second) = (entity(&memory, "Eve Berg", &["Eve"]).await, entity(&memory, "Eve Dahl", &["Eve"]).await);
    let rome = store(&memory, "Eve", "city", "Rome").await;
    memory.call("entity_merge", json!({"source_entity_id": first, "target_entity_id": second})).await.unwrap();
    assert_eq!(store(&memory, "Eve", "city", "Paris").await["superseded_id"], rome["id"]);
}

#[tokio::test]
async fn an_ambiguous_fact_stored_again_with_the_entity_is_linked_to_it() {
    let memory = MemoryFixture::new().await;
    let (first, second) = (entity(&memory, "Eve Berg", &["Eve"]).await, entity(&memory, "Eve Dahl", &["Eve"]).await);
    let rome = store(&memory, "Eve", "city", "Rome").await;
    let hint = rome["hint"].as_str().unwrap();
    assert!(hint.contains("store the same fact again with the entity_id"), "{hint}");
    memory.clock.advance_days(1.0);
    let of = |id: &Value| json!({"subject": "Eve", "predicate": "city", "content": "Rome", "entity_id": id});
    let linked = memory.call("memory_store_fact", of(&first)).await.unwrap();
    assert_eq!((&linked["id"], &linked["confirmed"]), (&rome["id"], &json!(true)), "{linked}");
    let active = "SELECT concat_ws(' ', content, entity_id) FROM facts WHERE validity = 'active' ORDER BY 1";
    assert_eq!(column(&memory, active).await, [format!("Rome {}", first.as_str().unwrap())]);

    // The other one has a city already, which the new statement supersedes.
    let paris = store(&memory, "Eve Dahl", "city", "Paris").await;
    memory.clock.advance_days(1.0);
    store(&memory, "Eve", "city", "Rome").await;
    let moved = memory.call("memory_store_fact", of(&second)).await.unwrap();
    assert_eq!(moved["superseded_id"], paris["id"], "{moved}");
    assert_eq!(column(&memory, "SELECT content FROM facts WHERE validity = 'active'").await, ["Rome", "Rome"]);
    assert!(column(&memory, "SELECT id::text FROM facts WHERE entity_id IS NULL").await.is_empty());
}

/// A refusal changes nothing: the ambiguous fact stays active and without an entity.
#[tokio::test]
async fn an_ambiguous_fact_is_not_linked_to_an_entity_about_which_it_was_forgotten() {
    let memory = MemoryFixture::new().await;
    entity(&memory, "Eve Berg", &["Eve"]).await;
    let dahl = entity(&memory, "Eve Dahl", &["Eve"]).await;
    store(&memory, "Eve", "city", "Rome").await;
    let forgotten = store(&memory, "Eve Dahl", "city", "Rome").await;
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": forgotten["id"]})).await.unwrap();
    store(&memory, "Eve Dahl", "city", "Paris").await;
    let active = "SELECT concat_ws(' ', content, entity_id) FROM facts WHERE validity = 'active' ORDER BY 1";
    let before = column(&memory, active).await;
    assert_eq!(before, [format!("Paris {}", dahl.as_str().unwrap()), "Rome".to_owned()]);
    memory.clock.advance_days(1.0);
    let mut again = json!({"subject": "Eve", "predicate": "city", "content": "Rome", "entity_id": dahl});
    let error = memory.call("memory_store_fact", again.clone()).await.unwrap_err();
    assert_eq!(error.code.as_str(), "invalid_state");
    assert_eq!(column(&memory, active).await, before);
    again["override_tombstone"] = json!(true);
    memory.call("memory_store_fact", again).await.unwrap();
    assert_eq!(column(&memory, active).await, [format!("Rome {}", dahl.as_str().unwrap())]);
}

#[tokio::test]
async fn a_predicate_that_holds_one_value_again_keeps_no_slots() {
    let memory = MemoryFixture::new().await;
    let cardinality = async |action: &str, cardinality: &str| {
        let arguments = json!({"action": action, "name": "pet", "cardinality": cardinality});
        memory.call("memory_predicates", arguments).await.unwrap();
    };
    cardinality("register", "many").await;
    let dog = store(&memory, "Ann", "pet", "a dog").await;
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": dog["id"]})).await.unwrap();
    cardinality("update", "one").await;
    store(&memory, "Ann", "pet", "a fish").await;
    let slots = "SELECT DISTINCT slot FROM facts";
    assert_eq!(column(&memory, slots).await, [""]);
}

/// Two entities share a name; then one of them gives it up.
async fn ambiguous(memory: &MemoryFixture) -> (Value, Value, Value) {
    let (person, company) =
        (entity(memory, "Ann", &[]).await, json!({"canonical_name": "Ann", "entity_type": "organization"}));
    let company = memory.call("entity_create", company).await.expect("an entity")["entity_id"].clone();
    let stored = store(memory, "Ann", "lives_in", "Oslo").await;
    assert_eq!((&stored["entity_id"], stored["candidates"].as_array().map(Vec::len)), (&Value::Null, Some(2)));
    (person, company, stored["id"].clone())
}

async fn entity_of(memory: &MemoryFixture, fact: &Value) -> Value {
    let get = json!({"memory_type": "fact", "memory_id": fact});
    memory.call("memory_get", get).await.expect("a fact")["entity_id"].clone()
}

#[tokio::test]
async fn facts_of_an_ambiguous_name_are_linked_when_another_entity_gives_it_up() {
    let memory = MemoryFixture::new().await;
    let (person, company, fact) = ambiguous(&memory).await;
    memory.call("entity_update", json!({"entity_id": company, "canonical_name": "Ann Inc."})).await.expect("an answer");
    assert_eq!(entity_of(&memory, &fact).await, person);
    assert_eq!(column(&memory, EVENTS).await, ["fact_created", "fact_repointed"]);

    let memory = MemoryFixture::new().await;
    let (person, company, fact) = ambiguous(&memory).await;
    let keep = json!({"entity_id": company, "dry_run": false, "fact_ids": []});
    memory.call("entity_forget", keep).await.expect("an answer");
    assert_eq!(entity_of(&memory, &fact).await, person, "forgotten");

    let memory = MemoryFixture::new().await;
    let (person, company, fact) = ambiguous(&memory).await;
    let keep = json!({"entity_id": company, "dry_run": false, "erase": true, "fact_ids": []});
    memory.call("entity_forget", keep).await.expect("an answer");
    assert_eq!(entity_of(&memory, &fact).await, person, "erased");

    let memory = MemoryFixture::new().await;
    let (person, company, fact) = ambiguous(&memory).await;
    let merge = json!({"source_entity_id": company, "target_entity_id": person});
    memory.call("entity_merge", merge).await.expect("an answer");
    assert_eq!(entity_of(&memory, &fact).await, person, "merged");
}
