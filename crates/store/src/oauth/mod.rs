//! What OAuth keeps: clients, logins and grants. Secrets are kept as SHA-256 only. All on an owner's session, like tokens.

mod clients;
mod grants;
mod issue;
mod logins;

pub use clients::{Client, client, mark_granted, register};
pub use grants::{Denial, Grant, NewGrant, allow, deny, list, revoke};
pub use issue::{CodeUse, NewSecrets, Outcome, RefreshUse, Seed, exchange, refresh};
pub use logins::{Login, NewLogin, create_login, login_by_session, open_session};

use crate::{Session, StoreError};

/// Ends all logins and refreshes after a restore: a backup holds secrets that were replaced since. Clients log in again.
pub async fn end_after_restore(session: &mut Session) -> Result<(), StoreError> {
    session.run(|pg| sqlx::query!("DELETE FROM oauth_refresh_tokens").execute(pg)).await?;
    session.run(|pg| sqlx::query!("DELETE FROM oauth_logins").execute(pg)).await?;
    Ok(())
}
