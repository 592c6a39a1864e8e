//! `butler token reset` deletes all tokens, so that requests need none again.

use butler_host::error::HostError;
use butler_host::host::{Host, token_changes};
use butler_host::instance;
use serde_json::json;

use super::{Settings, counted};
use crate::printer::Printer;

/// Deletes all tokens of all butlers if none of them is valid. The server must be stopped: it would copy tokens from one
/// database to another meanwhile, and would accept requests without a token at once.
pub async fn reset(settings: &Settings, host: &Host, json: bool, printer: Printer) -> Result<(), HostError> {
    if settings.tenant.is_some() || settings.butler.is_some() {
        return Err(HostError::usage(
            "a reset deletes the tokens of all tenants and butlers",
            "omit --tenant and --butler",
        ));
    }
    if let Some(server) = instance::running(&settings.host.data_dir) {
        let problem = "the server is running";
        return Err(HostError::Failed(format!("{problem}: stop it first with `kill {}`", server.pid)));
    }
    let listed = token_changes::list(&host.butlers()).await?;
    if let Some(butler) = listed.unreachable.first() {
        return Err(HostError::Failed(format!("butler {butler:?} is unreachable, so nothing was deleted")));
    }
    let now = host.clock().now();
    if let Some(valid) = listed.parts.iter().find(|row| row.state(now) == "active") {
        return Err(HostError::Failed(format!(
            "token {} is still valid, so nothing was deleted: revoke it with `butler token revoke {}`",
            valid.id, valid.id
        )));
    }
    token_changes::delete_all(&host.butlers()).await?;
    host.forget_tokens()?;
    if json {
        printer.json(&json!({"deleted": listed.parts.len()}));
    } else {
        printer.line(format_args!("deleted {}; requests need no token now", counted(listed.parts.len(), "token")));
    }
    Ok(())
}
