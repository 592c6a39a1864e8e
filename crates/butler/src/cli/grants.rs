//! `butler grants` lists and revokes what people allowed OAuth clients.

use butler_domain::Timestamp;
use butler_domain::event::Origin;
use butler_host::access::CLI_ACTOR;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::host::token_changes;
use butler_host::instance::create_data_dir;
use butler_host::oauth::{Grant, all_grants};
use serde_json::{Value, json};
use uuid::Uuid;

use super::Settings;
use crate::printer::Printer;
use crate::progress;

/// List and revoke the grants of OAuth clients
///
/// A grant is what somebody allowed a client on the consent page. Revoking it takes effect within a second.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler grants list\n  \
    butler grants revoke 01980c5e-7d5e-7c3a-9f00-5a2b8f0c1d2e")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the grants with their clients and rights
    #[command(after_help = "Examples:\n  butler grants list\n  butler grants list --tenant ann --json")]
    List {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a grant: the client has to ask again
    #[command(after_help = "Examples:\n  butler grants revoke 01980c5e-7d5e-7c3a-9f00-5a2b8f0c1d2e")]
    Revoke {
        /// Id of the grant
        id: Uuid,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let host = Host::new(settings.host.clone())?;
    create_data_dir(&settings.host.data_dir)?;
    host.start_databases(progress::on_stderr(settings.quiet)).await?;
    let outcome = dispatch(args.command, settings, &host, printer).await;
    let stopped = host.stop().await;
    outcome.and(stopped)
}

async fn dispatch(command: Command, settings: &Settings, host: &Host, printer: Printer) -> Result<(), HostError> {
    let (tenant, butler) = (settings.tenant.as_ref(), settings.butler.as_ref());
    let mut grants = all_grants(host).await?;
    grants.retain(|grant| {
        tenant.is_none_or(|tenant| *tenant == grant.tenant) && butler.is_none_or(|butler| *butler == grant.butler)
    });
    match command {
        Command::List { json } => {
            list(&grants, host.clock().now(), json, printer);
            Ok(())
        }
        Command::Revoke { id, json } => {
            let grant = grants.iter().find(|grant| grant.id == id).ok_or_else(|| {
                HostError::usage(format!("there is no grant {id}"), "`butler grants list` shows all grants")
            })?;
            let origin = Origin { actor: Some(CLI_ACTOR.to_owned()), request_id: None };
            let home = host.butler(Some(&grant.butler))?;
            token_changes::revoke(&[home], &origin, host.clock().now(), id).await?;
            if json {
                printer.json(&json!({"id": id, "revoked": true}));
            } else {
                printer.line(format_args!("revoked the grant of {}", grant.client_name));
            }
            Ok(())
        }
    }
}

fn list(grants: &[Grant], now: Timestamp, json: bool, printer: Printer) {
    if json {
        let rows: Vec<Value> = grants.iter().map(|grant| describe(grant, now)).collect();
        printer.json(&json!({"grants": rows}));
        return;
    }
    if grants.is_empty() {
        printer.note("no grants: no OAuth client was allowed anything");
        return;
    }
    printer.line(format_args!(
        "{:<36}  {:<8} {:<12} {:<12} {:<16} {:<17} {:<17} client",
        "id", "state", "tenant", "butler", "rights", "expires", "last used"
    ));
    for grant in grants {
        printer.line(format_args!(
            "{:<36}  {:<8} {:<12} {:<12} {:<16} {:<17} {:<17} {}",
            grant.id,
            grant.state(now),
            grant.tenant.as_str(),
            grant.butler,
            grant.rights.join(","),
            at(Some(grant.expires_at)),
            at(grant.last_used_at),
            grant.client_name
        ));
    }
}

fn describe(grant: &Grant, now: Timestamp) -> Value {
    json!({
        "id": grant.id, "client_id": grant.client_id, "client_name": grant.client_name,
        "redirect_uri": grant.redirect_uri, "tenant": grant.tenant, "butler": grant.butler, "rights": grant.rights,
        "state": grant.state(now), "created_at": grant.created_at, "expires_at": grant.expires_at,
        "revoked_at": grant.revoked_at, "last_used_at": grant.last_used_at,
    })
}

fn at(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| time.format("%Y-%m-%d %H:%MZ").to_string())
}
