//! A row that the program cannot read fails its request, not the connection and not the server.

use crate::rest::Api;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_is_answered_with_status_500_and_a_request_id() {
    let api = Api::start().await;
    api.fact("Ann", "likes", "tea").await;
    api.rule("Greet politely.").await;
    api.databases[0]
        .execute("ALTER TABLE facts DROP CONSTRAINT facts_times_plausible; UPDATE facts SET created_at = 'infinity'")
        .await;
    // More often than there are connections: a panic must not use one up.
    for _ in 0..6 {
        let answer = api.ask("GET", "/api/memory/facts", &[("X-Request-Id", "seven")], String::new()).await;
        assert_eq!(
            (answer.status, answer.json()["error"]["code"].as_str()),
            (500, Some("internal")),
            "{}",
            answer.text()
        );
        assert!(answer.head.to_lowercase().contains("x-request-id: seven"), "{}", answer.head);
        assert!(answer.text().contains("request id seven"), "{}", answer.text());
    }
    let answer = api.answer("/api/memory/facts").await;
    assert_eq!(answer.status, 500);
    assert!(answer.head.to_lowercase().contains("x-request-id: "), "{}", answer.head);
    assert_eq!(api.get("/api/memory/rules").await["meta"]["total"], 1, "other requests work");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_outside_the_calendar_is_a_bad_request() {
    let api = Api::start().await;
    for bad in ["+262142-12-31", "-262143-01-01", "0000-01-01T00:00:00Z", "infinity"] {
        for name in ["from", "to"] {
            let answer = api.answer(&format!("/api/memory/episodes?{name}={}", bad.replace('+', "%2B"))).await;
            assert_eq!(answer.status, 400, "{name}={bad}: {}", answer.text());
        }
    }
    let cursor = "/api/memory/episodes?cursor=9223372036854775807~00000000000000000000000000000007";
    assert_eq!(api.answer(cursor).await.status, 400);
}
