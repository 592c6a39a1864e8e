//! What clients read first: the metadata of the protected resources (RFC 9728) and of the authorization server (RFC 8414).

use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use butler_host::host::Host;
use butler_memory::tool::ErrorCode;
use serde_json::{Value, json};

use super::OAuth;
use crate::http::reject;

/// What a client gets unless it asks for something else. `admin` is for clients that name it.
pub(super) const DEFAULT_SCOPES: [&str; 2] = ["read", "write"];

/// The public URL of a path on this server.
pub(super) fn address(public_url: &str, path: &str) -> String {
    format!("{public_url}/{path}")
}

/// The name of the butler that an MCP path such as `butlers/health/mcp` leads to; `None` if there is none.
pub(super) fn butler_at(host: &Host, path: &str) -> Option<String> {
    let path = path.trim_matches('/');
    let name = match path.strip_prefix("butlers/") {
        Some(rest) => Some(rest.strip_suffix("/mcp")?),
        None if path == "mcp" => None,
        None => return None,
    };
    host.butler(name).ok().map(|butler| butler.name.to_string())
}

/// The butler that a resource indicator (RFC 8707) names; `None` if it names none of this server. The query, such as
/// `profile=core`, selects what a client is offered and not what it may do, so a grant does not depend on it.
pub(super) fn resource_of(host: &Host, resource: &str) -> Option<String> {
    let path = resource.strip_prefix(host.server().public_url()?)?.strip_prefix('/')?;
    if resource.contains('#') {
        return None;
    }
    butler_at(host, path.split('?').next()?)
}

/// A path with its query. A client compares the resource with the address that it was given (RFC 9728, section 3.3), so the
/// query belongs to it.
pub(super) fn with_query(path: &str, query: Option<&str>) -> String {
    // The address also stands between quotation marks, in a header.
    match query.filter(|query| !query.is_empty() && !query.contains(['"', '\\'])) {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    }
}

fn of_resource(oauth: &OAuth, path: &str, query: Option<&str>) -> Response {
    let path = path.trim_matches('/');
    let Some(butler) = butler_at(&oauth.host, path) else {
        let message = format!("there is no MCP endpoint /{path}");
        return reject(
            StatusCode::NOT_FOUND,
            ErrorCode::NotFound,
            &message,
            Some("MCP is at /mcp and /butlers/{name}/mcp"),
        );
    };
    Json(json!({
        "resource": address(&oauth.public_url, &with_query(path, query)),
        "resource_name": format!("Butler Memory: {butler}"),
        "authorization_servers": [oauth.public_url],
        "scopes_supported": DEFAULT_SCOPES,
        "bearer_methods_supported": ["header"],
    }))
    .into_response()
}

/// `/.well-known/oauth-protected-resource`: the first butler's.
pub async fn first_resource(State(oauth): State<OAuth>) -> Response {
    of_resource(&oauth, "mcp", None)
}

/// `/.well-known/oauth-protected-resource/{path of the MCP endpoint}`.
pub async fn resource(State(oauth): State<OAuth>, Path(path): Path<String>, RawQuery(query): RawQuery) -> Response {
    of_resource(&oauth, &path, query.as_deref())
}

/// `/.well-known/oauth-authorization-server`, and the same below it for clients that append the path of the resource.
pub async fn server(State(oauth): State<OAuth>) -> Json<Value> {
    let url = &oauth.public_url;
    Json(json!({
        "issuer": url,
        "authorization_endpoint": address(url, "oauth/authorize"),
        "token_endpoint": address(url, "oauth/token"),
        "registration_endpoint": address(url, "oauth/register"),
        "revocation_endpoint": address(url, "oauth/revoke"),
        // Some clients ask for all of these, so `admin` is not among them.
        "scopes_supported": DEFAULT_SCOPES,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "client_id_metadata_document_supported": true,
        "authorization_response_iss_parameter_supported": true,
    }))
}
