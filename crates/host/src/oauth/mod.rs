//! OAuth for remote clients: who is signed in, what a person allowed, and the tokens of it. A grant's access token is an
//! ordinary token, so rights, revocation and audit have one home (`access`).

mod client_document;
mod issue;
mod redirect;
mod sign_in;

use std::sync::Arc;

use butler_domain::event::Origin;
use butler_store::{Conn, StoreError};
use chrono::TimeDelta;

pub use butler_store::oauth::{Client, Denial, Grant, Login, NewGrant, Outcome};
pub use client_document::{ClientDocuments, DocumentError};
pub use issue::{
    Credential, Issued, Presented, all_grants, allow, challenge_of, deny, issue, list_grants, new_code, revoke,
};
pub use redirect::{check_redirect, origin, redirect_matches};
pub use sign_in::{client, login, login_link, open_session, register};

use crate::access::hash_token;
use crate::butler::Butler;
use crate::error::HostError;
use crate::host::Host;

/// How long a stolen access token is of use. Clients refresh it by themselves.
pub const ACCESS_LIFETIME: TimeDelta = TimeDelta::hours(1);
/// A client that was unused for this long needs the person's consent again.
const REFRESH_LIFETIME: TimeDelta = TimeDelta::days(30);
/// The client exchanges the code at once.
const CODE_LIFETIME: TimeDelta = TimeDelta::seconds(60);
/// Requests that are in flight while a client refreshes still carry the old access token.
const REFRESH_GRACE: TimeDelta = TimeDelta::seconds(60);
/// A client with several requests under way refreshes more than once with the same token. After this, it is reuse.
const PARALLEL_REFRESH: TimeDelta = TimeDelta::seconds(10);
/// Time to carry the link from a terminal to a browser.
const LINK_LIFETIME: TimeDelta = TimeDelta::minutes(10);
/// Time to connect some clients without another link.
pub const SESSION_LIFETIME: TimeDelta = TimeDelta::hours(1);

/// Who the audit events of the OAuth endpoints name. Their payload names the client or the login.
fn audit_origin() -> Origin {
    Origin { actor: Some("oauth".to_owned()), request_id: None }
}

/// The database with clients and logins.
async fn home(host: &Host) -> Result<(Arc<Butler>, Conn), HostError> {
    let butler = host.butler(None)?;
    let conn = connect(&butler).await?;
    Ok((butler, conn))
}

async fn connect(butler: &Butler) -> Result<Conn, HostError> {
    let connected = match butler.database() {
        Some(database) => database.owner().await,
        None => Err(StoreError::Unavailable { reason: "the butler has not started".to_owned() }),
    };
    connected.map_err(failed(butler))
}

fn failed(butler: &Butler) -> impl FnOnce(StoreError) -> HostError {
    let butler = butler.name.to_string();
    move |source| HostError::Store { butler, source }
}
