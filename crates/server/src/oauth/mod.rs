//! OAuth 2.1 for remote MCP clients, as the MCP specification of 2025-11-25 describes it. All of this exists only with
//! `public_url` in `[server]`. One endpoint a file; grants and tokens are `butler_host::oauth`.

mod authorize;
mod authorize_request;
mod challenge;
mod error;
mod form;
mod login;
mod metadata;
mod page;
mod register;
mod revoke;
mod token;

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use butler_host::access::Limiter;
use butler_host::host::Host;
use butler_host::oauth::ClientDocuments;
use tokio::sync::{Semaphore, SemaphorePermit};

pub use challenge::offer_login;

/// Registrations per second from one network, with a burst of ten seconds' worth. Each client registers once.
const REGISTRATIONS_PER_SECOND: u32 = 1;
/// Registrations per second from all networks together. There is room for a thousand clients, so a flood from many networks
/// needs more than a minute to remove a client that nobody has allowed yet.
const ALL_REGISTRATIONS_PER_SECOND: u32 = 10;
/// Requests of strangers that use a database at once. A butler has four connections for such work, and tokens and jobs
/// need them too.
const TURNS: usize = 2;

#[derive(Clone)]
pub struct OAuth(Arc<Shared>);

pub struct Shared {
    host: Arc<Host>,
    /// The issuer. All addresses begin with it.
    public_url: String,
    documents: ClientDocuments,
    registrations: Limiter<IpAddr>,
    all_registrations: Limiter<()>,
    turns: Semaphore,
}

impl Shared {
    /// Waits until one of [`TURNS`] is free. Whoever has it uses one database connection at a time.
    async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // It fails only if the semaphore is closed, which never happens.
        self.turns.acquire().await.ok()
    }
}

impl std::ops::Deref for OAuth {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// The OAuth endpoints; `None` if the server has no public URL.
pub fn router(host: &Arc<Host>) -> Option<Router<Arc<Host>>> {
    let public_url = host.server().public_url()?.to_owned();
    let shared = Shared {
        host: Arc::clone(host),
        public_url,
        documents: ClientDocuments::default(),
        registrations: Limiter::new(REGISTRATIONS_PER_SECOND),
        all_registrations: Limiter::new(ALL_REGISTRATIONS_PER_SECOND),
        turns: Semaphore::new(TURNS),
    };
    let router = Router::new()
        .route("/.well-known/oauth-protected-resource", get(metadata::first_resource))
        .route("/.well-known/oauth-protected-resource/{*path}", get(metadata::resource))
        .route("/.well-known/oauth-authorization-server", get(metadata::server))
        .route("/.well-known/oauth-authorization-server/{*path}", get(metadata::server))
        .route("/oauth/register", post(register::register))
        .route("/oauth/authorize", get(authorize::show).post(authorize::decide))
        .route("/oauth/login", get(login::show).post(login::sign_in))
        .route("/oauth/style.css", get(page::style))
        .route("/oauth/token", post(token::token))
        .route("/oauth/revoke", post(revoke::revoke))
        .with_state(OAuth(Arc::new(shared)));
    Some(router)
}
