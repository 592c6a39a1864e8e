//! `/oauth/login`: the page of a link from `butler login-link`. The link is used by a button, because programs that look
//! at links before a person opens them only send `GET`.

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use butler_host::oauth::{self, SESSION_LIFETIME};

use super::OAuth;
use super::form::Form;
use super::page::{escape, page, problem, set_cookie};

pub async fn show(RawQuery(query): RawQuery) -> Response {
    let form = Form::parse(&query.unwrap_or_default());
    let Some(code) = form.get("code") else { return used() };
    let body = format!(
        "<p>This browser can then allow programs to use the memory. It stays signed in for an hour.</p>\
         <form method=\"post\" action=\"/oauth/login\"><input type=\"hidden\" name=\"code\" value=\"{}\">\
         <button class=\"main\">Sign in</button></form>",
        escape(code)
    );
    page(StatusCode::OK, "Sign in to Butler Memory", "", &body)
}

pub async fn sign_in(State(oauth): State<OAuth>, headers: HeaderMap, body: Body) -> Response {
    let form = match Form::read(&headers, body, oauth.host.server().request_timeout()).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let opened = match form.get("code") {
        Some(code) => {
            let _turn = oauth.turn().await;
            oauth::open_session(&oauth.host, code).await
        }
        None => Ok(None),
    };
    match opened {
        Ok(Some(session)) => {
            let body = "<p>Go back to the page that asked you to sign in. It continues by itself.</p>\
                        <p class=\"note\">Without such a page: connect your client now.</p>";
            let mut response = page(StatusCode::OK, "You are signed in", "", body);
            let cookie = set_cookie(&oauth.public_url, &session, SESSION_LIFETIME.num_seconds());
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Ok(None) => used(),
        Err(error) => unavailable(&error),
    }
}

fn used() -> Response {
    let text =
        "It works once, for ten minutes. Run `butler login-link` on the machine where Butler runs for a new one.";
    problem(StatusCode::BAD_REQUEST, "This link does not work", text)
}

/// The databases cannot be asked.
pub fn unavailable(error: &butler_host::error::HostError) -> Response {
    tracing::warn!(%error, "an OAuth page cannot be shown");
    let text = "The database cannot be reached. Try again later; `butler doctor` shows the cause.";
    problem(StatusCode::SERVICE_UNAVAILABLE, "Butler Memory is not available", text)
}

/// Shown until the person has signed in. It loads itself again, so that it goes on in this tab.
pub fn ask_to_sign_in() -> Response {
    let body = "<p>A program asks to use this memory. Sign in first:</p>\
                <ol><li>Run <code>butler login-link</code> on the machine where Butler runs.</li>\
                <li>Open the link that it prints in this browser.</li></ol>\
                <p class=\"note\">This page then continues by itself.</p>";
    page(StatusCode::OK, "Sign in", "<meta http-equiv=\"refresh\" content=\"3\">", body)
}
