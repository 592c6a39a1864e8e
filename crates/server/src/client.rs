//! Just enough of an HTTP client to ask a server on this machine: one request, one answer, one connection.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// No answer to what this program asks is larger.
const ANSWER_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
}

pub async fn get(address: SocketAddr, path: &str) -> io::Result<Answer> {
    exchange(address, &format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n")).await
}

/// JSON there, JSON back, with the headers that MCP wants and the bearer of a server that wants one.
pub async fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    bearer: Option<&str>,
    json: &str,
) -> io::Result<Answer> {
    let authorization = bearer.map_or_else(String::new, |bearer| format!("Authorization: Bearer {bearer}\r\n"));
    let head = format!(
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\n{authorization}Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{json}",
        json.len()
    );
    exchange(address, &head).await
}

/// HTTP/1.0: the answer is never chunked, and ends with the connection.
async fn exchange(address: SocketAddr, request: &str) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut raw = Vec::new();
    stream.take(ANSWER_BYTES).read_to_end(&mut raw).await?;
    parse(&raw).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "this is not an answer of an HTTP server"))
}

fn parse(raw: &[u8]) -> Option<Answer> {
    let end = raw.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&raw[..end]).ok()?;
    let mut words = head.lines().next()?.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/"))?;
    Some(Answer { status: words.next()?.parse().ok()?, body: raw[end + 4..].to_vec() })
}
