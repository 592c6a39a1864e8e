//! Where documents are fetched from: hosts on the public internet, over TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use rustls::ClientConfig;
use tower_service::Service;

pub(super) type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// Tests replace its parts to reach a host on loopback.
#[derive(Clone)]
pub(super) struct Network {
    pub lookup: Lookup,
    /// Whether a host with this address may be asked.
    pub may_ask: fn(IpAddr) -> bool,
    /// Which certificates are trusted.
    pub tls: fn() -> io::Result<ClientConfig>,
}

impl Default for Network {
    fn default() -> Self {
        let lookup: Lookup =
            Arc::new(|host| Box::pin(async move { Ok(tokio::net::lookup_host((host, 443)).await?.collect()) }));
        Self { lookup, may_ask: is_public, tls: system_roots }
    }
}

fn system_roots() -> io::Result<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    Ok(builder.with_native_roots()?.with_no_client_auth())
}

impl Network {
    /// Connects to the addresses that were checked, and only with TLS.
    pub fn connector(&self) -> io::Result<HttpsConnector<HttpConnector<Self>>> {
        let mut http = HttpConnector::new_with_resolver(self.clone());
        http.enforce_http(false);
        let builder = HttpsConnectorBuilder::new().with_tls_config((self.tls)()?).https_only();
        Ok(builder.enable_http1().wrap_connector(http))
    }
}

/// Resolves a host name, unless one of its addresses may not be asked.
impl Service<Name> for Network {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (found, may_ask) = ((self.lookup)(name.as_str().to_owned()), self.may_ask);
        Box::pin(async move {
            let found = found.await?;
            if found.is_empty() || !found.iter().all(|address| may_ask(address.ip())) {
                return Err(io::Error::other("the host is not on the public internet"));
            }
            Ok(found.into_iter())
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
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use butler_domain::{Clock, SystemClock};

    use super::super::ClientDocuments;
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

    /// Nothing is sent: the guard refuses before a connection is made.
    #[tokio::test]
    async fn a_name_that_leads_into_the_private_network_is_refused_before_a_connection() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        for addresses in [vec!["127.0.0.1"], vec!["169.254.169.254"], vec!["1.1.1.1", "127.0.0.1"], vec!["::1"], vec![]]
        {
            let lookups = Arc::new(AtomicUsize::new(0));
            let (counter, ips) = (Arc::clone(&lookups), addresses.clone());
            let lookup: Lookup = Arc::new(move |host| {
                assert_eq!(host, "client.example");
                counter.fetch_add(1, Ordering::SeqCst);
                let found = ips.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 443)).collect();
                Box::pin(async move { Ok(found) })
            });
            let network = Network { lookup, ..Network::default() };
            let documents = ClientDocuments { network, kept: Mutex::default() };
            let error = documents.client("https://client.example/x", SystemClock.now()).await.unwrap_err();
            assert!(error.to_string().contains("not on the public internet"), "{addresses:?}: {error}");
            assert_eq!(lookups.load(Ordering::SeqCst), 1, "the name is resolved once, so it cannot change afterwards");
        }
        let nobody = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
        assert!(nobody.is_err(), "no connection was made");
    }
}
