//! Clients that registered themselves, and people who sign in with a link.

use butler_domain::TenantId;
use butler_store::OwnerContext;
use butler_store::oauth::{self, Client, Login, NewLogin};

use super::{LINK_LIFETIME, SESSION_LIFETIME, audit_origin, failed, hash_token, home};
use crate::access::{Rights, random};
use crate::error::HostError;
use crate::host::Host;

/// Lets people and secret scanners recognize the code of a link.
const LINK_PREFIX: &str = "btk_";

/// Stores a new client under a random id. `None` if there are too many clients.
pub async fn register(host: &Host, name: String, redirect_uris: Vec<String>) -> Result<Option<Client>, HostError> {
    let (butler, mut conn) = home(host).await?;
    let client = Client { id: random()?, name, redirect_uris, created_at: host.clock().now() };
    let stored = oauth::register(&mut conn, &client).await.map_err(failed(&butler))?;
    Ok(stored.then_some(client))
}

/// The registered client with this id.
pub async fn client(host: &Host, id: &str) -> Result<Option<Client>, HostError> {
    let (butler, mut conn) = home(host).await?;
    oauth::client(&mut conn, id).await.map_err(failed(&butler))
}

/// Creates a link that signs a person in once. Returns its code.
pub async fn login_link(
    host: &Host,
    tenant: TenantId,
    butler: Option<String>,
    rights: Rights,
) -> Result<(String, NewLogin), HostError> {
    let (first, mut conn) = home(host).await?;
    let (now, code) = (host.clock().now(), format!("{LINK_PREFIX}{}", random()?));
    let login = NewLogin {
        id: butler_domain::ids::new_id(now),
        tenant,
        butler,
        rights: rights.iter().map(|right| right.as_str().to_owned()).collect(),
        link_hash: hash_token(&code),
        link_expires_at: now + LINK_LIFETIME,
        created_at: now,
    };
    oauth::create_login(&mut conn, &login).await.map_err(failed(&first))?;
    Ok((code, login))
}

/// Uses the code of a link. Returns the session's cookie; `None` if the code is unknown, used or expired.
pub async fn open_session(host: &Host, code: &str) -> Result<Option<String>, HostError> {
    let (butler, mut conn) = home(host).await?;
    let (now, cookie) = (host.clock().now(), random()?);
    let (link, session) = (hash_token(code), hash_token(&cookie));
    let write = OwnerContext { session: &mut conn, now, origin: &audit_origin() };
    let opened = oauth::open_session(write, &link, &session, now + SESSION_LIFETIME).await;
    Ok(opened.map_err(failed(&butler))?.then_some(cookie))
}

/// The person that a session's cookie stands for.
pub async fn login(host: &Host, cookie: &str) -> Result<Option<Login>, HostError> {
    let (butler, mut conn) = home(host).await?;
    oauth::login_by_session(&mut conn, &hash_token(cookie), host.clock().now()).await.map_err(failed(&butler))
}
