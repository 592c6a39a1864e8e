//! A minimal MCP client: JSON-RPC by POST on one keep-alive connection, so that the client's own cost is small.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

pub struct Client {
    stream: BufReader<TcpStream>,
    address: String,
    /// The `Authorization` header line, or empty.
    authorization: String,
    calls: u64,
    /// The size of the last answer.
    pub answer_bytes: usize,
    /// The time of the last call, from the first byte sent to the last byte read.
    pub took: Duration,
}

impl Client {
    pub async fn connect(address: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
            address: address.to_owned(),
            authorization: String::new(),
            calls: 0,
            answer_bytes: 0,
            took: Duration::ZERO,
        })
    }

    pub fn with_token(self, token: &str) -> Self {
        Self { authorization: format!("Authorization: Bearer {token}\r\n"), ..self }
    }

    /// Calls a tool and returns its structured answer. A tool error is an error.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> anyhow::Result<Value> {
        self.calls += 1;
        let request = json!({
            "jsonrpc": "2.0", "id": self.calls, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments },
        });
        let request = request.to_string();
        let began = Instant::now();
        let answer = self.post("/mcp", &request).await?;
        self.took = began.elapsed();
        self.answer_bytes = answer.len();
        let answer: Value = serde_json::from_slice(&answer)?;
        let result = &answer["result"];
        if result.is_null() || result["isError"] == json!(true) {
            bail!("{tool}: {answer}");
        }
        Ok(result["structuredContent"].clone())
    }

    async fn post(&mut self, path: &str, body: &str) -> anyhow::Result<Vec<u8>> {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\n{}Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-06-18\r\nContent-Length: {}\r\n\r\n",
            self.address,
            self.authorization,
            body.len()
        );
        self.stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await?;
        let (status, length) = self.head().await?;
        let mut answer = vec![0; length.context("the response has no Content-Length")?];
        self.stream.read_exact(&mut answer).await?;
        if status != 200 {
            bail!("HTTP {status}: {}", String::from_utf8_lossy(&answer));
        }
        Ok(answer)
    }

    async fn head(&mut self) -> anyhow::Result<(u16, Option<usize>)> {
        let mut line = String::new();
        self.stream.read_line(&mut line).await?;
        let status = line.split_whitespace().nth(1).context("not an HTTP response")?.parse()?;
        let mut length = None;
        loop {
            line.clear();
            self.stream.read_line(&mut line).await?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(value.trim().parse()?);
            }
        }
        Ok((status, length))
    }
}
