//! Parses and binds the address to listen on.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use butler_host::error::{HostError, PortOwner};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::client;

pub async fn bind(address: SocketAddr) -> Result<TcpListener, HostError> {
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            Err(HostError::PortInUse { address, owner: owner(address).await })
        }
        Err(source) => Err(HostError::Listen { address, source }),
    }
}

/// The butler process that listens at the address, if it is one.
async fn owner(address: SocketAddr) -> Option<PortOwner> {
    let answer = tokio::time::timeout(Duration::from_secs(1), client::get(address, "/healthz")).await.ok()?.ok()?;
    let health: Value = serde_json::from_slice(&answer.body).ok()?;
    (health["program"] == "butler").then(|| health["pid"].as_u64().map(|pid| PortOwner { pid })).flatten()
}

/// Parses `127.0.0.1:8150`, `[::1]:8150` or `localhost:8150`.
pub fn parse(text: &str) -> Result<SocketAddr, String> {
    let numeric = text.strip_prefix("localhost:").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    numeric.parse().map_err(|_| "expected an address and a port, as in 127.0.0.1:8150".to_owned())
}
