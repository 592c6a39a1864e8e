//! Which addresses a browser may be sent back to.

use url::Url;

use crate::loopback::is_loopback;

/// Schemes of browsers and operating systems, not of a client: opening them runs, shows or starts something else.
const DANGEROUS_SCHEMES: [&str; 24] = [
    "about",
    "blob",
    "chrome",
    "chrome-extension",
    "data",
    "edge",
    "file",
    "filesystem",
    "ftp",
    "intent",
    "jar",
    "javascript",
    "mailto",
    "moz-extension",
    "ms-msdt",
    "ms-officecmd",
    "resource",
    "search-ms",
    "sms",
    "tel",
    "vbscript",
    "view-source",
    "ws",
    "wss",
];
/// Long enough for any real address.
const MAX_BYTES: usize = 2_000;

/// Accepts `https`, `http` on loopback, and the private schemes of applications. The text must be in normal form, so that
/// what is compared, what is shown and what a browser opens are the same.
pub fn check_redirect(uri: &str) -> Result<(), String> {
    let invalid = |problem: &str| Err(format!("the redirect URI {uri:?} {problem}"));
    let Ok(url) = Url::parse(uri) else { return invalid("is not a URL") };
    if uri.len() > MAX_BYTES {
        return invalid("is too long");
    }
    if url.as_str() != uri && url.as_str() != format!("{uri}/") {
        return invalid(&format!("is not in normal form, which is {:?}", url.as_str()));
    }
    if url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        return invalid("has a fragment or a user name");
    }
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback(&url) => Ok(()),
        "http" => invalid("is plain http to another machine"),
        scheme if DANGEROUS_SCHEMES.contains(&scheme) => invalid("has a scheme that belongs to no client"),
        _ => Ok(()),
    }
}

/// Whether a requested redirect URI is a registered one. They must be equal, but on loopback the port is free: an
/// application listens on whichever port it gets.
pub fn redirect_matches(registered: &str, requested: &str) -> bool {
    let without_port = |uri: &str| {
        let mut url = Url::parse(uri).ok().filter(|url| url.scheme() == "http" && is_loopback(url))?;
        url.set_port(None).ok()?;
        Some(url)
    };
    if check_redirect(requested).is_err() {
        return false;
    }
    registered == requested || without_port(registered).is_some_and(|url| without_port(requested) == Some(url))
}

/// The origin of a redirect URI, as the consent page shows it; of an application's own scheme, the scheme.
pub fn origin(uri: &str) -> String {
    let Ok(url) = Url::parse(uri) else { return String::new() };
    match url.scheme() {
        "http" | "https" => url.origin().ascii_serialization(),
        scheme => format!("{scheme}:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirect_uris_are_https_loopback_or_of_an_application() {
        for uri in [
            "https://claude.ai/api/mcp/auth_callback",
            "http://127.0.0.1:33418/callback",
            "http://localhost:3000",
            "http://[::1]:1/x?y=z",
            "cursor://anysphere.cursor-retrieval/oauth/callback",
        ] {
            assert_eq!(check_redirect(uri), Ok(()), "{uri}");
        }
        for uri in [
            "/callback",
            "http://example.com/callback",
            "https://example.com/a/../b",
            "https://example.com/#x",
            "https://ann@example.com/",
            "https://exa\tmple.com/",
            "https:\\\\example.com",
            "http://127.0.0.1.example.com/",
            "javascript:alert(1)",
            "data:text/html,x",
        ] {
            assert!(check_redirect(uri).is_err(), "{uri}");
        }
        for scheme in DANGEROUS_SCHEMES {
            let uri = format!("{scheme}://example.com/x");
            assert!(check_redirect(&uri).is_err(), "{uri}");
        }
    }

    #[test]
    fn only_the_port_of_a_loopback_address_is_free() {
        let registered = "http://127.0.0.1:1000/callback";
        assert!(redirect_matches(registered, "http://127.0.0.1:2000/callback"));
        assert!(redirect_matches(registered, "http://127.0.0.1/callback"));
        for other in [
            "http://localhost:1000/callback",
            "http://127.0.0.1:1000/callback/more",
            "http://127.0.0.1:1000/callback?x=1",
            "https://127.0.0.1:1000/callback",
            concat!("http://127.0.0.1:", "1000@example.com/callback"),
        ] {
            assert!(!redirect_matches(registered, other), "{other}");
        }
        let registered = "https://example.com/callback";
        assert!(redirect_matches(registered, registered));
        for other in [
            "https://example.com:8443/callback",
            "https://example.com/callback/",
            "https://example.com/Callback",
            "https://sub.example.com/callback",
            "https://example.com/callback?next=x",
        ] {
            assert!(!redirect_matches(registered, other), "{other}");
        }
    }

    #[test]
    fn the_consent_page_shows_the_origin_or_the_scheme() {
        assert_eq!(origin("https://example.com/callback"), "https://example.com");
        assert_eq!(origin("http://127.0.0.1:1000/x"), "http://127.0.0.1:1000");
        assert_eq!(origin("cursor://host/x"), "cursor:");
    }
}
