//! Lists: exact totals, pages without gaps or duplicates, and unavailable butlers.

use serde_json::{Value, json};

use super::Api;

#[tokio::test(flavor = "multi_thread")]
async fn pages_by_offset_and_by_cursor_are_the_same_list_across_butlers() {
    let api = Api::configured(&["one", "two"], "[modules.memory.retrieval]\ndefault_limit = 7\n").await;
    for number in 0..12 {
        let fact = json!({"subject": format!("s{number}"), "predicate": "is", "content": format!("content {number}")});
        api.tool(if number % 3 == 0 { "two" } else { "one" }, "memory_store_fact", fact).await;
    }
    let texts = |page: &Value| -> Vec<String> {
        page["data"].as_array().unwrap().iter().map(|it| it["subject"].as_str().unwrap().to_owned()).collect()
    };
    let expected: Vec<String> = (0..12).rev().map(|number| format!("s{number}")).collect();
    for path in ["/api/memory/facts?limit=5", "/api/memory/facts?limit=5&sort=newest"] {
        let (mut by_offset, mut by_cursor, mut cursor) = (Vec::new(), Vec::new(), String::new());
        for page in 0..3 {
            let answer = api.get(&format!("{path}&offset={}", page * 5)).await;
            assert_eq!((&answer["meta"]["total"], &answer["meta"]["limit"]), (&json!(12), &json!(5)));
            assert_eq!(answer["meta"]["has_more"], json!(page < 2), "page {page}");
            by_offset.extend(texts(&answer));
            let answer = api.get(&format!("{path}&cursor={cursor}")).await;
            assert_eq!(answer["meta"]["total"], 12);
            by_cursor.extend(texts(&answer));
            cursor = answer["meta"]["next_cursor"].as_str().unwrap_or_default().to_owned();
        }
        assert_eq!((&by_offset, &by_cursor), (&expected, &expected), "{path}");
    }
    let default_page = api.get("/api/memory/facts").await;
    assert_eq!(
        (&default_page["meta"]["limit"], texts(&default_page).len()),
        (&json!(7), 7),
        "default_limit is the page size of lists"
    );
    let first = api.get("/api/memory/facts?limit=6").await;
    let cursor = first["meta"]["next_cursor"].as_str().unwrap();
    let last = api.get(&format!("/api/memory/facts?limit=6&cursor={cursor}")).await;
    assert_eq!(
        (texts(&last).len(), &last["meta"]["has_more"]),
        (6, &json!(false)),
        "the last page is full and has no successor"
    );
    let by_name = api.get("/api/memory/facts?sort=subject&limit=3").await;
    assert_eq!(texts(&by_name), ["s0", "s1", "s10"]);
    for bad in [
        "limit=0",
        "limit=101",
        "limit=x",
        "offset=-1",
        "cursor=zzz",
        "sort=subject&cursor=1~00000000000000000000000000000000",
        "limmit=3",
    ] {
        let answer = api.answer(&format!("/api/memory/facts?{bad}")).await;
        assert_eq!((answer.status, answer.json()["error"]["code"].as_str()), (400, Some("invalid_argument")), "{bad}");
    }
    let hint = api.answer("/api/memory/facts?limmit=3").await.json()["error"]["hint"].clone();
    assert_eq!(hint, "did you mean limit?");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_butler_that_cannot_be_reached_is_named_and_never_counted_as_zero() {
    let api = Api::with(&["health", "finance"]).await;
    for butler in ["health", "finance"] {
        let fact = json!({"subject": butler, "predicate": "is", "content": "there"});
        api.tool(butler, "memory_store_fact", fact).await;
    }
    assert_eq!(api.get("/api/memory/facts").await["meta"]["total"], 2);
    // Close its pools, as if its database were down.
    api.host.butler(Some("finance")).unwrap().database().unwrap().close().await;
    let facts = api.get("/api/memory/facts").await;
    assert_eq!((&facts["meta"]["total"], &facts["meta"]["unavailable"]), (&json!(1), &json!(["finance"])));
    let stats = api.get("/api/memory/stats").await;
    assert_eq!(stats["meta"]["unavailable"], json!(["finance"]));
    assert_eq!(stats["data"]["attention"][0]["what"], "butler_unavailable");
    let butlers: Vec<&str> =
        stats["data"]["butlers"].as_array().unwrap().iter().map(|it| it["butler"].as_str().unwrap()).collect();
    assert_eq!(butlers, ["health"]);
    // The query lab uses the first available butler and reports the other.
    let lab = api.get("/api/memory/recall?q=there").await;
    assert_eq!((&lab["data"]["butler"], &lab["meta"]["unavailable"]), (&json!("health"), &json!(["finance"])));
    let scoped = api.answer("/api/butlers/finance/memory/facts").await;
    assert_eq!((scoped.status, scoped.json()["error"]["code"].as_str()), (503, Some("unavailable")));
    let listed = api.get("/api/butlers").await;
    let finance = listed["data"].as_array().unwrap().iter().find(|it| it["name"] == "finance").unwrap().clone();
    assert_eq!((&finance["health"], &finance["mcp_endpoint"]), (&json!("unavailable"), &json!("/butlers/finance/mcp")));
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_letters_are_paged_oldest_first() {
    let api = Api::with(&["one", "two"]).await;
    let mut stored = Vec::new();
    for number in 0..5 {
        let butler = if number % 2 == 0 { "one" } else { "two" };
        let episode = json!({"content": format!("letter {number}"), "butler": butler});
        stored.push(super::id(&api.tool(butler, "memory_store_episode", episode).await));
    }
    for db in &api.databases {
        db.execute("UPDATE episodes SET consolidation_status = 'dead_letter', retry_count = 5").await;
    }
    let mut seen: Vec<String> = Vec::new();
    for offset in [0, 2, 4] {
        let page = api.get(&format!("/api/memory/dead-letters?limit=2&offset={offset}")).await;
        assert_eq!((&page["meta"]["total"], &page["meta"]["has_more"]), (&json!(5), &json!(offset < 4)), "{page}");
        seen.extend(page["data"].as_array().unwrap().iter().map(super::id));
    }
    assert_eq!(seen, stored);
    assert_eq!(api.get("/api/memory/dead-letters?butler=two").await["meta"]["total"], 2);
    assert_eq!(api.answer("/api/memory/dead-letters?cursor=1~00000000000000000000000000000000").await.status, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_id_has_the_same_limit_as_in_a_tool_call() {
    let api = Api::start().await;
    for (bytes, status) in [(256, 200), (257, 400)] {
        let headers: &'static [(&str, &str)] = vec![("X-Request-Id", &*"r".repeat(bytes).leak())].leak();
        let answer = api.ask("GET", "/api/memory/facts", headers, String::new()).await;
        assert_eq!(answer.status, status, "{bytes} bytes: {}", answer.text());
    }
}
