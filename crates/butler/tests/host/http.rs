//! Limits and checks of the HTTP server.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{HALF_AN_EMOJI, MCP_HEADERS, Serving, eventually, request};

/// Reads until the server closes the connection.
fn read_all(mut stream: &TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut text = Vec::new();
    stream.read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

/// Reads one JSON response from a connection that stays open.
fn read_response(mut stream: &TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut text = String::new();
    let mut byte = [0];
    while !text.ends_with("}") {
        stream.read_exact(&mut byte).unwrap();
        text.push(char::from(byte[0]));
    }
    text
}

#[test]
fn incomplete_requests_time_out_and_idle_connections_stay_open() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("butler.toml");
    std::fs::write(&config, "[server]\nrequest_timeout_s = 1.0\n").unwrap();
    let server = Serving::with(&dir.path().join("data"), &[OsStr::new("--config"), config.as_os_str()]);
    let connect = || TcpStream::connect(server.address).unwrap();
    let host = server.address;

    // Two idle connections: one after its first request, and one with an event stream.
    let get = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let mut kept = connect();
    kept.write_all(get.as_bytes()).unwrap();
    assert!(read_response(&kept).starts_with("HTTP/1.1 200"));
    let mut events = connect();
    events.write_all(format!("GET /api/events HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();

    // Incomplete requests: half a head, a head that trickles in, nothing at all, half a body.
    let mut head = connect();
    head.write_all(format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n").as_bytes()).unwrap();
    assert_eq!(read_all(&head), "");
    let mut trickle = connect();
    trickle.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
    eventually(Duration::from_secs(60), "the trickling request is cut off", || trickle.write_all(b"X: y\r\n").err());
    assert_eq!(read_all(&connect()), "");
    for path in ["/mcp", "/api/jobs/decay_sweep/run"] {
        let mut body = connect();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
        );
        body.write_all(head.as_bytes()).unwrap();
        let text = read_all(&body);
        assert!(text.starts_with("HTTP/1.1 408") && text.contains("\"code\":\"timeout\""), "{path}: {text}");
    }

    // The idle connections are now several times older than the request timeout.
    kept.write_all(get.as_bytes()).unwrap();
    assert!(read_response(&kept).starts_with("HTTP/1.1 200"));
    server.mcp().call("memory_store_fact", json!({"subject": "a", "predicate": "is", "content": "b"}));
    let text = read_response(&events);
    assert!(text.starts_with("HTTP/1.1 200") && text.contains("text/event-stream"), "{text}");
}

#[test]
fn invalid_parameters_and_wrong_methods_get_json_errors() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    for params in [json!({"name": 5}), json!({"name": "memory_stats", "arguments": "all"}), json!([1]), json!({})] {
        let body = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params}).to_string();
        let answer = request(server.address, "POST", "/mcp", &MCP_HEADERS, body.as_bytes());
        let reply = answer.json();
        assert_eq!((answer.status, &reply["id"], &reply["error"]["code"]), (200, &json!(9), &json!(-32602)), "{reply}");
        assert!(reply["error"]["data"]["hint"].as_str().unwrap().contains("params is"), "{reply}");
    }
    let not_rpc = request(server.address, "POST", "/mcp", &MCP_HEADERS, b"{\"a\": 1}");
    assert_eq!((not_rpc.status, &not_rpc.json()["error"]["code"]), (400, &json!(-32600)));
    let no_json = request(server.address, "POST", "/mcp", &[("Content-Type", "text/plain"), MCP_HEADERS[1]], b"{}");
    assert_eq!((no_json.status, &no_json.json()["error"]["code"]), (415, &json!(-32600)));
    for method in ["PUT", "PATCH", "DELETE", "GET"] {
        let answer = request(server.address, method, "/mcp", &MCP_HEADERS, b"");
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["code"]), (405, &json!("method_not_allowed")), "{method}");
        assert!(error["hint"].is_string() && answer.head.to_lowercase().contains("allow: "), "{}", answer.head);
    }
}

#[test]
fn a_lone_surrogate_is_replaced_over_mcp_and_rest() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let stored = server.mcp().post(HALF_AN_EMOJI).unwrap().json();
    let fact = &stored["result"]["structuredContent"];
    let content = |id: &Value| server.get(&format!("/api/memory/facts/{}", id.as_str().unwrap())).json();
    assert_eq!(content(&fact["id"])["data"]["content"], "half \u{fffd}", "{stored}");

    let path = format!("/api/memory/facts/{}", fact["id"].as_str().unwrap());
    let edited = request(server.address, "PUT", &path, &MCP_HEADERS, br#"{"content": "the other half \ude00"}"#);
    assert_eq!(edited.status, 200, "{}", edited.text());
    let facts = server.get("/api/memory/facts").json();
    assert_eq!(facts["data"][0]["content"], "the other half \u{fffd}", "{facts}");
}

#[test]
fn a_forged_host_or_origin_is_rejected_on_every_path() {
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
fn a_body_over_4_mib_is_rejected_and_nothing_is_stored() {
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
