//! `/oauth/authorize`: the consent page, and the person's decision.

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use butler_host::access::{Right, hash_token};
use butler_host::oauth::{self, ClientDocuments, Denial, Login, NewGrant, origin};

use super::OAuth;
use super::authorize_request::AuthorizeRequest;
use super::form::Form;
use super::login::{ask_to_sign_in, unavailable};
use super::page::{consent_page, cookie, escape, problem};

/// Shows what the client asks for, or how to sign in.
pub async fn show(State(oauth): State<OAuth>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let query = query.unwrap_or_default();
    match signed_in(&oauth, &headers).await {
        Ok((session, login)) => match AuthorizeRequest::check(&oauth, &login, &query).await {
            Ok(request) => consent(&request, &login, &query, &csrf_token(&session, &query)),
            Err(response) => response,
        },
        Err(response) => response,
    }
}

/// The session's cookie and the person it stands for. The error is the response to send.
async fn signed_in(oauth: &OAuth, headers: &HeaderMap) -> Result<(String, Login), Response> {
    let Some(session) = cookie(&oauth.public_url, headers) else { return Err(ask_to_sign_in()) };
    let _turn = oauth.turn().await;
    match oauth::login(&oauth.host, session).await {
        Ok(Some(login)) => Ok((session.to_owned(), login)),
        Ok(None) => Err(ask_to_sign_in()),
        Err(error) => Err(unavailable(&error)),
    }
}

/// Ties the form to the session and to the request that the page showed. Another site knows no session's cookie.
fn csrf_token(session: &str, query: &str) -> String {
    hash_token(&format!("consent\n{session}\n{query}")).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn consent(request: &AuthorizeRequest, login: &Login, query: &str, csrf: &str) -> Response {
    let target = origin(&request.redirect_uri);
    let client = &request.client;
    let proof = if ClientDocuments::is_address(&client.id) {
        format!("described at {}", escape(&client.id))
    } else {
        "the program chose this name itself; nobody verified it".to_owned()
    };
    let rights: String = request.rights.iter().map(|right| checkbox(*right)).collect();
    let body = format!(
        "<dl><dt>Program</dt><dd>{name} <span class=\"note\">({proof})</span></dd>\
         <dt>Where the browser goes next</dt><dd>{target}</dd>\
         <dt>Memory</dt><dd>butler <b>{butler}</b>, tenant <b>{tenant}</b></dd></dl>\
         <form method=\"post\" action=\"/oauth/authorize\"><fieldset><legend>It may</legend>{rights}</fieldset>\
         <input type=\"hidden\" name=\"request\" value=\"{query}\"><input type=\"hidden\" name=\"csrf\" value=\"{csrf}\">\
         <button class=\"main\" name=\"decision\" value=\"allow\">Allow</button>\
         <button name=\"decision\" value=\"deny\">Deny</button></form>\
         <p class=\"note\">Allow it only if you just connected this program yourself. You can take it back in the dashboard \
         under Settings, or with <code>butler grants revoke</code>.</p>",
        name = escape(&client.name),
        target = escape(&target),
        butler = escape(&request.butler),
        tenant = escape(login.tenant.as_str()),
        query = escape(query),
    );
    consent_page(&format!("Allow {} to use this memory?", client.name), &body)
}

/// A right to choose. `admin` is not chosen beforehand: some clients ask for every scope that they know.
fn checkbox(right: Right) -> String {
    let checked = if matches!(right, Right::Admin) { "" } else { " checked" };
    let words = match right {
        Right::Read => "search and read what is remembered",
        Right::Write => "store, change and forget memories",
        Right::Admin => "administer: approve proposals as you would, run jobs, manage tokens, forget people and things",
        Right::Metrics => "read the metrics",
    };
    format!("<label><input type=\"checkbox\" name=\"right\" value=\"{}\"{checked}> {words}</label>", right.as_str())
}

/// Takes the person's decision and sends the browser back to the client.
pub async fn decide(State(oauth): State<OAuth>, headers: HeaderMap, body: Body) -> Response {
    let form = match Form::read(&headers, body, oauth.host.server().request_timeout()).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let (session, login) = match signed_in(&oauth, &headers).await {
        Ok(known) => known,
        Err(response) => return response,
    };
    let query = form.get("request").unwrap_or_default();
    // Both are hashes of what only this server and this browser know, so comparing them tells nothing.
    if form.get("csrf") != Some(csrf_token(&session, query).as_str()) {
        let text = "The decision did not come from the page of this server. Connect the program again.";
        return problem(StatusCode::FORBIDDEN, "Nothing was allowed", text);
    }
    let request = match AuthorizeRequest::check(&oauth, &login, query).await {
        Ok(request) => request,
        Err(response) => return response,
    };
    let chosen: Vec<&str> = form.all("right").collect();
    let rights: Vec<String> = request
        .rights
        .iter()
        .map(|right| right.as_str())
        .filter(|right| chosen.contains(right))
        .map(str::to_owned)
        .collect();
    if form.get("decision") != Some("allow") || rights.is_empty() {
        let AuthorizeRequest { client, butler, .. } = &request;
        let denial = Denial { client_id: &client.id, client_name: &client.name, butler, login: login.id };
        if let Err(error) = oauth::deny(&oauth.host, &login.tenant, denial).await {
            // Nothing is allowed, with or without the event.
            tracing::warn!(%error, "cannot record that a person denied a client access");
        }
        return request.denied();
    }
    match grant(&oauth, &request, &login, rights).await {
        Ok(code) => request.allowed(&code),
        Err(error) => unavailable(&error),
    }
}

async fn grant(
    oauth: &OAuth,
    request: &AuthorizeRequest,
    login: &Login,
    rights: Vec<String>,
) -> Result<String, butler_host::error::HostError> {
    let (code, code_expires_at) = oauth::new_code(&oauth.host, &request.butler)?;
    let now = oauth.host.clock().now();
    let grant = NewGrant {
        id: butler_domain::ids::new_id(now),
        tenant: login.tenant.clone(),
        butler: request.butler.clone(),
        rights,
        client_id: request.client.id.clone(),
        client_name: request.client.name.clone(),
        redirect_uri: request.redirect_uri.clone(),
        login: login.id,
        created_at: now,
        code_hash: hash_token(&code),
        code_challenge: request.challenge.clone(),
        code_expires_at,
    };
    oauth::allow(&oauth.host, &grant).await?;
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_box_of_admin_is_not_checked_beforehand() {
        for (right, checked) in [(Right::Read, true), (Right::Write, true), (Right::Admin, false)] {
            assert_eq!(checkbox(right).contains(" checked>"), checked, "{}", checkbox(right));
        }
    }
}
