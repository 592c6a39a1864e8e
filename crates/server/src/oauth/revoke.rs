//! `POST /oauth/revoke`: a client gives back what it was granted (RFC 7009).

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use butler_host::oauth;

use super::OAuth;
use super::error::OAuthError;
use super::form::Form;

/// An unknown token is answered with 200, so that nobody learns which tokens exist.
pub async fn revoke(State(oauth): State<OAuth>, headers: HeaderMap, body: Body) -> Response {
    let form = match Form::read(&headers, body, oauth.host.server().request_timeout()).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let (Some(token), Some(client_id)) = (form.get("token"), form.get("client_id")) else {
        return OAuthError::invalid_request("token and client_id are needed").into_response();
    };
    let _turn = oauth.turn().await;
    match oauth::revoke(&oauth.host, token, client_id).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(error) => OAuthError::from(error).into_response(),
    }
}
