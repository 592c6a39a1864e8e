//! Keeps foreign web pages out by checking `Host`, `Origin` and `Sec-Fetch-Site`.
//!
//! Without tokens the server trusts every program on this machine. A web page can make a browser send requests here,
//! and with DNS rebinding it can even read the responses. It cannot forge `Host` and `Origin`, so both must name this
//! server.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::{Authority, PathAndQuery};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use butler_memory::tool::ErrorCode;

use super::authenticate::PathKind;
use super::headers::is_cross_site;
use super::reject;

/// The host names and addresses under which clients may address this server.
#[derive(Debug, Clone)]
pub struct AllowedHosts {
    listen: IpAddr,
    names: Arc<[String]>,
}

impl AllowedHosts {
    /// Allows the listen address, the loopback names and the names the user configured.
    pub fn on(address: SocketAddr, names: &[String]) -> Self {
        Self { listen: address.ip(), names: names.into() }
    }

    /// Ignores the port: tunnels and proxies change it, and it does not identify the caller.
    fn host(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let named = |name: &String| name.trim_matches(['[', ']']).eq_ignore_ascii_case(host);
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|ip| self.address(ip))
            || self.names.iter().any(named)
    }

    /// A server that listens on all interfaces accepts any IP address as its name. This is safe: with DNS rebinding the
    /// browser sends a host name, never an address.
    fn address(&self, ip: IpAddr) -> bool {
        ip.is_loopback() || ip == self.listen || self.listen.is_unspecified()
    }

    fn origin(&self, origin: &str) -> bool {
        let Ok(uri) = origin.parse::<Uri>() else { return false };
        let web = uri.scheme_str().is_some_and(|scheme| scheme == "http" || scheme == "https");
        // A browser sends scheme, host and port, and nothing else.
        let plain = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'))
            && matches!(uri.path_and_query().map(PathAndQuery::as_str), None | Some("" | "/"));
        web && plain && uri.host().is_some_and(|host| self.host(host))
    }
}

/// Rejects requests whose `Host` or `Origin` does not name this server, and reads of memory for pages of other sites.
pub async fn check_host_and_origin(State(allowed): State<AllowedHosts>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = text(headers, header::HOST).or_else(|| request.uri().authority().map(|it| it.as_str().to_owned()));
    let named = host.as_deref().filter(|host| !host.contains('@')).and_then(|host| host.parse::<Authority>().ok());
    if !named.is_some_and(|authority| allowed.host(authority.host())) {
        let message = format!("the host name {:?} is not allowed", host.unwrap_or_default());
        let hint = "use 127.0.0.1, [::1] or localhost, or allow the name: butler serve --allowed-host NAME";
        return forbidden(&message, hint);
    }
    if headers.contains_key(header::ORIGIN) {
        let origin = text(headers, header::ORIGIN).unwrap_or_default();
        if !allowed.origin(&origin) {
            let message = format!("requests from the origin {origin:?} are not allowed");
            let hint = "only this server's own pages may send requests; allow others: butler serve --allowed-host NAME";
            return forbidden(&message, hint);
        }
    }
    let holds_data = matches!(PathKind::of(request.uri().path()), PathKind::Memory | PathKind::Metrics);
    if holds_data && is_cross_site(request.method(), headers) {
        let hint = "open the address in the browser itself, or use a program instead of a web page";
        return forbidden("pages of other sites may not read from this server", hint);
    }
    next.run(request).await
}

/// The header's value; `None` if the header is repeated or is not text.
fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<String> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?.to_owned();
    values.next().is_none().then_some(value)
}

fn forbidden(message: &str, hint: &str) -> Response {
    reject(StatusCode::FORBIDDEN, ErrorCode::Forbidden, message, Some(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(address: &str, names: &[&str]) -> AllowedHosts {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        AllowedHosts::on(address.parse().unwrap(), &names)
    }

    #[test]
    fn loopback_names_and_the_listen_address_are_allowed_hosts() {
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
    fn configured_names_are_allowed_as_host_and_origin() {
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
    fn foreign_and_opaque_origins_are_rejected() {
        let allowed = on("127.0.0.1:8150", &[]);
        for origin in ["http://localhost:3000", "http://127.0.0.1:8150", "https://[::1]"] {
            assert!(allowed.origin(origin), "{origin}");
        }
        for origin in ["null", "https://evil.example", "http://localhost.evil.example", "file://", "localhost", ""] {
            assert!(!allowed.origin(origin), "{origin}");
        }
        for origin in ["http://evil@localhost", "http://evil.example@127.0.0.1:8150", "http://localhost/evil"] {
            assert!(!allowed.origin(origin), "{origin}");
        }
    }
}
