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
    listen: IpAddr,
    names: Arc<[String]>,
}

impl Allowed {
    /// The address listened on, this machine's loopback names, and whatever names the user allows.
    pub fn on(address: SocketAddr, names: &[String]) -> Self {
        Self { listen: address.ip(), names: names.into() }
    }

    /// Any port: tunnels and proxies change it, and it says nothing about who asks.
    fn host(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let named = |name: &String| name.trim_matches(['[', ']']).eq_ignore_ascii_case(host);
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|ip| self.address(ip))
            || self.names.iter().any(named)
    }

    /// Listening on all addresses, any address is ours: rebinding gives a foreign name to our address, and never
    /// makes a browser send an address as the name.
    fn address(&self, ip: IpAddr) -> bool {
        ip.is_loopback() || ip == self.listen || self.listen.is_unspecified()
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
        let hint = "address it as 127.0.0.1, [::1] or localhost, or allow the name: butler serve --allowed-host NAME";
        return forbidden(&message, hint);
    }
    if headers.contains_key(header::ORIGIN) {
        let origin = text(headers, header::ORIGIN).unwrap_or_default();
        if !allowed.origin(&origin) {
            let message = format!("requests from pages of {origin:?} are refused");
            let hint = "only pages of this server may talk to it; allow others: butler serve --allowed-host NAME";
            return forbidden(&message, hint);
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

    fn on(address: &str, names: &[&str]) -> Allowed {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Allowed::on(address.parse().unwrap(), &names)
    }

    #[test]
    fn loopback_names_and_the_listen_address_are_hosts_of_this_server() {
        let allowed = on("127.0.0.1:8150", &[]);
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.0.0.2", "[::1]", "::1"] {
            assert!(allowed.host(host), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "10.0.0.1", ""] {
            assert!(!allowed.host(host), "{host}");
        }
        assert!(on("10.0.0.1:8150", &[]).host("10.0.0.1"));
        assert!(!on("10.0.0.1:8150", &[]).host("10.0.0.2"));
    }

    #[test]
    fn names_the_user_allows_are_hosts_and_origins_and_no_others() {
        let allowed = on("0.0.0.0:8150", &["memory.example.com"]);
        for host in ["memory.example.com", "Memory.Example.com", "10.0.0.7", "[2001:db8::1]", "localhost"] {
            assert!(allowed.host(host), "{host}");
        }
        for host in ["example.com", "evil.example", "memory.example.com.evil.example"] {
            assert!(!allowed.host(host), "{host}");
        }
        assert!(allowed.origin("https://memory.example.com"));
        assert!(!allowed.origin("https://evil.example"));
    }

    #[test]
    fn origins_of_other_machines_and_of_no_machine_are_refused() {
        let allowed = on("127.0.0.1:8150", &[]);
        for origin in ["http://localhost:3000", "http://127.0.0.1:8150", "https://[::1]"] {
            assert!(allowed.origin(origin), "{origin}");
        }
        for origin in ["null", "https://evil.example", "http://localhost.evil.example", "file://", "localhost", ""] {
            assert!(!allowed.origin(origin), "{origin}");
        }
    }
}
