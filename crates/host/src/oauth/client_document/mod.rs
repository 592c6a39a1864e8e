//! Clients whose id is the address of a document that describes them (client id metadata documents).
//!
//! A stranger chooses the address, so the request must not reach this machine or its network: only host names whose
//! addresses are all public, on port 443, without proxies and redirects. The connection uses the addresses that were checked.

mod network;
#[cfg(test)]
mod over_tls;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use butler_domain::Timestamp;
use butler_store::oauth::Client;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, USER_AGENT};
use hyper::{Request, StatusCode};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use url::{Host, Url};

use self::network::Network;
use super::check_redirect;
use crate::access::token_name;
use crate::outbound::causes;

/// A person waits for it.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Such a document has some hundred bytes.
const MAX_BYTES: usize = 64 * 1024;
/// Reloading the consent page does not fetch the document again.
const KEPT: Duration = Duration::from_secs(600);
const MAX_KEPT: usize = 100;
/// Some hosts refuse requests without one.
const AGENT: &str = concat!("butler-memory/", env!("CARGO_PKG_VERSION"));

/// Why a client's document cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the client's document {url} {problem}")]
pub struct DocumentError {
    url: String,
    problem: String,
}

/// Fetches the documents and keeps them for a while.
#[derive(Default)]
pub struct ClientDocuments {
    network: Network,
    kept: Mutex<HashMap<String, (Instant, Client)>>,
}

#[derive(Deserialize)]
struct Document {
    client_id: String,
    client_name: Option<String>,
    redirect_uris: Vec<String>,
    token_endpoint_auth_method: Option<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
}

impl Document {
    /// Whether the client can do without a secret. It may prefer another method if it names `none` among those it supports.
    fn is_public(&self) -> bool {
        self.token_endpoint_auth_method.as_deref().is_none_or(|method| method == "none")
            || self.token_endpoint_auth_methods_supported.iter().any(|method| method == "none")
    }
}

impl ClientDocuments {
    /// Whether a client id is the address of a document.
    pub fn is_address(client_id: &str) -> bool {
        client_id.starts_with("https://")
    }

    /// The client that a document describes.
    pub async fn client(&self, client_id: &str, now: Timestamp) -> Result<Client, DocumentError> {
        let failed = |problem: String| DocumentError { url: client_id.to_owned(), problem };
        if let Some(client) = self.known(client_id) {
            return Ok(client);
        }
        let url = check_address(client_id).map_err(failed)?;
        let fetched = tokio::time::timeout(TIMEOUT, self.fetch(&url));
        let bytes = fetched.await.unwrap_or_else(|_| Err(format!("did not arrive in {} s", TIMEOUT.as_secs())));
        let client = read(client_id, &url, &bytes.map_err(failed)?, now).map_err(failed)?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(client_id.to_owned(), (Instant::now(), client.clone()));
        Ok(client)
    }

    fn known(&self, client_id: &str) -> Option<Client> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(client_id).filter(|(at, _)| at.elapsed() < KEPT).map(|(_, client)| client.clone())
    }

    async fn fetch(&self, url: &Url) -> Result<Bytes, String> {
        let connector = self
            .network
            .connector()
            .map_err(|error| format!("cannot be fetched, because this system has no root certificates: {error}"))?;
        let client: HttpClient<_, Empty<Bytes>> = HttpClient::builder(TokioExecutor::new()).build(connector);
        let response =
            client.request(request(url)?).await.map_err(|error| format!("cannot be fetched: {}", causes(&error)))?;
        // A redirect could lead to an address that nobody checked.
        if response.status() != StatusCode::OK {
            return Err(format!("was answered with status {}", response.status().as_u16()));
        }
        let body = Limited::new(response.into_body(), MAX_BYTES).collect().await;
        Ok(body.map_err(|error| format!("cannot be read: {error}"))?.to_bytes())
    }
}

fn request(url: &Url) -> Result<Request<Empty<Bytes>>, String> {
    let request = Request::get(url.as_str()).header(ACCEPT, "application/json").header(USER_AGENT, AGENT);
    request.body(Empty::new()).map_err(|error| format!("cannot be requested: {error}"))
}

/// Requires a URL with a host name and a path, and nothing that could mean another place.
fn check_address(client_id: &str) -> Result<Url, String> {
    let url = Url::parse(client_id).map_err(|error| format!("has no valid address: {error}"))?;
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    if url.scheme() != "https" || !plain || url.as_str() != client_id || url.path() == "/" {
        return Err("must have an https address in normal form, with a path".to_owned());
    }
    // The connector would not ask the resolver for an address in digits.
    if !matches!(url.host(), Some(Host::Domain(_))) || url.port().is_some() {
        return Err("must be on a host with a name, on port 443".to_owned());
    }
    Ok(url)
}

fn read(client_id: &str, url: &Url, bytes: &[u8], now: Timestamp) -> Result<Client, String> {
    let document: Document = serde_json::from_slice(bytes).map_err(|error| format!("cannot be read: {error}"))?;
    if document.client_id != client_id {
        return Err("names another client_id than its own address".to_owned());
    }
    if !document.is_public() {
        return Err("does not support the token_endpoint_auth_method \"none\"".to_owned());
    }
    if document.redirect_uris.is_empty() {
        return Err("has no redirect_uris".to_owned());
    }
    for uri in &document.redirect_uris {
        check_redirect(uri)?;
    }
    let name = document.client_name.unwrap_or_default();
    let name = token_name(&name).map_err(|problem| format!("has a client_name that cannot be shown: {problem}"))?;
    let name = if name.is_empty() { url.host_str().unwrap_or_default().to_owned() } else { name };
    Ok(Client { id: client_id.to_owned(), name, redirect_uris: document.redirect_uris, created_at: now })
}

#[cfg(test)]
mod tests {
    use butler_domain::{Clock, SystemClock};

    use super::*;

    #[test]
    fn an_address_has_a_host_name_a_path_and_nothing_else() {
        assert!(check_address("https://client.example/oauth/metadata.json").is_ok());
        for address in [
            "http://client.example/x",
            "https://client.example/",
            "https://client.example",
            "https://127.0.0.1/x",
            "https://0x7f.1/x",
            "https://2130706433/x",
            "https://[::1]/x",
            "https://client.example:8443/x",
            "https://user@client.example/x",
            "https://client.example/a/../x",
            "https://client.example/x#y",
        ] {
            assert!(check_address(address).is_err(), "{address}");
        }
    }

    #[test]
    fn a_document_must_describe_the_client_of_its_address() {
        let id = "https://client.example/x";
        let (url, now) = (Url::parse(id).unwrap(), SystemClock.now());
        let read = |text: &str| read(id, &url, text.as_bytes(), now);
        let good = r#"{"client_id": "https://client.example/x", "client_name": "Client", "redirect_uris": ["http://127.0.0.1/c"]}"#;
        assert_eq!(read(good).unwrap().name, "Client");
        assert_eq!(read(&good.replace("\"client_name\": \"Client\", ", "")).unwrap().name, "client.example");
        for (part, other) in [
            ("example/x", "example/y"),
            ("\"http://127.0.0.1/c\"", ""),
            ("http://127.0.0.1/c", "javascript:x"),
            ("Client", "Cl\\u0000ient"),
            ("{", "{\"token_endpoint_auth_method\": \"client_secret_post\", "),
        ] {
            assert!(read(&good.replacen(part, other, 1)).is_err(), "{other}");
        }
    }

    #[test]
    fn a_client_that_prefers_a_key_is_accepted_if_it_supports_none_too() {
        let id = "https://client.example/x";
        let (url, now) = (Url::parse(id).unwrap(), SystemClock.now());
        let reads = |methods: &str| {
            let text = format!(
                r#"{{"client_id": "{id}", "redirect_uris": ["https://client.example/c"], "token_endpoint_auth_method": {methods}}}"#
            );
            read(id, &url, text.as_bytes(), now).is_ok()
        };
        let supported = r#""private_key_jwt", "token_endpoint_auth_methods_supported": "#;
        assert!(reads("\"none\""));
        assert!(reads(&format!(r#"{supported}["none", "private_key_jwt"]"#)), "as ChatGPT's document has it");
        assert!(!reads(&format!(r#"{supported}["private_key_jwt"]"#)));
        assert!(!reads("\"private_key_jwt\""));
    }

    #[test]
    fn the_request_names_the_program() {
        let request = request(&Url::parse("https://client.example/x").unwrap()).unwrap();
        let agent = request.headers()[USER_AGENT].to_str().unwrap();
        assert_eq!(agent, format!("butler-memory/{}", env!("CARGO_PKG_VERSION")));
    }
}
