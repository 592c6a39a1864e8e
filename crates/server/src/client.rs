//! A minimal HTTP client for a server on this machine: one request per connection.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Larger than any response to a request this program sends.
const MAX_RESPONSE_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub body: Vec<u8>,
}

pub async fn get(address: SocketAddr, path: &str) -> io::Result<Response> {
    exchange(address, &format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n")).await
}

/// Sends a JSON request with the headers that MCP requires, and a bearer token if one is given.
pub async fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    bearer: Option<&str>,
    json: &str,
) -> io::Result<Response> {
    let authorization = bearer.map_or_else(String::new, |bearer| format!("Authorization: Bearer {bearer}\r\n"));
    let head = format!(
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\n{authorization}Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{json}",
        json.len()
    );
    exchange(address, &head).await
}

/// Uses HTTP/1.0, so that the response is never chunked and ends when the server closes the connection.
async fn exchange(address: SocketAddr, request: &str) -> io::Result<Response> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut raw = Vec::new();
    stream.take(MAX_RESPONSE_BYTES).read_to_end(&mut raw).await?;
    parse(&raw).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the response is not valid HTTP"))
}

fn parse(raw: &[u8]) -> Option<Response> {
    let end = raw.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&raw[..end]).ok()?;
    let mut words = head.lines().next()?.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/"))?;
    Some(Response { status: words.next()?.parse().ok()?, body: raw[end + 4..].to_vec() })
}
