//! The pages that a person sees: plain HTML without scripts, which no other page can put into a frame.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Small enough to read at a glance, and usable without a style sheet.
const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:10vh auto;padding:0 1rem;color:#1c1c1a;\
background:#faf9f6}h1{font-size:1.4rem}dt{font-weight:600;margin-top:.6rem}dd{margin:0;overflow-wrap:anywhere}\
code{background:#eceae3;padding:.1rem .3rem}label{display:block;margin:.4rem 0}fieldset{border:1px solid #cfccc2;margin:1rem 0}\
button{font:inherit;padding:.5rem 1.2rem;margin-right:.8rem;border:1px solid #6b6a64;border-radius:.3rem;background:#fff;\
cursor:pointer}button.main{background:#1f4d3a;border-color:#1f4d3a;color:#fff}.note{color:#5b5a55}\
@media(prefers-color-scheme:dark){body{color:#eceae3;background:#1b1b19}code{background:#33322e}button{background:#2a2926;\
color:#eceae3}.note{color:#a9a69d}}";

pub async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "max-age=3600")], STYLE)
        .into_response()
}

/// A page with this title and body. Its form leads to this server only.
pub fn page(status: StatusCode, title: &str, head: &str, body: &str) -> Response {
    with_policy(status, title, head, body, "form-action 'self'; ")
}

/// The page that asks for consent. Its form leads to this server, which sends the browser on to the client.
pub fn consent_page(title: &str, body: &str) -> Response {
    // No `form-action`: Chromium checks it for every redirect that follows, and claude.ai's callback leads to `claude://`.
    with_policy(StatusCode::OK, title, "", body, "")
}

fn with_policy(status: StatusCode, title: &str, head: &str, body: &str, form_action: &str) -> Response {
    let html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title} · Butler Memory</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><link rel=\"stylesheet\" href=\"/oauth/style.css\">{head}\
         </head><body><main><h1>{title}</h1>\n{body}\n</main></body></html>\n",
        title = escape(title)
    );
    let mut response = (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response();
    let policy = format!("default-src 'none'; style-src 'self'; base-uri 'none'; {form_action}frame-ancestors 'none'");
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
        // With `no-referrer` a browser would send `Origin: null` with the form.
        (header::REFERRER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A page that says why it does not go on. Nobody is redirected: the address to redirect to may be the problem.
pub fn problem(status: StatusCode, title: &str, text: &str) -> Response {
    page(status, title, "", &format!("<p>{}</p>", escape(text)))
}

/// Sends the browser on. 303, so that the form's content is not sent along.
pub fn redirect(to: &str) -> Response {
    match HeaderValue::from_str(to) {
        Ok(to) => (StatusCode::SEE_OTHER, [(header::LOCATION, to), (header::CACHE_CONTROL, NO_STORE)]).into_response(),
        Err(_) => {
            problem(StatusCode::BAD_REQUEST, "This request is not valid", "The redirect URI is not a valid header.")
        }
    }
}

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The name of the session's cookie. With the prefix, a browser accepts it from this host over HTTPS only.
fn cookie_name(public_url: &str) -> &'static str {
    if public_url.starts_with("https:") { "__Host-butler_login" } else { "butler_login" }
}

/// The cookie of a new session. `Lax`, because a person comes to the consent page from the client's site.
pub fn set_cookie(public_url: &str, value: &str, seconds: i64) -> String {
    let secure = if public_url.starts_with("https:") { "; Secure" } else { "" };
    format!("{}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}", cookie_name(public_url))
}

/// The session's cookie that the browser sent.
pub fn cookie<'a>(public_url: &str, headers: &'a HeaderMap) -> Option<&'a str> {
    let name = cookie_name(public_url);
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_page_can_be_framed_or_run_scripts() {
        for (response, form_action) in
            [(page(StatusCode::OK, "<b>", "", ""), "form-action 'self'; "), (consent_page("<b>", ""), "")]
        {
            let header = |name: header::HeaderName| response.headers()[name].to_str().unwrap().to_owned();
            assert_eq!(header(header::X_FRAME_OPTIONS), "DENY");
            let policy =
                format!("default-src 'none'; style-src 'self'; base-uri 'none'; {form_action}frame-ancestors 'none'");
            assert_eq!(header(header::CONTENT_SECURITY_POLICY), policy);
        }
    }

    #[test]
    fn the_cookie_is_for_this_host_over_https_only_and_not_for_scripts() {
        let set = set_cookie("https://memory.example.com", "x", 60);
        assert_eq!(set, "__Host-butler_login=x; Path=/; HttpOnly; SameSite=Lax; Max-Age=60; Secure");
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_static("a=b; butler_login=y; __Host-butler_login=x"));
        assert_eq!(cookie("https://memory.example.com", &headers), Some("x"));
        assert_eq!(cookie("http://127.0.0.1:1", &headers), Some("y"));
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("<a href=\"x\" title='y'>&"), "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;");
    }
}
