//! Checks MCP with the first requests of a real client, against the running server or a temporary one.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use butler_host::access::Secret;
use butler_host::host::Host;
use butler_host::instance::Instance;
use butler_server::client;
use butler_server::http::{AllowedHosts, Authenticator, ConnectionLimits, Connections, Listeners, Timeouts};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::check::Check;

const NAME: &str = "mcp";
const TIMEOUT: Duration = Duration::from_secs(10);

pub async fn check(host: Arc<Host>, serving: Option<Instance>) -> Check {
    let outcome = match serving {
        Some(instance) => converse(instance.address, instance.secret().unwrap_or_default())
            .await
            .map(|summary| (summary, format!("process {}", instance.pid))),
        None => temporary(host).await.map(|summary| (summary, "temporary server".to_owned())),
    };
    match outcome {
        Ok((summary, server)) => Check::passed(NAME, format!("{summary} ({server})")),
        Err(reason) => Check::failed(NAME, reason, "see the server's log; start it with -v for details"),
    }
}

async fn temporary(host: Arc<Host>) -> Result<String, String> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listeners = Listeners::open(any, None).await.map_err(|error| error.to_string())?;
    let secret = Secret::new().map_err(|error| error.to_string())?;
    let (address, stop) = (listeners.address(), CancellationToken::new());
    // Nobody else is trusted on this port: the requests below carry the secret.
    let authenticator = Authenticator::new(Arc::clone(&host), secret.clone(), false, 0);
    let connections = Connections::new(ConnectionLimits { total: 8, per_address: 8 }, host.client_metrics());
    let router = butler_server::router(host, AllowedHosts::on(address, &[]), authenticator);
    let timeouts = Timeouts { head: TIMEOUT, idle: TIMEOUT };
    let server = tokio::spawn(listeners.serve(router, connections, timeouts, stop.clone()));
    let outcome = converse(address, secret.expose()).await;
    stop.cancel();
    let _ = server.await;
    outcome
}

/// Initializes a session, lists the tools and calls one that only reads.
async fn converse(address: SocketAddr, secret: &str) -> Result<String, String> {
    let started = Instant::now();
    let initialize = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "butler-doctor", "version": env!("CARGO_PKG_VERSION")},
    });
    request(address, secret, "initialize", initialize).await?;
    let listed = request(address, secret, "tools/list", json!({})).await?;
    let tools = listed["tools"].as_array().map_or(0, Vec::len);
    let stats = request(address, secret, "tools/call", json!({"name": "memory_stats", "arguments": {}})).await?;
    if stats["isError"] == true {
        return Err(format!("memory_stats failed: {}", stats["content"][0]["text"]));
    }
    Ok(format!("{tools} tools listed, memory_stats called, {} ms in total", started.elapsed().as_millis()))
}

async fn request(address: SocketAddr, secret: &str, method: &str, params: Value) -> Result<Value, String> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let response = tokio::time::timeout(TIMEOUT, client::send(address, "POST", "/mcp", Some(secret), &body))
        .await
        .map_err(|_| format!("{method}: no response within {} s", TIMEOUT.as_secs()))?
        .map_err(|error| format!("{method}: {error}"))?;
    let mut body: Value = serde_json::from_slice(&response.body).map_err(|_| {
        format!("{method}: HTTP {} without JSON: {}", response.status, String::from_utf8_lossy(&response.body))
    })?;
    if body["result"].is_null() {
        return Err(format!("{method}: HTTP {}: {}", response.status, body["error"]));
    }
    Ok(body["result"].take())
}
