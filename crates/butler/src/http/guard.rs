//! Who may talk to a server that trusts whoever reaches it: programs of this machine, not web pages.
//!
//! A page can make a browser send requests here, and with DNS rebinding even read the answers. The browser cannot
//! forge `Host` and `Origin`, so both must name this machine.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::Response;

use super::reject;

/// The names under which this server may be addressed.
#[derive(Debug, Clone)]
pub struct Allowed {
    listen: Arc<IpAddr>,
}

impl Allowed {
    pub fn on(address: SocketAddr) -> Self {
        Self { listen: Arc::new(address.ip()) }
    }

    /// Any port: tunnels and proxies change it, and it says nothing about who asks.
    fn host(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip == *self.listen)
    }

    fn origin(&self, origin: &str) -> bool {
        let Ok(uri) = origin.parse::<Uri>() else { return false };
        let web = uri.scheme_str().is_some_and(|scheme| scheme == "http" || scheme == "https");
        web && uri.host().is_some_and(|host| self.host(host))
    }
}

pub async fn check(State(allowed): State<Allowed>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = text(headers, header::HOST).or_else(|| request.uri().authority().map(|it| it.as_str().to_owned()));
    let named = host.as_deref().and_then(|host| host.parse::<Authority>().ok());
    if !named.is_some_and(|authority| allowed.host(authority.host())) {
        let message = format!("this server is not {:?}", host.unwrap_or_default());
        return forbidden(&message, "address it as 127.0.0.1, [::1] or localhost");
    }
    if headers.contains_key(header::ORIGIN) {
        let origin = text(headers, header::ORIGIN).unwrap_or_default();
        if !allowed.origin(&origin) {
            let message = format!("requests from pages of {origin:?} are refused");
            return forbidden(&message, "only pages served from this machine may talk to this server");
        }
    }
    next.run(request).await
}

/// Two values, or one that is no text, are none.
fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<String> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?.to_owned();
    values.next().is_none().then_some(value)
}

fn forbidden(message: &str, hint: &str) -> Response {
    reject(StatusCode::FORBIDDEN, "forbidden", message, Some(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_names_and_the_listen_address_are_hosts_of_this_server() {
        let allowed = Allowed::on("127.0.0.1:8150".parse().unwrap());
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.0.0.2", "[::1]", "::1"] {
            assert!(allowed.host(host), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "10.0.0.1", ""] {
            assert!(!allowed.host(host), "{host}");
        }
        assert!(Allowed::on("10.0.0.1:8150".parse().unwrap()).host("10.0.0.1"));
    }

    #[test]
    fn origins_of_other_machines_and_of_no_machine_are_refused() {
        let allowed = Allowed::on("127.0.0.1:8150".parse().unwrap());
        for origin in ["http://localhost:3000", "http://127.0.0.1:8150", "https://[::1]"] {
            assert!(allowed.origin(origin), "{origin}");
        }
        for origin in ["null", "https://evil.example", "http://localhost.evil.example", "file://", "localhost", ""] {
            assert!(!allowed.origin(origin), "{origin}");
        }
    }
}
