//! memory_store_episode: what it writes, what it rejects, and its round trips.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use butler_domain::TenantId;
use butler_memory::MemoryConfig;
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};
use sqlx::Row;
use sqlx::postgres::PgRow;

async fn one_row(fixture: &MemoryFixture, statement: &'static str) -> PgRow {
    sqlx::query(statement).fetch_one(&mut fixture.db.connect().await).await.unwrap()
}

async fn count(fixture: &MemoryFixture, table: &str) -> i64 {
    let statement = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
    sqlx::query_scalar(statement).fetch_one(&mut fixture.db.connect().await).await.unwrap()
}

#[tokio::test]
async fn store_episode_with_embedding_and_search_vector() {
    let fixture = MemoryFixture::new().await;
    let answer = fixture
        .call("memory_store_episode", json!({"content": "Ada is allergic to peanuts", "butler": "health"}))
        .await
        .unwrap();
    assert_eq!(answer["expires_at"], "2030-01-22T12:00:00Z", "seven days from now");
    let row = one_row(
        &fixture,
        "SELECT episodes.id::text, butler, importance, consolidation_status, session_id IS NULL,
                search_vector @@ plainto_tsquery('english', 'peanut'), vector_dims(embedding), embedding::text,
                v.model || ' ' || v.version || ' ' || v.dimensions
         FROM episodes JOIN embedding_versions v ON v.id = embedding_version_id",
    )
    .await;
    assert_eq!(answer["id"], row.get::<&str, _>(0));
    assert_eq!((row.get::<&str, _>(1), row.get::<f64, _>(2), row.get::<&str, _>(3)), ("health", 5.0, "pending"));
    assert!(row.get::<bool, _>(4) && row.get::<bool, _>(5));
    assert_eq!(row.get::<i32, _>(6), 384);
    let stored: Vec<f32> = serde_json::from_str(row.get(7)).unwrap();
    assert_eq!(stored, fixture.embedder.vector("Ada is allergic to peanuts").to_vec());
    assert_eq!(row.get::<&str, _>(8), "fake 1 384");
}

#[tokio::test]
async fn all_fields_are_kept_and_json_strings_are_parsed() {
    let fixture = MemoryFixture::new().await;
    let session = "0190b3c4-7a5e-7f00-8000-000000000001";
    let answer = fixture
        .call(
            "memory_store_episode",
            json!({"content": "a\0b", "butler": " health ", "session_id": session, "importance": 9,
                   "metadata": "{\"mood\": \"good\"}"}),
        )
        .await
        .unwrap();
    let got = fixture.call("memory_get", json!({"memory_type": "episode", "memory_id": answer["id"]})).await.unwrap();
    assert_eq!(got["content"], "ab", "NUL bytes are stripped");
    assert_eq!((&got["butler"], &got["session_id"]), (&json!("health"), &json!(session)));
    assert_eq!((&got["importance"], &got["metadata"]), (&json!(9.0), &json!({"mood": "good"})));
}

#[tokio::test]
async fn a_blank_session_id_is_null() {
    let fixture = MemoryFixture::new().await;
    for blank in [json!(""), json!("  "), Value::Null] {
        let stored = json!({"content": "x", "butler": "b", "session_id": blank});
        assert!(fixture.call("memory_store_episode", stored).await.is_ok());
    }
    let row = one_row(&fixture, "SELECT count(*) FROM episodes WHERE session_id IS NULL").await;
    assert_eq!(row.get::<i64, _>(0), 3);
}

#[tokio::test]
async fn bad_input_is_rejected_with_the_argument_name_and_nothing_is_written() {
    let fixture = MemoryFixture::new().await;
    let long = "x".repeat(butler_domain::limits::CONTENT_BYTES + 1);
    let big = "x".repeat(butler_domain::limits::METADATA_BYTES);
    let good = json!({"content": "c", "butler": "b"});
    for (field, value, said) in [
        ("content", json!(" \n\0 "), "must not be empty"),
        ("content", json!(long), "at most 1048576"),
        ("content", json!(5), "must be a string"),
        ("butler", json!(""), "must not be empty"),
        ("butler", Value::Null, "must be a string"),
        ("importance", json!(10.5), "10"),
        ("importance", json!(-1), "0"),
        ("importance", json!("high"), "number"),
        ("session_id", json!("yesterday"), "is not a UUID"),
        ("metadata", json!(["a"]), "must be an object"),
        ("metadata", json!({"k": big}), "bytes"),
        ("importence", json!(7), "is not an argument"),
        ("request_context", json!("abc"), "must be an object"),
    ] {
        let mut arguments = good.clone();
        arguments[field] = value;
        let error = fixture.call("memory_store_episode", arguments).await.unwrap_err();
        assert_eq!(error.code.as_str(), "invalid_argument", "{field}: {error:?}");
        assert!(error.message.contains(field) && error.message.contains(said), "{field}: {error:?}");
    }
    let missing = fixture.call("memory_store_episode", json!({"butler": "b"})).await.unwrap_err();
    assert_eq!(missing.message, "content: is required");
    for table in ["episodes", "memory_events", "embedding_versions"] {
        assert_eq!(count(&fixture, table).await, 0, "{table}");
    }
    assert_eq!(fixture.embedder.texts(), 0, "nothing was embedded either");
}

#[tokio::test]
async fn the_time_to_live_comes_from_the_configuration() {
    let mut config = MemoryConfig::default();
    config.episodes.default_ttl_days = 0.5;
    let fixture = MemoryFixture::with_config(config).await;
    let answer = fixture.call("memory_store_episode", json!({"content": "c", "butler": "b"})).await.unwrap();
    assert_eq!(answer["expires_at"], "2030-01-16T00:00:00Z");
}

#[tokio::test]
async fn a_text_with_more_distinct_words_than_a_search_vector_holds_is_stored_in_full() {
    let fixture = MemoryFixture::new().await;
    let mut content: String = (0..170_000).map(|n| format!("w{n:x} ")).collect();
    content.truncate(butler_domain::limits::CONTENT_BYTES);
    let answer = fixture.call("memory_store_episode", json!({"content": content, "butler": "b"})).await.unwrap();
    let row = one_row(&fixture, "SELECT octet_length(content), search_vector @@ 'wff'::tsquery FROM episodes").await;
    assert_eq!(row.get::<i32, _>(0) as usize, content.len());
    assert!(row.get::<bool, _>(1), "its beginning is found by keyword");
    assert!(answer["id"].is_string());
}

#[tokio::test]
async fn episode_stored_event() {
    let fixture = MemoryFixture::new().await;
    let answer = fixture
        .call(
            "memory_store_episode",
            json!({"content": "c", "butler": "b", "request_context": {"request_id": "req-7", "tenant_id": "alice"}}),
        )
        .await
        .unwrap();
    assert_eq!(answer["request_id"], "req-7", "the request id comes back");
    let row = one_row(
        &fixture,
        "SELECT event_type, actor, request_id, memory_type, memory_id::text, tenant_id, payload -> 'after' ->> 'content',
                created_at = (SELECT created_at FROM episodes)
         FROM memory_events",
    )
    .await;
    assert_eq!(row.get::<&str, _>(0), "episode_created");
    assert_eq!(row.get::<&str, _>(1), "general", "the hosting butler is the default");
    assert_eq!(row.get::<&str, _>(2), "req-7");
    assert_eq!((row.get::<&str, _>(3), row.get::<&str, _>(4)), ("episode", answer["id"].as_str().unwrap()));
    assert_eq!((row.get::<&str, _>(5), row.get::<&str, _>(6)), ("alice", "c"));
    assert!(row.get::<bool, _>(7));
}

#[tokio::test]
async fn storing_an_episode_is_one_round_trip() {
    let fixture = MemoryFixture::new().await;
    let statements = async || {
        fixture.call("memory_store_episode", json!({"content": "c", "butler": "b"})).await.unwrap();
        // The pool returns the session that was used last.
        fixture.db.database().tenant(&TenantId::default()).await.unwrap().statements()
    };
    let first = statements().await;
    assert_eq!(statements().await, first + 1);
}
