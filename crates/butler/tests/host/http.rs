//! Who may talk to the server, and how much.

use serde_json::json;

use crate::program::{MCP_HEADERS, Serving, request};

#[test]
fn a_forged_host_or_origin_is_refused_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    for path in ["/mcp", "/butlers/general/mcp", "/healthz", "/readyz", "/metrics", "/"] {
        for headers in [
            &[("Host", "evil.example")][..],
            &[("Host", "localhost.evil.example:8150")],
            &[("Host", "")],
            &[("Origin", "https://evil.example")],
            &[("Origin", "null")],
        ] {
            let answer = request(server.address, "GET", path, headers, b"");
            assert_eq!(answer.status, 403, "{path} {headers:?}: {}", answer.text());
            assert_eq!(answer.json()["error"]["code"], "forbidden", "{path} {headers:?}");
        }
    }
    let port = server.address.port();
    for headers in [("Host", format!("localhost:{port}")), ("Origin", "http://localhost:3000".to_owned())] {
        let answer = request(server.address, "GET", "/healthz", &[(headers.0, &headers.1)], b"");
        assert_eq!(answer.status, 200, "{headers:?}: {}", answer.text());
    }
}

#[test]
fn a_body_over_4_mib_is_refused_and_nothing_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let content = "x".repeat(5 * 1024 * 1024);
    let call = json!({"name": "memory_store_episode", "arguments": {"content": content, "butler": "general"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).to_string();
    let answer = request(server.address, "POST", "/mcp", &MCP_HEADERS, body.as_bytes());
    assert_eq!(answer.status, 413, "{}", answer.text());
    assert_eq!(answer.json()["error"]["code"], "too_large");
    assert_eq!(server.mcp().call("memory_stats", json!({}))["episodes"]["total"], 0);
}
