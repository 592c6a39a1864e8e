//! Tells a client that an MCP endpoint rejected where to find the OAuth metadata (RFC 9728).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use butler_host::host::Host;

use super::metadata::{DEFAULT_SCOPES, address, butler_at, with_query};

/// Adds the URL of the metadata to the `WWW-Authenticate` header of a 401, if the endpoint supports OAuth.
pub async fn offer_login(State(host): State<Arc<Host>>, request: Request, next: Next) -> Response {
    let uri = request.uri().clone();
    let mut response = next.run(request).await;
    let current = response.headers().get(header::WWW_AUTHENTICATE);
    if let Some(challenge) = current.and_then(|current| with_login(&host, &uri, current)) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// The challenge with the URL of the metadata and the scopes. `None` if the path is not an MCP endpoint, or the server has no
/// public URL.
fn with_login(host: &Host, uri: &Uri, current: &HeaderValue) -> Option<HeaderValue> {
    let path = uri.path().trim_matches('/');
    butler_at(host, path)?;
    let path = format!(".well-known/oauth-protected-resource/{}", with_query(path, uri.query()));
    let metadata = address(host.server().public_url()?, &path);
    let scope = DEFAULT_SCOPES.join(" ");
    let current = current.to_str().ok()?;
    HeaderValue::from_str(&format!("{current}, resource_metadata=\"{metadata}\", scope=\"{scope}\"")).ok()
}
