//! What the headers of a request and of every response say about other web sites and about the body.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;

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
