//! What a client asks for at `/oauth/authorize`, checked.

use axum::http::StatusCode;
use axum::response::Response;
use butler_host::access::{Right, Rights};
use butler_host::oauth::{self, Client, ClientDocuments, Login, redirect_matches};
use url::Url;

use super::OAuth;
use super::error::OAuthCode;
use super::form::Form;
use super::login::unavailable;
use super::metadata::{DEFAULT_SCOPES, resource_of};
use super::page::{problem, redirect};

/// A SHA-256 in base64url.
const CHALLENGE_CHARS: usize = 43;

pub struct AuthorizeRequest {
    pub client: Client,
    pub redirect_uri: String,
    pub challenge: String,
    pub butler: String,
    /// What the client asks for and the person may allow.
    pub rights: Vec<Right>,
    back: Back,
}

/// How to send the browser back to the client.
struct Back {
    redirect_uri: String,
    state: Option<String>,
    issuer: String,
}

impl Back {
    fn with(&self, parameters: &[(&str, &str)]) -> Response {
        let Ok(mut url) = Url::parse(&self.redirect_uri) else {
            return problem(StatusCode::BAD_REQUEST, INVALID, "The redirect URI is not a URL.");
        };
        url.query_pairs_mut()
            .extend_pairs(parameters)
            .extend_pairs(self.state.iter().map(|state| ("state", state)))
            .append_pair("iss", &self.issuer);
        redirect(url.as_str())
    }

    fn error(&self, code: OAuthCode, description: &str) -> Response {
        self.with(&[("error", code.as_str()), ("error_description", description)])
    }
}

const INVALID: &str = "This request is not valid";

impl AuthorizeRequest {
    /// Checks a request. The error is the response to send: a page while it is not certain where the client is, and
    /// otherwise a redirect that tells the client.
    pub async fn check(oauth: &OAuth, login: &Login, query: &str) -> Result<Self, Response> {
        let form = Form::parse(query);
        let invalid = |text: &str| problem(StatusCode::BAD_REQUEST, INVALID, text);
        if let Some(name) = form.repeated() {
            return Err(invalid(&format!("The parameter {name:?} is given twice.")));
        }
        let client_id = form.get("client_id").ok_or_else(|| invalid("The client_id is missing."))?;
        let client = find_client(oauth, client_id).await?;
        let redirect_uri = match (form.get("redirect_uri"), &client.redirect_uris[..]) {
            (Some(uri), registered) if registered.iter().any(|known| redirect_matches(known, uri)) => uri,
            (Some(_), _) => return Err(invalid("The redirect_uri is not one that the client registered.")),
            (None, [only]) => only,
            (None, _) => return Err(invalid("The redirect_uri is missing.")),
        }
        .to_owned();
        let back = Back {
            redirect_uri: redirect_uri.clone(),
            state: form.get("state").map(str::to_owned),
            issuer: oauth.public_url.clone(),
        };
        if form.get("response_type") != Some("code") {
            return Err(back.error(OAuthCode::UnsupportedResponseType, "response_type must be code"));
        }
        let challenge = match (form.get("code_challenge"), form.get("code_challenge_method")) {
            (Some(challenge), Some("S256")) if challenge.len() == CHALLENGE_CHARS => challenge.to_owned(),
            _ => return Err(back.error(OAuthCode::InvalidRequest, "a code_challenge by the method S256 is needed")),
        };
        let butler = butler(oauth, &form).map_err(|problem| back.error(OAuthCode::InvalidTarget, &problem))?;
        if login.butler.as_ref().is_some_and(|own| *own != butler) {
            return Err(back.error(OAuthCode::AccessDenied, "the person may not give access to this butler"));
        }
        let rights = rights(form.get("scope").unwrap_or_default(), login);
        if rights.is_empty() {
            return Err(back.error(
                OAuthCode::InvalidScope,
                "the person may allow none of the scopes; there are: read, write, admin",
            ));
        }
        Ok(Self { client, redirect_uri, challenge, butler, rights, back })
    }

    pub fn denied(&self) -> Response {
        self.back.error(OAuthCode::AccessDenied, "the person did not allow it")
    }

    pub fn allowed(&self, code: &str) -> Response {
        self.back.with(&[("code", code)])
    }
}

async fn find_client(oauth: &OAuth, id: &str) -> Result<Client, Response> {
    let unknown = |text: &str| problem(StatusCode::BAD_REQUEST, "This client is not known", text);
    if ClientDocuments::is_address(id) {
        let client = oauth.documents.client(id, oauth.host.clock().now()).await;
        return client.map_err(|error| unknown(&error.to_string()));
    }
    match oauth::client(&oauth.host, id).await {
        Ok(Some(client)) => Ok(client),
        Ok(None) => Err(unknown("Its registration is not here. Remove the connection in the client and add it again.")),
        Err(error) => Err(unavailable(&error)),
    }
}

/// The butler of the resource. Without a resource, the only butler.
fn butler(oauth: &OAuth, form: &Form) -> Result<String, String> {
    if let Some(resource) = form.get("resource") {
        return resource_of(&oauth.host, resource)
            .ok_or_else(|| format!("{resource:?} is not an MCP endpoint of this server"));
    }
    match &oauth.host.butlers()[..] {
        [only] => Ok(only.name.to_string()),
        _ => Err("the resource is missing, and this server has several".to_owned()),
    }
}

/// Scopes are the names of rights; others are ignored. A client that names no right gets `read` and `write`.
fn rights(scope: &str, login: &Login) -> Vec<Right> {
    let mut requested = Rights::named(scope.split(' '));
    if requested.iter().next().is_none() {
        requested = Rights::named(DEFAULT_SCOPES.into_iter());
    }
    let may = Rights::named(login.rights.iter().map(String::as_str));
    requested.iter().filter(|right| may.include(*right)).collect()
}

#[cfg(test)]
mod tests {
    use butler_domain::TenantId;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_client_that_names_no_right_gets_the_default_rights() {
        let login = Login {
            id: Uuid::nil(),
            tenant: TenantId::default(),
            butler: None,
            rights: ["read", "write", "admin"].map(str::to_owned).to_vec(),
        };
        let names =
            |scope: &str| -> Vec<&'static str> { rights(scope, &login).into_iter().map(Right::as_str).collect() };
        for scope in ["", "openid", "openid offline_access"] {
            assert_eq!(names(scope), ["read", "write"], "{scope:?}");
        }
        assert_eq!(names("openid read"), ["read"]);
        assert_eq!(names("admin read"), ["read", "admin"]);
        assert!(names("metrics").is_empty(), "nobody can allow it");
    }
}
