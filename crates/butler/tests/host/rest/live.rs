//! The event stream.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::Api;

/// Long enough for an event on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(90);

/// Opens an event stream and returns its lines. The channel closes when the stream ends.
fn listen(api: &Api, resume: Option<&str>) -> UnboundedReceiver<String> {
    let mut stream = TcpStream::connect(api.address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let resume = resume.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
    write!(stream, "GET /api/events HTTP/1.0\r\nHost: {}\r\n{resume}\r\n", api.address).unwrap();
    let (sender, lines) = unbounded_channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

async fn until(lines: &mut UnboundedReceiver<String>, prefix: &str) -> String {
    loop {
        let line = tokio::time::timeout(TIMEOUT, lines.recv()).await.expect("in time").expect("an open stream");
        if let Some(rest) = line.strip_prefix(prefix) {
            return rest.to_owned();
        }
    }
}

/// Returns the id and the data of the next memory event.
async fn next(lines: &mut UnboundedReceiver<String>) -> (String, Value) {
    until(lines, "event: memory").await;
    let id = until(lines, "id: ").await;
    (id, serde_json::from_str(&until(lines, "data: ").await).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_stream_reports_a_write_and_resumes_after_a_disconnect() {
    let api = Api::start().await;
    let mut lines = listen(&api, None);
    until(&mut lines, "event: ready").await;
    let fact = api.fact("Ada", "likes", "looms").await;
    let (id, event) = next(&mut lines).await;
    assert_eq!((event["event_type"].as_str(), event["kind"].as_str()), (Some("fact_created"), Some("fact")));
    assert_eq!((event["memory_id"].as_str(), event["butler"].as_str()), (Some(fact.as_str()), Some("general")));
    drop(lines);
    let missed = api.rule("Ask twice").await;
    let (_, event) = next(&mut listen(&api, Some(&id))).await;
    assert_eq!(event["memory_id"], missed.as_str(), "{event}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_stream_ends_when_the_server_stops() {
    let api = Api::start().await;
    let mut lines = listen(&api, None);
    until(&mut lines, "event: ready").await;
    api.host.closing().cancel();
    let ended = async { while lines.recv().await.is_some() {} };
    tokio::time::timeout(TIMEOUT, ended).await.expect("the stream ends");
}
