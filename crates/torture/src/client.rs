//! An MCP client on a keep-alive connection, and the outcome of a call.

use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// Longer than any pause of the plan and the server's own database timeouts.
const CALL_TIMEOUT: Duration = Duration::from_secs(40);
/// Codes that promise that nothing was changed and that a retry is useless.
const REFUSALS: [&str; 4] = ["invalid_argument", "not_found", "invalid_state", "conflict"];

/// What a client knows after a call.
#[derive(Debug)]
pub enum Reply {
    /// The call succeeded: its structured answer and its text.
    Done { answer: Value, text: String },
    /// The call changed nothing, with the reason.
    Refused { code: String, text: String },
    /// The call may have succeeded: the connection broke, or the server reported `unavailable`.
    Unknown { said: Option<String> },
    /// An answer that no fault excuses.
    Wrong { what: String },
}

pub struct Client {
    address: String,
    token: String,
    stream: Option<BufReader<TcpStream>>,
}

impl Client {
    pub fn new(address: String, token: String) -> Self {
        Self { address, token, stream: None }
    }

    pub async fn call(&mut self, tool: &str, arguments: &Value) -> Reply {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments },
        });
        match tokio::time::timeout(CALL_TIMEOUT, self.post(&body.to_string())).await {
            Ok(Ok((status, answer))) => interpret(status, &answer),
            Ok(Err(_)) | Err(_) => {
                self.stream = None;
                Reply::Unknown { said: None }
            }
        }
    }

    async fn post(&mut self, body: &str) -> anyhow::Result<(u16, Vec<u8>)> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => BufReader::new(TcpStream::connect(&self.address).await?),
        };
        let (address, token) = (&self.address, &self.token);
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-06-18\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await?;
        let (status, length) = head(&mut stream).await?;
        let mut answer = vec![0; length];
        stream.read_exact(&mut answer).await?;
        // only after a whole answer, so that the rest of one is never read as the next
        self.stream = Some(stream);
        Ok((status, answer))
    }
}

async fn head(stream: &mut BufReader<TcpStream>) -> anyhow::Result<(u16, usize)> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let status = line.split_whitespace().nth(1).context("no HTTP response")?.parse()?;
    let mut length = None;
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            bail!("the response ends in its head");
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse()?);
        }
    }
    Ok((status, length.context("the response has no Content-Length")?))
}

fn interpret(status: u16, body: &[u8]) -> Reply {
    let shown = || String::from_utf8_lossy(body).chars().take(600).collect::<String>();
    if status == 503 {
        return Reply::Unknown { said: Some(shown()) };
    }
    let Ok(answer) = serde_json::from_slice::<Value>(body) else {
        return Reply::Wrong { what: format!("HTTP {status}, not JSON: {}", shown()) };
    };
    let result = &answer["result"];
    if status != 200 || !result.is_object() {
        return Reply::Wrong { what: format!("HTTP {status}: {}", shown()) };
    }
    let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    if result["isError"] != true {
        return Reply::Done { answer: result["structuredContent"].clone(), text };
    }
    let error: Value = serde_json::from_str(&text).unwrap_or_default();
    match error["error"].as_str() {
        Some("unavailable") if error["hint"].is_string() => Reply::Unknown { said: Some(text) },
        Some(code) if REFUSALS.contains(&code) => Reply::Refused { code: code.to_owned(), text },
        _ => Reply::Wrong { what: text },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Reply, interpret};

    fn tool_error(code: &str) -> Reply {
        let text = json!({"error": code, "message": "m", "hint": "h"}).to_string();
        let body = json!({"jsonrpc": "2.0", "id": 1, "result": {"isError": true, "content": [{"type": "text", "text": text}]}});
        interpret(200, body.to_string().as_bytes())
    }

    #[test]
    fn only_a_result_acknowledges_and_only_known_codes_promise_that_nothing_was_changed() {
        let body = json!({"result": {"structuredContent": {"id": 1}, "content": [{"text": "t"}]}}).to_string();
        assert!(matches!(interpret(200, body.as_bytes()), Reply::Done { .. }));
        assert!(matches!(tool_error("not_found"), Reply::Refused { .. }));
        assert!(matches!(tool_error("unavailable"), Reply::Unknown { .. }));
        assert!(matches!(tool_error("internal"), Reply::Wrong { .. }));
        assert!(matches!(interpret(401, b"{}"), Reply::Wrong { .. }));
        assert!(matches!(interpret(503, b"{}"), Reply::Unknown { .. }));
    }
}
