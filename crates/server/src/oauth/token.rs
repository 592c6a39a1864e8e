//! `POST /oauth/token`: exchanges a code or a refresh token for an access token.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use butler_host::oauth::{self, ACCESS_LIFETIME, ClientDocuments, Credential, Issued, Outcome, Presented};
use serde_json::json;

use super::OAuth;
use super::error::{OAuthCode, OAuthError};
use super::form::Form;
use super::metadata::resource_of;

pub async fn token(State(oauth): State<OAuth>, headers: HeaderMap, body: Body) -> Response {
    let form = match Form::read(&headers, body, oauth.host.server().request_timeout()).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    match issue(&oauth, &form).await {
        Ok(issued) => answer(&issued),
        Err(error) => error.into_response(),
    }
}

async fn issue(oauth: &OAuth, form: &Form) -> Result<Issued, OAuthError> {
    if let Some(name) = form.repeated() {
        return Err(OAuthError::invalid_request(format!("{name} is given twice")));
    }
    let needed = |name: &str| form.get(name).ok_or_else(|| OAuthError::invalid_request(format!("{name} is missing")));
    let grant_type = needed("grant_type")?;
    let butler = match form.get("resource") {
        Some(resource) => Some(resource_of(&oauth.host, resource).ok_or_else(|| not_here(resource))?),
        None => None,
    };
    let presented = Presented { client_id: needed("client_id")?, butler: butler.as_deref() };
    let _turn = oauth.turn().await;
    let credential = match grant_type {
        "authorization_code" => Credential::Code {
            code: needed("code")?,
            verifier: needed("code_verifier")?,
            redirect_uri: form.get("redirect_uri"),
        },
        "refresh_token" => Credential::RefreshToken(needed("refresh_token")?),
        other => return Err(OAuthError::new(OAuthCode::UnsupportedGrantType, format!("{other:?} is not supported"))),
    };
    match oauth::issue(&oauth.host, credential, presented).await? {
        Ok(issued) => Ok(issued),
        Err(Outcome::OtherResource) => {
            Err(OAuthError::new(OAuthCode::InvalidTarget, "the grant is for another resource"))
        }
        Err(_) if !is_known(oauth, presented.client_id).await? => {
            Err(OAuthError::new(OAuthCode::InvalidClient, "the client is not registered here; register it again")
                .with_status(StatusCode::UNAUTHORIZED))
        }
        Err(refused) => Err(OAuthError::new(OAuthCode::InvalidGrant, reason(&refused))),
    }
}

/// Whether a client is registered or described by a document. Hosted clients register again if they are told.
async fn is_known(oauth: &OAuth, client_id: &str) -> Result<bool, OAuthError> {
    Ok(ClientDocuments::is_address(client_id) || oauth::client(&oauth.host, client_id).await?.is_some())
}

fn not_here(resource: &str) -> OAuthError {
    OAuthError::new(OAuthCode::InvalidTarget, format!("{resource:?} is not an MCP endpoint of this server"))
}

fn reason(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Expired => "it has expired",
        Outcome::Revoked => "the grant was revoked",
        Outcome::UsedAgain => "it was used before; the grant is revoked",
        Outcome::Mismatch => "it was issued to another client, redirect URI or code verifier",
        Outcome::Unknown | Outcome::OtherResource | Outcome::Issued(_) | Outcome::Repeated(..) => "it is unknown",
    }
}

fn answer(issued: &Issued) -> Response {
    let body = Json(json!({
        "access_token": issued.access_token,
        "token_type": "Bearer",
        "expires_in": ACCESS_LIFETIME.num_seconds(),
        "refresh_token": issued.refresh_token,
        "scope": issued.grant.rights.join(" "),
    }));
    ([(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")], body).into_response()
}
