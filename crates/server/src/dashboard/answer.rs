//! Responds to requests for the dashboard's files and pages.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::encoding::{choose, listed};
use super::files::{self, File};

/// Allows this server's own files and API only: no inline script or style, and no embedding in a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; \
                      connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";
const CACHE_FOREVER: &str = "public, max-age=31536000, immutable";
const REVALIDATE: &str = "no-cache";

/// Serves the file at `path`, or the dashboard's page if `path` is one of its routes; `None` otherwise.
///
/// For an unknown path a browser also gets the page, with status 404: the page itself says that nothing is there.
pub fn page(method: &Method, path: &str, headers: &HeaderMap) -> Option<Response> {
    if method != Method::GET && method != Method::HEAD {
        return None;
    }
    if let Some(file) = files::find(path).filter(|file| file.path != "/index.html") {
        return Some(answer(file, StatusCode::OK, headers));
    }
    let index = files::index()?;
    if files::is_page(path) {
        return Some(answer(index, StatusCode::OK, headers));
    }
    let machine = path.starts_with("/api/") || path.starts_with("/assets/") || path == "/mcp";
    let person = !machine && listed(headers, header::ACCEPT).any(|kind| kind.starts_with("text/html"));
    person.then(|| answer(index, StatusCode::NOT_FOUND, headers))
}

fn answer(file: &'static File, status: StatusCode, headers: &HeaderMap) -> Response {
    let caching = if file.immutable { CACHE_FOREVER } else { REVALIDATE };
    let known =
        listed(headers, header::IF_NONE_MATCH).any(|tag| tag.trim_start_matches("W/") == file.etag || tag == "*");
    let (body, coding) = choose(file, headers);
    let mut response = if known && status == StatusCode::OK {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        (status, [(header::CONTENT_TYPE, file.content_type)], body).into_response()
    };
    let mut set = |name: HeaderName, value: &'static str| {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    };
    set(header::ETAG, file.etag);
    set(header::CACHE_CONTROL, caching);
    set(header::VARY, "accept-encoding");
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    if let Some(coding) = coding.filter(|_| status == StatusCode::NOT_FOUND || !known) {
        set(header::CONTENT_ENCODING, coding);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(path: &str, headers: &[(HeaderName, &str)]) -> Option<Response> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(name, value.parse().unwrap());
        }
        page(&Method::GET, path, &map)
    }

    fn header(response: &Response, name: HeaderName) -> &str {
        response.headers().get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[test]
    fn a_page_is_revalidated_and_has_the_content_security_policy() {
        let response = get("/memory/facts/1", &[(header::ACCEPT_ENCODING, "br")]).unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(header(&response, header::CACHE_CONTROL), "no-cache");
        assert_eq!(header(&response, header::CONTENT_ENCODING), "br");
        assert!(header(&response, header::CONTENT_SECURITY_POLICY).contains("frame-ancestors 'none'"));
        assert!(!header(&response, header::CONTENT_SECURITY_POLICY).contains("unsafe"));
    }

    #[test]
    fn an_unchanged_file_is_not_sent_again() {
        let first = get("/", &[]).unwrap();
        let again = get("/", &[(header::IF_NONE_MATCH, header(&first, header::ETAG))]).unwrap();
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    }

    #[test]
    fn only_a_browser_gets_the_page_for_an_unknown_path() {
        assert_eq!(get("/nowhere", &[(header::ACCEPT, "text/html,*/*")]).unwrap().status(), StatusCode::NOT_FOUND);
        assert!(get("/nowhere", &[(header::ACCEPT, "application/json")]).is_none());
        assert!(get("/api/nowhere", &[(header::ACCEPT, "text/html")]).is_none());
        assert!(page(&Method::POST, "/memory", &HeaderMap::new()).is_none());
    }
}
