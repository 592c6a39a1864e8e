//! Traces are sent to a collector.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Serving, butler};

/// Receives one request and sends its first line and its JSON body to the channel.
fn collector(listener: TcpListener) -> mpsc::Receiver<(String, Value)> {
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut line, mut length, mut first) = (String::new(), 0, String::new());
        while reader.read_line(&mut line).unwrap() > 2 {
            if first.is_empty() {
                first.clone_from(&line);
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").unwrap();
        sender.send((first, serde_json::from_slice(&body).unwrap())).unwrap();
    });
    received
}

/// Starts a server that `configure` points to a collector, and checks the span of one call.
fn assert_call_is_traced(configure: impl FnOnce(&mut Command, &Path, &str)) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let received = collector(listener);
    let dir = tempfile::tempdir().unwrap();
    let mut command = butler();
    configure(&mut command, dir.path(), &endpoint);
    let serving = Serving::by(command, &dir.path().join("data"), &[]);
    serving.mcp().call("memory_stats", json!({"request_context": {"request_id": "r-1"}}));
    let (path, document) = received.recv_timeout(Duration::from_secs(60)).unwrap();
    serving.stop();
    assert!(path.starts_with("POST /v1/traces "), "{path}");
    let span = &document["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!((&span["name"], &span["kind"]), (&json!("memory_stats"), &json!(2)), "{span}");
    assert_eq!((span["traceId"].as_str().unwrap().len(), span["spanId"].as_str().unwrap().len()), (32, 16));
    let attributes = span["attributes"].as_array().unwrap();
    assert!(attributes.contains(&json!({"key": "request_id", "value": {"stringValue": "r-1"}})), "{span}");
}

#[test]
fn a_tool_call_becomes_a_span_with_its_request_id() {
    assert_call_is_traced(|command, _, endpoint| {
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    });
}

#[test]
fn the_collector_can_be_set_in_butler_toml() {
    assert_call_is_traced(|command, dir, endpoint| {
        let file = dir.join("butler.toml");
        std::fs::write(&file, format!("[telemetry]\notlp_endpoint = \"{endpoint}\"\n")).unwrap();
        command.env_remove("OTEL_EXPORTER_OTLP_ENDPOINT").env("BUTLER_CONFIG", file);
    });
}
