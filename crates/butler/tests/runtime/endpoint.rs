//! A local HTTP server that sends scripted replies, one per request, and records the requests.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[derive(Clone)]
pub enum Reply {
    Json(u16, Value),
    Text(u16, &'static str),
    /// 429 with this `retry-after`, in seconds.
    Later(&'static str),
    /// A header, then single bytes without end.
    Drip,
    /// The connection closes after half a response.
    Cut,
    Huge(usize),
}

#[derive(Default)]
struct State {
    replies: Vec<Reply>,
    requests: Vec<(String, Value)>,
}

pub struct Endpoint {
    pub url: String,
    state: Arc<Mutex<State>>,
}

impl Endpoint {
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { replies: replies.into_iter().collect(), requests: Vec::new() }));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { url, state }
    }

    /// Head and body of each request so far.
    pub fn requests(&self) -> Vec<(String, Value)> {
        self.state.lock().unwrap().requests.clone()
    }
}

/// The reply of an OpenAI-compatible server.
pub fn chat(text: &str) -> Reply {
    Reply::Json(
        200,
        json!({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
               "usage": {"prompt_tokens": 7, "completion_tokens": 3}}),
    )
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>) {
    let mut read = Vec::new();
    let (head, body) = loop {
        if stream.read_buf(&mut read).await.unwrap_or(0) == 0 {
            return;
        }
        let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&read[..end]).to_lowercase();
        let length: usize =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().trim().parse().unwrap();
        if read.len() >= end + 4 + length {
            break (head, serde_json::from_slice(&read[end + 4..end + 4 + length]).unwrap());
        }
    };
    let reply = {
        let mut state = state.lock().unwrap();
        state.requests.push((head, body));
        // The last reply is repeated.
        if state.replies.len() > 1 { state.replies.remove(0) } else { state.replies[0].clone() }
    };
    let _ = answer(&mut stream, reply).await;
}

async fn answer(stream: &mut TcpStream, reply: Reply) -> std::io::Result<()> {
    let head = |status: u16, length: usize, more: &str| {
        format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n")
    };
    match reply {
        Reply::Json(status, body) => {
            let body = body.to_string();
            stream.write_all(format!("{}{body}", head(status, body.len(), "")).as_bytes()).await
        }
        Reply::Text(status, body) => {
            stream.write_all(format!("{}{body}", head(status, body.len(), "")).as_bytes()).await
        }
        Reply::Later(after) => stream.write_all(head(429, 0, &format!("retry-after: {after}\r\n")).as_bytes()).await,
        Reply::Drip => {
            stream.write_all(head(200, 1_000_000, "").as_bytes()).await?;
            loop {
                stream.write_all(b" ").await?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Reply::Cut => stream.write_all(format!("{}{{\"choices\"", head(200, 500, "")).as_bytes()).await,
        Reply::Huge(bytes) => {
            stream.write_all(head(200, bytes, "").as_bytes()).await?;
            stream.write_all(&vec![b' '; bytes]).await
        }
    }
}
