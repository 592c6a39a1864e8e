//! `butler demo` while a server runs.

use std::time::Duration;

use serde_json::json;

use crate::program::{MCP_HEADERS, Mcp, Serving, butler, eventually, request, stderr, stdout};

const TIMEOUT: Duration = Duration::from_secs(60);

#[test]
fn a_running_server_shows_the_demo_immediately_and_drops_it_after_removal() {
    let dir = tempfile::tempdir().unwrap();
    let serving = Serving::on(&dir.path().join("data"));
    let demo = |args: &[&str]| {
        let output =
            butler().args(["demo", "--json", "--data-dir"]).arg(&serving.data_dir).args(args).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_str::<serde_json::Value>(&stdout(&output)).unwrap()
    };
    let created = demo(&["--size", "500"]);
    assert!(created["memories"].as_u64().unwrap() >= 500, "{created}");
    assert_eq!(created["url"], format!("http://{}/butlers/demo/memory", serving.address));

    let mcp = Mcp { path: "/butlers/demo/mcp".to_owned(), ..serving.mcp() };
    let is_served = || request(serving.address, "POST", &mcp.path, &MCP_HEADERS, b"{}").status != 404;
    assert!(is_served(), "the command waits until the server serves the demo");
    let stats = mcp.call("memory_stats", json!({}));
    for state in ["active", "fading", "superseded", "expired", "retracted"] {
        assert!(stats["facts"][state].as_i64().unwrap() > 0, "no fact is {state}: {stats}");
    }
    for maturity in ["candidate", "established", "proven", "anti_pattern", "forgotten", "fading"] {
        assert!(stats["rules"][maturity].as_i64().unwrap() > 0, "no rule is {maturity}: {stats}");
    }
    for status in ["consolidated", "unconsolidated", "failed", "dead_letter"] {
        assert!(stats["episodes"][status].as_i64().unwrap() > 0, "no episode is {status}: {stats}");
    }
    let proposals = mcp.call("memory_review", json!({}));
    assert_eq!(proposals["total"], 2, "a fact from a web page, and a page that gives orders: {proposals}");
    let conflicts = mcp.call("memory_conflicts", json!({}));
    assert!(conflicts["total"].as_i64().unwrap() >= 1, "{conflicts}");
    let recalled = mcp.call("memory_recall", json!({"topic": "what must Otto not eat"}));
    let contents: Vec<&str> =
        recalled["results"].as_array().unwrap().iter().filter_map(|hit| hit["content"].as_str()).collect();
    assert!(contents.iter().any(|content| content.contains("peanuts")), "{contents:?}");
    assert_eq!(serving.mcp().call("memory_stats", json!({}))["facts"]["total"], 0, "the user's butler is not changed");

    assert_eq!(demo(&["--remove"])["removed"], true);
    let is_removed = || request(serving.address, "POST", &mcp.path, &MCP_HEADERS, b"{}").status == 404;
    eventually(TIMEOUT, "the server drops the demo", || is_removed().then_some(()));
    assert_eq!(demo(&["--remove"])["removed"], false);
    serving.is_ready_soon();
}
