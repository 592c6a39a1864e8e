//! Confirming a memory restarts its decay; forgetting excludes it from retrieval.

use butler_testkit::MemoryFixture;
use serde_json::json;

use crate::{count, episode, events_of, fact, get, refused, row, rows, rule, store_fact};

#[tokio::test]
async fn confirm_memory_resets_decay_timer() {
    let memory = MemoryFixture::new().await;
    let (fact, rule) = (fact(&memory, "user", "car", "Volvo").await, rule(&memory, "Ask first").await);
    memory.clock.advance_days(60.0);
    assert!(get(&memory, "fact", &fact).await["effective_confidence"].as_f64().unwrap() < 0.65);
    for (kind, id, confidence) in [("fact", &fact, 1.0), ("rule", &rule, 0.5)] {
        let confirmed = memory.call("memory_confirm", json!({"type": kind, "id": id})).await.unwrap();
        assert_eq!((&confirmed["effective_confidence"], &confirmed["was_fading"]), (&json!(confidence), &json!(false)));
        let view = get(&memory, kind, id).await;
        assert_eq!(view["effective_confidence"], view["confidence"]);
        assert_eq!(view["last_confirmed_at"], confirmed["last_confirmed_at"]);
        assert_eq!(events_of(&memory, id).await[1], format!("{kind}_confirmed"));
    }
}

#[tokio::test]
async fn confirming_a_fading_memory_clears_fading_at_once() {
    let memory = MemoryFixture::new().await;
    let id = store_fact(&memory, json!({"subject": "u", "predicate": "p", "content": "c", "metadata": {"kept": 1}}))
        .await["id"]
        .clone();
    let guess = rule(&memory, "Ask first").await;
    memory.clock.advance_days(250.0);
    memory.memory.sweep(None).await.unwrap();
    assert_eq!(row(&memory, "facts", &id).await["metadata"], json!({"kept": 1, "status": "fading"}));
    let confirmed = memory.call("memory_confirm", json!({"memory_type": "fact", "memory_id": id})).await.unwrap();
    assert_eq!(confirmed["was_fading"], true);
    assert_eq!(row(&memory, "facts", &id).await["metadata"], json!({"kept": 1}));
    let event = rows(&memory, "SELECT payload FROM memory_events WHERE event_type = 'fact_confirmed'").await;
    assert_eq!(event[0]["payload"]["before"]["fading"], true);
    assert_eq!(
        row(&memory, "rules", &guess).await["metadata"],
        json!({"forgotten": true}),
        "0.5·exp(-2.5) is below 0.05"
    );
}

#[tokio::test]
async fn confirm_episode_rejected() {
    let memory = MemoryFixture::new().await;
    let id = episode(&memory, "It rained").await;
    let error = refused(&memory, "memory_confirm", json!({"memory_type": "episode", "memory_id": id})).await;
    assert_eq!(error.code.as_str(), "invalid_argument");
    assert!(error.message.contains("does not decay"), "{}", error.message);
    assert_eq!(count(&memory, "memory_events").await, 1);
}

#[tokio::test]
async fn confirming_an_inactive_memory_is_an_error() {
    let memory = MemoryFixture::new().await;
    let old = fact(&memory, "user", "car", "Volvo").await;
    let new = fact(&memory, "user", "car", "Saab").await;
    let gone = rule(&memory, "Ask first").await;
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": new})).await.unwrap();
    memory.call("memory_forget", json!({"memory_type": "rule", "memory_id": gone})).await.unwrap();
    for (kind, id, state) in [("fact", &old, "superseded"), ("fact", &new, "retracted"), ("rule", &gone, "forgotten")] {
        let before = events_of(&memory, id).await;
        let error = refused(&memory, "memory_confirm", json!({"memory_type": kind, "memory_id": id})).await;
        assert_eq!(error.code.as_str(), "invalid_state");
        assert!(error.message.contains(state), "{}", error.message);
        assert_eq!(events_of(&memory, id).await, before);
    }
}

#[tokio::test]
async fn fact_transitions_to_retracted_via_forget() {
    let memory = MemoryFixture::new().await;
    let id = fact(&memory, "user", "car", "Volvo").await;
    let answer = memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": id})).await.unwrap();
    assert_eq!(answer, json!({"memory_type": "fact", "id": id, "forgotten": true, "changed": true}));
    assert_eq!(row(&memory, "facts", &id).await["validity"], "retracted");
    let again = memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": id})).await.unwrap();
    assert_eq!(
        (&again["forgotten"], &again["changed"]),
        (&json!(true), &json!(false)),
        "forgetting twice is not an error"
    );
    assert_eq!(events_of(&memory, &id).await, ["fact_created", "fact_forgotten"], "and one event");
}

#[tokio::test]
async fn forget_rule_sets_metadata_flag() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "Ask first").await;
    memory.call("memory_forget", json!({"memory_type": "rule", "memory_id": id})).await.unwrap();
    assert_eq!(row(&memory, "rules", &id).await["metadata"], json!({"forgotten": true}));
    let again = memory.call("memory_forget", json!({"memory_type": "rule", "memory_id": id})).await.unwrap();
    assert_eq!(again["changed"], false);
    assert_eq!(events_of(&memory, &id).await, ["rule_created", "rule_forgotten"]);
}

#[tokio::test]
async fn forget_episode_sets_immediate_expiry() {
    let memory = MemoryFixture::new().await;
    let id = episode(&memory, "It rained").await;
    memory.clock.advance_days(1.0);
    memory.call("memory_forget", json!({"memory_type": "episode", "memory_id": id})).await.unwrap();
    let stored = row(&memory, "episodes", &id).await;
    let expires: butler_domain::Timestamp = stored["expires_at"].as_str().unwrap().parse().unwrap();
    assert_eq!(expires, memory.memory.now());
    memory.clock.advance_days(1.0);
    let again = memory.call("memory_forget", json!({"memory_type": "episode", "memory_id": id})).await.unwrap();
    assert_eq!(again["changed"], false);
    assert_eq!(row(&memory, "episodes", &id).await["expires_at"], stored["expires_at"], "its expiry does not change");
    assert_eq!(events_of(&memory, &id).await, ["episode_created", "episode_forgotten"]);
}

/// Under a clock that is far ahead, the episode seems expired already, and would be back when the clock is set right.
#[tokio::test]
async fn an_episode_that_is_forgotten_under_a_wrong_clock_does_not_come_back() {
    let memory = MemoryFixture::new().await;
    let id = episode(&memory, "It rained").await;
    memory.db.execute("INSERT INTO butler_clock (latest) VALUES ('2030-01-15T12:05:00Z')").await;
    memory.clock.advance_days(400.0);
    let forgotten = memory.call("memory_forget", json!({"memory_type": "episode", "memory_id": id})).await.unwrap();
    assert_eq!(forgotten["changed"], true);
    assert_eq!(
        row(&memory, "episodes", &id).await["expires_at"],
        "2030-01-15T12:05:00+00:00",
        "the latest trusted time"
    );
}

#[tokio::test]
async fn an_expired_or_superseded_fact_can_be_forgotten_too() {
    let memory = MemoryFixture::new().await;
    let old = fact(&memory, "user", "car", "Volvo").await;
    let new = fact(&memory, "user", "car", "Saab").await;
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": old})).await.unwrap();
    assert_eq!(row(&memory, "facts", &old).await["validity"], "retracted");
    assert_eq!(row(&memory, "facts", &new).await["supersedes_id"], old, "the chain stays");
}

#[tokio::test]
async fn forgetting_the_newest_version_says_what_becomes_of_the_one_before() {
    let memory = MemoryFixture::new().await;
    let old = fact(&memory, "user", "car", "Volvo").await;
    let new = fact(&memory, "user", "car", "Saab").await;
    let forget = async |id: &serde_json::Value| {
        memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": id})).await.unwrap()
    };
    let answer = forget(&new).await;
    assert_eq!(answer["previous_id"], old);
    let note = answer["note"].as_str().unwrap();
    assert!(note.contains(old.as_str().unwrap()) && note.contains("stays superseded"), "{note}");
    assert_eq!(row(&memory, "facts", &old).await["validity"], "superseded");
    assert!(forget(&new).await.get("previous_id").is_none(), "nothing changed");
    assert!(forget(&old).await.get("note").is_none(), "there is no version before");
}

#[tokio::test]
async fn a_cleanup_that_began_before_an_episode_was_forgotten_does_not_bring_it_back() {
    let memory = MemoryFixture::new().await;
    let episode = json!({"content": "a secret", "butler": "general"});
    let id = memory.call("memory_store_episode", episode).await.unwrap()["id"].clone();
    memory.call("memory_forget", json!({"memory_type": "episode", "memory_id": id})).await.unwrap();
    // the cleanup read the clock a second earlier
    let sql =
        "SELECT keep_unlearned_episodes(NULL, '2030-01-15T11:59:59Z', '2030-02-01T00:00:00Z', 100000, 100) AS kept";
    assert_eq!(rows(&memory, sql).await[0]["kept"], 0);
    let query = json!({"query": "secret", "types": ["episode"]});
    assert_eq!(memory.call("memory_search", query).await.unwrap()["results"], json!([]));
}
