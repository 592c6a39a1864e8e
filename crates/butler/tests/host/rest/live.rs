//! The stream of events.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use super::Api;

/// Opens the stream, tells that it is open, and returns the first event of a memory with its id.
fn first_event(api: &Api, resume: Option<&str>, open: std::sync::mpsc::Sender<()>) -> (String, Value) {
    let mut stream = TcpStream::connect(api.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let resume = resume.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
    write!(stream, "GET /api/events HTTP/1.1\r\nHost: {}\r\n{resume}\r\n", api.address).unwrap();
    let mut id = String::new();
    let mut of_memory = false;
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        if line == "event: ready" {
            open.send(()).unwrap();
        }
        of_memory = of_memory || line == "event: memory";
        if let Some(text) = line.strip_prefix("id: ") {
            id = text.to_owned();
        }
        if let Some(data) = line.strip_prefix("data: ").filter(|_| of_memory)
            && !id.is_empty()
        {
            return (id, serde_json::from_str(data).unwrap());
        }
        if let Some(data) = line.strip_prefix("data: ").filter(|_| of_memory) {
            // the id may follow the data
            let data: Value = serde_json::from_str(data).unwrap();
            return (id, data);
        }
    }
    panic!("the stream ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_hears_a_write_and_resumes_where_it_broke_off() {
    let api = std::sync::Arc::new(Api::start().await);
    let (open, opened) = std::sync::mpsc::channel();
    let listening = {
        let api = api.clone();
        tokio::task::spawn_blocking(move || first_event(&api, None, open))
    };
    tokio::task::spawn_blocking(move || opened.recv_timeout(Duration::from_secs(30)).unwrap()).await.unwrap();
    let fact = api.fact("Ada", "likes", "looms").await;
    let (id, event) = listening.await.unwrap();
    assert_eq!((event["event_type"].as_str(), event["kind"].as_str()), (Some("fact_created"), Some("fact")));
    assert_eq!((event["memory_id"].as_str(), event["butler"].as_str()), (Some(fact.as_str()), Some("general")));
    let missed = api.rule("Ask twice").await;
    let (open, _opened) = std::sync::mpsc::channel();
    let resumed = {
        let api = api.clone();
        tokio::task::spawn_blocking(move || {
            let _keep = &_opened;
            first_event(&api, Some(&id), open)
        })
    };
    let (_, event) = resumed.await.unwrap();
    assert_eq!(event["memory_id"], missed.as_str(), "{event}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_stream_ends_when_the_server_stops() {
    let api = Api::start().await;
    let mut stream = TcpStream::connect(api.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET /api/events HTTP/1.0\r\nHost: {}\r\n\r\n", api.address).unwrap();
    let read = tokio::task::spawn_blocking(move || {
        let mut lines = BufReader::new(stream).lines();
        let open = lines.by_ref().map(Result::unwrap).any(|line| line == "event: ready");
        (open, lines.map(Result::unwrap).count())
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    api.host.closing().cancel();
    let (open, _) = read.await.unwrap();
    assert!(open);
}
