//! What the headers of a request and of every response say about other web sites, proxies and the body.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;

use super::connections::network;

/// Headers that tell a browser not to guess the type of a response and not to give it to the pages of other sites.
const PROTECTION: [(HeaderName, HeaderValue); 2] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// Adds [`PROTECTION`] to every response.
pub async fn protect(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in PROTECTION {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Whether a browser sends the request for a page of another site, which has no business here. Following a link is the
/// user's own doing, and the other site cannot read the result.
pub fn is_cross_site(method: &Method, headers: &HeaderMap) -> bool {
    let value = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("invalid"));
    let Some(site) = value("sec-fetch-site") else { return false };
    let reads = method == Method::GET || method == Method::HEAD;
    let follows_link = value("sec-fetch-mode") == Some("navigate") && value("sec-fetch-dest") == Some("document");
    // Other methods carry an `Origin`, which is checked.
    reads && !follows_link && !matches!(site, "same-origin" | "none")
}

/// Whether the request passed a proxy, so that its sender is not a program of this machine.
pub fn is_forwarded(headers: &HeaderMap) -> bool {
    const NAMES: [&str; 4] = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];
    NAMES.iter().any(|name| headers.contains_key(*name))
}

/// The network that a request comes from: an IPv4 address, or the first 48 bits of an IPv6 address, which a provider assigns
/// to one customer. Behind a proxy, it is the network of the last address in `X-Forwarded-For`, which the proxy itself added;
/// a client can forge the addresses before it.
pub fn client_network(peer: IpAddr, headers: &HeaderMap, behind_proxy: bool) -> IpAddr {
    let forwarded = || {
        let addresses = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
        let last = addresses.rsplit(',').next()?.trim();
        // Some proxies add the port.
        last.parse().ok().or_else(|| last.parse().ok().map(|address: SocketAddr| address.ip()))
    };
    let client = if behind_proxy { forwarded().map_or(peer, network) } else { peer };
    match client {
        IpAddr::V6(ip) if !ip.is_loopback() => Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << 80)).into(),
        ip => ip,
    }
}

/// Whether the body is JSON: exactly this media type, with or without parameters.
pub fn is_json(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(header::CONTENT_TYPE).iter();
    let kind = kinds.next().and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    kinds.next().is_none() && essence.eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, HeaderValue::from_static(value));
        }
        map
    }

    #[test]
    fn only_the_servers_own_pages_and_the_user_may_read() {
        let refused = |pairs: &[(&'static str, &'static str)]| is_cross_site(&Method::GET, &headers(pairs));
        for site in ["cross-site", "same-site", "odd"] {
            assert!(refused(&[("sec-fetch-site", site)]), "{site}");
            assert!(refused(&[("sec-fetch-site", site), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")]));
            let frame = [("sec-fetch-site", site), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
            assert!(refused(&frame), "a frame is no page of its own");
            let link = [("sec-fetch-site", site), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
            assert!(!refused(&link));
        }
        assert!(
            !refused(&[]) && !refused(&[("sec-fetch-site", "none")]) && !refused(&[("sec-fetch-site", "same-origin")])
        );
    }

    #[test]
    fn the_proxy_says_last_whom_it_forwards_and_nobody_else_is_believed() {
        let peer: IpAddr = "127.0.0.1".parse().unwrap();
        let found = |behind_proxy, pairs: &[(&'static str, &'static str)]| {
            client_network(peer, &headers(pairs), behind_proxy).to_string()
        };
        let forged = [("x-forwarded-for", "198.51.100.1, 203.0.113.9")];
        assert_eq!(found(true, &forged), "203.0.113.9");
        assert_eq!(found(false, &forged), "127.0.0.1");
        assert_eq!(found(true, &[forged[0], ("x-forwarded-for", "203.0.113.7:4711")]), "203.0.113.7");
        assert_eq!(found(true, &[("x-forwarded-for", "2001:db8:1:2:3::4")]), "2001:db8:1::", "one network, one client");
        let direct = client_network("2001:db8:1:2::".parse().unwrap(), &HeaderMap::new(), false);
        assert_eq!(direct.to_string(), "2001:db8:1::", "without a proxy, too");
        for odd in ["", "unknown", "203.0.113.9,"] {
            assert_eq!(found(true, &[("x-forwarded-for", odd)]), "127.0.0.1", "{odd:?}");
        }
        assert_eq!(found(true, &[]), "127.0.0.1");
    }

    #[test]
    fn json_is_one_exact_media_type() {
        for kind in ["application/json", "Application/JSON", "application/json; charset=utf-8"] {
            assert!(is_json(&headers(&[("content-type", kind)])), "{kind}");
        }
        for kind in ["application/json2", "application/jsonp", "text/plain", "application/json, text/plain", ""] {
            assert!(!is_json(&headers(&[("content-type", kind)])), "{kind}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
