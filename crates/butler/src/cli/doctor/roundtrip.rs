//! A real client's first steps, against the running server or one made for the purpose.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use butler_host::access::Secret;
use butler_host::host::Host;
use butler_host::instance::Instance;
use butler_server::client;
use butler_server::http::{AllowedHosts, Authenticator, Listeners};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::check::Check;

const NAME: &str = "mcp";
const PATIENCE: Duration = Duration::from_secs(10);

pub async fn check(host: Arc<Host>, serving: Option<Instance>) -> Check {
    let outcome = match serving {
        Some(instance) => converse(instance.address, instance.secret().unwrap_or_default())
            .await
            .map(|what| (what, format!("pid {}", instance.pid))),
        None => temporary(host).await.map(|what| (what, "a temporary server".to_owned())),
    };
    match outcome {
        Ok((what, by)) => Check::passed(NAME, format!("{what} ({by})")),
        Err(reason) => Check::failed(NAME, reason, "look into the server's log; start it with -v to see more"),
    }
}

async fn temporary(host: Arc<Host>) -> Result<String, String> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listeners = Listeners::open(any, None).await.map_err(|error| error.to_string())?;
    let secret = Secret::new().map_err(|error| error.to_string())?;
    let (address, stop) = (listeners.address(), CancellationToken::new());
    let authenticator = Authenticator::new(Arc::clone(&host), secret.clone(), true, 0);
    let router = butler_server::router(host, AllowedHosts::on(address, &[]), authenticator);
    let server = tokio::spawn(listeners.serve(router, PATIENCE, stop.clone()));
    let outcome = converse(address, secret.expose()).await;
    stop.cancel();
    let _ = server.await;
    outcome
}

/// Initialize, list the tools, call one that only reads.
async fn converse(address: SocketAddr, secret: &str) -> Result<String, String> {
    let begun = Instant::now();
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "butler-doctor", "version": env!("CARGO_PKG_VERSION")},
    });
    ask(address, secret, "initialize", hello).await?;
    let listed = ask(address, secret, "tools/list", json!({})).await?;
    let tools = listed["tools"].as_array().map_or(0, Vec::len);
    let stats = ask(address, secret, "tools/call", json!({"name": "memory_stats", "arguments": {}})).await?;
    if stats["isError"] == true {
        return Err(format!("memory_stats failed: {}", stats["content"][0]["text"]));
    }
    Ok(format!("{tools} tools listed, memory_stats answered, {} ms in all", begun.elapsed().as_millis()))
}

async fn ask(address: SocketAddr, secret: &str, method: &str, params: Value) -> Result<Value, String> {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let answer = tokio::time::timeout(PATIENCE, client::send(address, "POST", "/mcp", Some(secret), &request))
        .await
        .map_err(|_| format!("{method}: no answer within {} s", PATIENCE.as_secs()))?
        .map_err(|error| format!("{method}: {error}"))?;
    let mut body: Value = serde_json::from_slice(&answer.body).map_err(|_| {
        format!("{method}: HTTP {} without JSON: {}", answer.status, String::from_utf8_lossy(&answer.body))
    })?;
    if body["result"].is_null() {
        return Err(format!("{method}: HTTP {}: {}", answer.status, body["error"]));
    }
    Ok(body["result"].take())
}
