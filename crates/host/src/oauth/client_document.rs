//! Clients whose id is the address of a document that describes them (client id metadata documents).
//!
//! A stranger chooses the address, so the request must not reach this machine or its network: only host names whose
//! addresses are all public, on port 443, without proxies and redirects. The connection uses the addresses that were checked.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use butler_domain::Timestamp;
use butler_store::oauth::Client;
use futures::future::BoxFuture;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, USER_AGENT};
use hyper::{Request, StatusCode};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use tower_service::Service;
use url::{Host, Url};

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

type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> + Send + Sync>;

/// Fetches the documents and keeps them for a while.
pub struct ClientDocuments {
    lookup: Lookup,
    kept: Mutex<HashMap<String, (Instant, Client)>>,
}

impl Default for ClientDocuments {
    fn default() -> Self {
        Self::resolving(Arc::new(|host| {
            Box::pin(async move {
                let found = tokio::net::lookup_host((host, 443)).await?;
                Ok(found.map(|address| address.ip()).collect())
            })
        }))
    }
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
    fn resolving(lookup: Lookup) -> Self {
        Self { lookup, kept: Mutex::default() }
    }

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
        let mut http = HttpConnector::new_with_resolver(PublicAddresses(Arc::clone(&self.lookup)));
        http.enforce_http(false);
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
            .map_err(|error| format!("cannot be fetched, because this system has no root certificates: {error}"))?
            .https_only()
            .enable_http1()
            .wrap_connector(http);
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

/// Resolves a host name, unless one of its addresses is not public.
#[derive(Clone)]
struct PublicAddresses(Lookup);

impl Service<Name> for PublicAddresses {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = std::io::Error;
    type Future = BoxFuture<'static, std::io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let found = (self.0)(name.as_str().to_owned());
        Box::pin(async move {
            let found = found.await?;
            if found.is_empty() || !found.iter().all(|ip| is_public(*ip)) {
                return Err(std::io::Error::other("the host is not on the public internet"));
            }
            Ok(found.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect::<Vec<_>>().into_iter())
        })
    }
}

/// Whether an address belongs to the public internet.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            let special = ip.is_private()
                || ip.is_loopback()
                || ip.is_link_local()
                || ip.is_broadcast()
                || ip.is_documentation()
                || ip.is_multicast();
            let reserved = a == 0
                || a >= 240
                || (a == 100 && (64..128).contains(&b))
                || (a == 192 && b == 0 && c == 0)
                || (a == 192 && b == 88 && c == 99)
                || (a == 198 && (18..20).contains(&b));
            !special && !reserved
        }
        IpAddr::V6(ip) => {
            let [first, second, ..] = ip.segments();
            let global = first & 0xe000 == 0x2000;
            // Teredo, documentation and 6to4, which can contain an IPv4 address of any kind
            let special = (first == 0x2001 && (second < 0x200 || second == 0xdb8)) || first == 0x2002;
            global && !special
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use butler_domain::{Clock, SystemClock};

    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_are_public() {
        for ip in ["1.1.1.1", "93.184.216.34", "2606:2800:220:1::1"] {
            assert!(is_public(ip.parse().unwrap()), "{ip}");
        }
        for ip in [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.168.0.1",
            "192.0.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "fe80::1",
            "fc00::1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "ff02::1",
        ] {
            assert!(!is_public(ip.parse().unwrap()), "{ip}");
        }
    }

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

    /// Nothing is sent: the guard refuses before a connection is made.
    #[tokio::test]
    async fn a_name_that_leads_into_the_private_network_is_refused_before_a_connection() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        for addresses in [vec!["127.0.0.1"], vec!["169.254.169.254"], vec!["1.1.1.1", "127.0.0.1"], vec!["::1"], vec![]]
        {
            let asked = Arc::new(AtomicUsize::new(0));
            let (counter, ips) = (Arc::clone(&asked), addresses.clone());
            let documents = ClientDocuments::resolving(Arc::new(move |host| {
                assert_eq!(host, "client.example");
                counter.fetch_add(1, Ordering::SeqCst);
                let ips = ips.iter().map(|ip| ip.parse().unwrap()).collect();
                Box::pin(async move { Ok(ips) })
            }));
            let error = documents.client("https://client.example/x", SystemClock.now()).await.unwrap_err();
            assert!(error.to_string().contains("not on the public internet"), "{addresses:?}: {error}");
            assert_eq!(asked.load(Ordering::SeqCst), 1, "the name is resolved once, so it cannot change afterwards");
        }
        let nobody = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
        assert!(nobody.is_err(), "no connection was made");
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
