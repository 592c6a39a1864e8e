//! `POST /oauth/register`: a client registers itself (RFC 7591). Clients have no secret; PKCE protects their codes.

use std::time::Instant;

use axum::Json;
use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use butler_host::access::token_name;
use butler_host::oauth;
use serde::Deserialize;
use serde_json::json;

use super::OAuth;
use super::error::{OAuthCode, OAuthError};
use crate::http::{ClientConnection, HttpCode, client_network, is_json, read_body_up_to, reject};

/// Clients have one to three.
const MAX_REDIRECT_URIS: usize = 20;
/// Longer than the metadata of any real client.
const MAX_BYTES: usize = 64 * 1024;

#[derive(Deserialize)]
struct Registration {
    client_name: Option<String>,
    #[serde(default)]
    redirect_uris: Vec<String>,
}

pub async fn register(
    State(oauth): State<OAuth>,
    ConnectInfo(client): ConnectInfo<ClientConnection>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let now = Instant::now();
    let network = client_network(client.network(), &headers, oauth.host.server().behind_proxy);
    // One network first: what it is refused is left for the others.
    let taken = oauth.registrations.take(network, now).and_then(|()| oauth.all_registrations.take((), now));
    if let Err(wait) = taken {
        let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
        let hint = format!("wait {seconds} s");
        let mut response = reject(
            StatusCode::TOO_MANY_REQUESTS,
            HttpCode::RateLimited,
            "too many clients register at once",
            Some(&hint),
        );
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        return response;
    }
    let bytes = match read_body_up_to(body, MAX_BYTES, oauth.host.server().request_timeout()).await {
        Ok(bytes) if is_json(&headers) => bytes,
        Ok(_) => {
            return OAuthError::new(OAuthCode::InvalidClientMetadata, "send the metadata as application/json")
                .into_response();
        }
        Err(response) => return response,
    };
    match stored(&oauth, &bytes).await {
        Ok(response) => response,
        Err(error) => error.into_response(),
    }
}

async fn stored(oauth: &OAuth, bytes: &[u8]) -> Result<Response, OAuthError> {
    let wanted: Registration = serde_json::from_slice(bytes).map_err(|error| {
        OAuthError::new(OAuthCode::InvalidClientMetadata, format!("the metadata cannot be read: {error}"))
    })?;
    let invalid = |problem: String| OAuthError::new(OAuthCode::InvalidRedirectUri, problem);
    if wanted.redirect_uris.is_empty() || wanted.redirect_uris.len() > MAX_REDIRECT_URIS {
        return Err(invalid(format!("redirect_uris must have 1 to {MAX_REDIRECT_URIS} entries")));
    }
    for uri in &wanted.redirect_uris {
        oauth::check_redirect(uri).map_err(invalid)?;
    }
    let name = token_name(wanted.client_name.as_deref().unwrap_or_default());
    let name =
        name.map_err(|problem| OAuthError::new(OAuthCode::InvalidClientMetadata, format!("client_name: {problem}")))?;
    let name = if name.is_empty() { "unnamed client".to_owned() } else { name };
    let Some(client) = oauth::register(&oauth.host, name, wanted.redirect_uris).await? else {
        return Err(OAuthError::new(OAuthCode::TemporarilyUnavailable, "too many clients are registered")
            .with_status(StatusCode::SERVICE_UNAVAILABLE));
    };
    let body = Json(json!({
        "client_id": client.id,
        "client_id_issued_at": client.created_at.timestamp(),
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }));
    Ok((StatusCode::CREATED, [(header::CACHE_CONTROL, "no-store")], body).into_response())
}
