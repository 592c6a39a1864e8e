//! What web pages, strangers behind a proxy and readers of the log can see.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::json;

use crate::program::{Answer, MCP_HEADERS, Serving, butler, request, run, stderr, stdout};

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn every_response_forbids_guessing_its_type_and_use_by_other_sites() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let get = |path: &str, headers: &[(&str, &str)]| request(server.address, "GET", path, headers, b"");
    for answer in [
        get("/api/memory/stats", &[]),
        get("/api/nowhere", &[]),
        get("/api/memory/facts/none", &[]),
        get("/mcp", &[]),
        request(server.address, "POST", "/mcp", &MCP_HEADERS, PING),
        request(server.address, "POST", "/mcp", &MCP_HEADERS, b"{"),
        get("/healthz", &[("Host", "evil.example")]),
        get("/readyz", &[]),
        get("/metrics", &[]),
        get("/", &[]),
    ] {
        let head = answer.head.to_lowercase();
        assert_eq!(head.matches("x-content-type-options: nosniff").count(), 1, "{head}");
        assert_eq!(head.matches("cross-origin-resource-policy: same-origin").count(), 1, "{head}");
    }
}

#[test]
fn pages_of_other_sites_cannot_read_memory() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let get = |path: &str, headers: &[(&str, &str)]| request(server.address, "GET", path, headers, b"").status;
    for path in ["/api/memory/stats", "/api/events", "/mcp", "/butlers/general/mcp", "/metrics"] {
        for site in ["cross-site", "same-site"] {
            let image = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")];
            assert_eq!(get(path, &image), 403, "{path} {site}");
        }
    }
    for site in ["same-origin", "none"] {
        assert_eq!(get("/api/memory/stats", &[("Sec-Fetch-Site", site)]), 200, "{site}");
    }
    let link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    assert_eq!((get("/", &link), get("/api/openapi.json", &link)), (200, 200), "a link from another site works");
    let fetched = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "empty")];
    assert_eq!(get("/.well-known/oauth-protected-resource", &fetched), 404, "metadata is for everyone");
    for origin in ["http://evil.example@localhost", "http://evil@127.0.0.1:8150", "http://localhost/evil"] {
        assert_eq!(get("/api/memory/stats", &[("Origin", origin)]), 403, "{origin}");
    }
    let host = format!("evil.example@{}", server.address);
    assert_eq!(get("/api/memory/stats", &[("Host", &host)]), 403);
}

#[test]
fn only_the_exact_media_type_is_json() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let post = |path: &str, kind: &str, body: &[u8]| {
        request(server.address, "POST", path, &[("Content-Type", kind), MCP_HEADERS[1]], body).status
    };
    for kind in ["application/json2", "application/json-seq", "text/plain; application/json", "application/jsonp"] {
        assert_eq!(post("/mcp", kind, PING), 415, "{kind}");
        assert_eq!(post("/api/jobs/decay_sweep/run", kind, b"{}"), 415, "{kind}");
    }
    for kind in ["application/json", "application/json; charset=utf-8", "Application/JSON"] {
        assert_eq!(post("/mcp", kind, PING), 200, "{kind}");
    }
}

fn create_token(data_dir: &Path, args: &[&str]) -> String {
    let output = run([&["token", "create", "--data-dir", data_dir.to_str().unwrap()][..], args].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).trim().to_owned()
}

#[test]
fn strangers_behind_a_local_proxy_see_neither_metrics_nor_reasons() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let config = dir.path().join("butler.toml");
    std::fs::write(&config, "[server]\nbehind_proxy = true\n").unwrap();
    let start = ["serve", "--listen", "127.0.0.1:0", "--data-dir"].map(OsStr::new);
    let refused = run(start.into_iter().chain([data_dir.as_os_str(), OsStr::new("--config"), config.as_os_str()]));
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("butler token create"), "{}", stderr(&refused));

    // Without the setting, a proxy is recognised by the headers that it adds.
    let server = Serving::on(&data_dir);
    let status = |server: &Serving, path: &str, headers: &[(&str, &str)]| -> u16 {
        request(server.address, "GET", path, headers, b"").status
    };
    for path in ["/metrics", "/api/memory/stats"] {
        assert_eq!(status(&server, path, &[]), 200, "{path}");
        assert_eq!(status(&server, path, &[("X-Forwarded-For", "203.0.113.9")]), 401, "{path}");
    }
    let admin = create_token(&data_dir, &["--tenant", "default", "--rights", "read,admin"]);
    let counter = create_token(&data_dir, &["--rights", "metrics"]);
    drop(server);

    let server = Serving::with(&data_dir, &[OsStr::new("--config"), config.as_os_str()]);
    let with = |path: &str, token: &str| -> Answer { server.get_with(path, token) };
    assert_eq!((server.get("/metrics").status, server.get("/readyz").status), (401, 200));
    assert_eq!((with("/metrics", &counter).status, with("/metrics", &admin).status), (200, 403));
    // While PostgreSQL restarts, only the administrator learns the reason.
    crate::program::send(server.postgres_pid(), rustix::process::Signal::KILL);
    crate::program::eventually(std::time::Duration::from_secs(60), "a probe sees the restart", || {
        let (stranger, entitled) = (server.get("/readyz"), with("/readyz", &admin));
        let seen = |answer: &Answer| answer.json()["not_ready"][0]["butler"].is_string();
        assert!(!seen(&stranger), "{}", stranger.text());
        (seen(&entitled) || entitled.status == 200).then_some(())
    });
}

#[test]
fn the_most_verbose_log_contains_no_memory() {
    let dir = tempfile::tempdir().unwrap();
    for (n, variable) in [None, Some("trace")].into_iter().enumerate() {
        let mut command = butler();
        if let Some(filter) = variable {
            command.env("BUTLER_LOG", filter);
        }
        let server = Serving::by(command, &dir.path().join(format!("data{n}")), &[OsStr::new("-vv")]);
        let mcp = server.mcp();
        mcp.rpc(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        );
        let fact = json!({"subject": "zebrafish", "predicate": "eats", "content": "quokkaberries"});
        mcp.call("memory_store_fact", fact.clone());
        mcp.call("memory_recall", json!({"topic": "what does the zebrafish eat"}));
        mcp.call("memory_context", json!({"trigger_prompt": "quokkaberries", "butler": "general"}));
        let _ = mcp
            .try_call("memory_store_fact", json!({"subject": "zebrafish", "predicate": 5, "content": "quokkaberries"}));
        let _ = mcp.try_rpc("tools/call", json!({"name": "no_such_tool", "arguments": fact}));
        assert_eq!(server.get("/api/memory/search?q=quokkaberries").status, 200);
        assert_eq!(server.get("/api/memory/recall?q=zebrafish").status, 200);
        let log = server.log();
        assert!(log.contains("memory_store_fact"), "calls are logged: {log}");
        for word in ["zebrafish", "quokkaberries"] {
            let line = log.lines().find(|line| line.contains(word));
            assert_eq!(line, None, "with {variable:?}");
        }
    }
}

#[test]
fn names_have_no_control_characters_and_shown_text_cannot_control_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let mcp = server.mcp();
    let hostile = "An\u{1b}[2J\r\nna\u{7f}";
    mcp.call(
        "memory_store_fact",
        json!({"subject": hostile, "predicate": hostile, "content": "tea \u{1b}]0;owned\u{7}"}),
    );
    let entity =
        mcp.call("entity_create", json!({"canonical_name": hostile, "entity_type": "person", "aliases": [hostile]}));
    let found = mcp.call("memory_search", json!({"query": "tea"}))["results"][0].clone();
    assert_eq!((&found["subject"], &found["predicate"]), (&json!("An [2J na"), &json!("An [2J na")));
    let entity = mcp.call("entity_get", json!({"entity_id": entity["entity_id"]}));
    assert_eq!(entity["canonical_name"], "An [2J na", "{entity}");
    let id = found["id"].as_str().unwrap();
    for (args, escaped) in [
        (&["search", "tea"][..], ""),
        (&["search", "tea", "--json"], "tea \\u001b]0;owned\\u0007"),
        (&["get", "fact", id], "tea \\u001b]0;owned\\u0007"),
    ] {
        let output = butler().args(args).arg("--data-dir").arg(&server.data_dir).output().unwrap();
        let shown = stdout(&output);
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
        assert!(shown.contains("tea") && shown.contains(escaped), "{shown}");
    }
}
