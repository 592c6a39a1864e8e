//! `butler token` manages bearer tokens.

use std::collections::BTreeSet;
use std::sync::Arc;

use butler_domain::event::Origin;
use butler_domain::{TenantId, Timestamp};
use butler_host::access::{self, Access, CLI_ACTOR, Lifetime, Rights, new_token};
use butler_host::butler::Butler;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::host::token_changes::{self, NewSecret, homes};
use butler_host::instance::create_data_dir;
use butler_memory::{Caller, CallerTenant};
use butler_store::tokens::{self, Rotation, TokenRow};
use chrono::TimeDelta;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Settings, counted};
use crate::printer::Printer;
use crate::progress;

/// Create, list, rotate and revoke bearer tokens
///
/// As soon as one token exists, every request to /mcp and /api needs a token. A running `butler serve` picks up changes
/// within a second.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler token create --tenant ann --name laptop\n  \
    butler token list\n  \
    butler token rotate 01980c5e-7d5e-7c3a-9f00-5a2b8f0c1d2e --grace 1h\n  \
    butler token revoke 01980c5e-7d5e-7c3a-9f00-5a2b8f0c1d2e")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create a token for a tenant and print it; it cannot be shown again
    ///
    /// The token is valid for all butlers, or only for --butler. Rights: `read` searches and reads, `write` stores and
    /// changes, `admin` runs jobs and forgets entities. `metrics` reads /metrics; it belongs to no tenant and cannot be
    /// combined with others.
    #[command(after_help = "Examples:\n  \
        butler token create --tenant ann\n  \
        butler token create --tenant ann --butler health --rights read --expires 90d\n  \
        butler token create --tenant ops --rights read,write,admin --json\n  \
        butler token create --rights metrics --name prometheus")]
    Create {
        /// Rights of the token, separated by commas
        #[arg(long, value_name = "RIGHTS", default_value = "read,write")]
        rights: Rights,
        /// Lifetime: a number followed by s, m, h, d, w or y, or `never` [default: default_token_lifetime of [server] in
        /// butler.toml, otherwise never]
        #[arg(long, value_name = "TIME")]
        expires: Option<Lifetime>,
        /// Description of what the token is for; no other live token of the tenant and butler may have the same name
        #[arg(long, default_value = "", hide_default_value = true, value_parser = access::token_name)]
        name: String,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// List tokens and their rights; the tokens themselves are not stored
    #[command(after_help = "Examples:\n  butler token list\n  butler token list --tenant ann --json")]
    List {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Give a token a new secret and print it; it cannot be shown again
    ///
    /// The token keeps its id, name, rights, expiry and the tokens it made. The old secret stops working immediately,
    /// or after --grace.
    #[command(after_help = "Examples:\n  \
        butler token rotate 01980c5e-7d5e-7c3a-9f00-5a2b8f0c1d2e\n  \
        butler token rotate 01980c5e-7d5e-7c3a-9f00-5a2b8f0c1d2e --grace 1h --json")]
    Rotate {
        /// Id of the token
        id: Uuid,
        /// How long the old secret still works: a number followed by s, m, h, d, w or y
        #[arg(long, value_name = "TIME", default_value = "0", value_parser = access::grace)]
        grace: TimeDelta,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token, and all tokens it made, immediately and permanently
    #[command(after_help = "Examples:\n  butler token revoke 01980c5e-7d5e-7c3a-9f00-5a2b8f0c1d2e")]
    Revoke {
        /// Id of the token
        id: Uuid,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let host = Host::new(settings.host.clone())?;
    if let Some(name) = &settings.butler {
        host.butler(Some(name))?;
    }
    create_data_dir(&settings.host.data_dir)?;
    host.start_databases(progress::on_stderr(settings.quiet)).await?;
    let outcome = dispatch(args.command, settings, &host, printer).await;
    let stopped = host.stop().await;
    outcome.and(stopped)
}

async fn dispatch(command: Command, settings: &Settings, host: &Host, printer: Printer) -> Result<(), HostError> {
    let now = host.clock().now();
    match command {
        Command::Create { rights, expires, name, json } => {
            if rights.metrics && (settings.tenant.is_some() || settings.butler.is_some()) {
                let message = "a metrics token covers all tenants and butlers";
                return Err(HostError::usage(message, "omit --tenant and --butler"));
            }
            let token = new_token()?;
            let row = TokenRow {
                id: butler_domain::ids::new_id(now),
                tenant: settings.tenant.clone().unwrap_or_default(),
                butler: settings.butler.clone(),
                name,
                hash: tokens::hash(&token),
                rights: rights.iter().map(|right| right.as_str().to_owned()).collect(),
                created_at: now,
                expires_at: access::expiry(now, expires, host.server().default_token_lifetime(), None),
                revoked_at: None,
                last_used_at: None,
                parent: None,
                rotation: None,
            };
            create(host, &row, &token, json, printer).await
        }
        Command::List { json } => list(settings, host, json, printer).await,
        Command::Rotate { id, grace, json } => {
            let row = find(settings, host, id).await?;
            rotate(host, row, grace, json, printer).await
        }
        Command::Revoke { id, json } => {
            let row = find(settings, host, id).await?;
            revoke(host, &row, json, printer).await
        }
    }
}

fn origin() -> Origin {
    Origin { actor: Some(CLI_ACTOR.to_owned()), request_id: None }
}

async fn create(host: &Host, row: &TokenRow, token: &str, json: bool, printer: Printer) -> Result<(), HostError> {
    host.remember_tokens()?;
    for butler in token_changes::create(&homes(&host.butlers(), row), &origin(), row).await? {
        printer.note(format_args!("butler {butler:?} is unreachable and does not have the token yet"));
    }
    print_secret(row, token, row.created_at, json, printer);
    Ok(())
}

async fn rotate(
    host: &Host,
    mut row: TokenRow,
    grace: TimeDelta,
    json: bool,
    printer: Printer,
) -> Result<(), HostError> {
    let (token, now) = (new_token()?, host.clock().now());
    let secret = NewSecret { hash: tokens::hash(&token), grace_until: now + grace };
    for butler in token_changes::rotate(&homes(&host.butlers(), &row), &origin(), now, row.id, secret).await? {
        printer.note(format_args!("butler {butler:?} is unreachable and does not have the new secret yet"));
    }
    row.rotation = Some(Rotation { at: now, previous_hash: row.hash, previous_until: secret.grace_until });
    row.hash = secret.hash;
    print_secret(&row, &token, now, json, printer);
    Ok(())
}

/// Prints a token that has just got this secret.
fn print_secret(row: &TokenRow, token: &str, now: Timestamp, json: bool, printer: Printer) {
    if json {
        let mut shown = describe(row, now);
        shown["token"] = json!(token);
        printer.json(&shown);
        return;
    }
    printer.line(token);
    let butler = row.butler.as_deref().unwrap_or("all butlers");
    let access = match row.of_tenant() {
        Some(tenant) => format!("{butler} for tenant {:?} ({})", tenant.as_str(), row.rights.join(",")),
        None => "/metrics".to_owned(),
    };
    let old = match (row.rotation, row.grace_until(now)) {
        (None, _) => String::new(),
        (Some(_), None) => "The old secret no longer works.\n".to_owned(),
        (Some(_), Some(until)) => format!("The old secret works until {}.\n", at(Some(until))),
    };
    printer.note(format_args!(
        "This token is shown only once. It grants access to {access}; send it as `Authorization: Bearer TOKEN`.\n\
         {old}Revoke it with: butler token revoke {}",
        row.id
    ));
}

async fn list(settings: &Settings, host: &Host, json: bool, printer: Printer) -> Result<(), HostError> {
    let butlers: Vec<Arc<Butler>> = match &settings.butler {
        Some(name) => vec![host.butler(Some(name))?],
        None => host.butlers(),
    };
    let (now, listed) = (host.clock().now(), token_changes::list(&butlers).await?);
    for butler in listed.unreachable {
        printer.note(format_args!("butler {butler:?} is unreachable; its tokens are not listed"));
    }
    let tenant = settings.tenant.as_ref();
    let rows: Vec<TokenRow> =
        listed.parts.into_iter().filter(|row| tenant.is_none() || row.of_tenant() == tenant).collect();
    if json {
        let rows: Vec<Value> = rows.iter().map(|row| describe(row, now)).collect();
        printer.json(&json!({"tokens": rows}));
        return Ok(());
    }
    if rows.is_empty() {
        printer.note("no tokens: the server binds to loopback only and trusts every local client");
        return Ok(());
    }
    printer.line(format_args!(
        "{:<36}  {:<8} {:<12} {:<12} {:<16} {:<17} {:<17} {:<36} name",
        "id", "state", "tenant", "butler", "rights", "expires", "last used", "made by"
    ));
    for row in rows {
        let grace =
            row.grace_until(now).map_or_else(String::new, |until| format!("  (old secret until {})", at(Some(until))));
        printer.line(format_args!(
            "{:<36}  {:<8} {:<12} {:<12} {:<16} {:<17} {:<17} {:<36} {}{grace}",
            row.id,
            row.state(now),
            row.of_tenant().map_or("-", TenantId::as_str),
            row.butler.as_deref().unwrap_or("all"),
            row.rights.join(","),
            at(row.expires_at),
            at(row.last_used_at),
            row.parent.map_or_else(|| "-".to_owned(), |parent| parent.to_string()),
            row.name
        ));
    }
    Ok(())
}

/// Finds a token to change. --tenant and --butler, if given, must name its tenant and its butler.
async fn find(settings: &Settings, host: &Host, id: Uuid) -> Result<TokenRow, HostError> {
    let listed = token_changes::list(&host.butlers()).await?;
    let Some(row) = listed.parts.into_iter().find(|row| row.id == id) else {
        return Err(match listed.unreachable.first() {
            Some(butler) => HostError::Failed(format!(
                "butler {butler:?} is unreachable, and no other butler has the token {id}: run this again when it is \
                 reachable"
            )),
            None => HostError::UnknownToken { id },
        });
    };
    let tenant = settings.tenant.clone().map_or(CallerTenant::Trusted, CallerTenant::Token);
    let scope =
        Access { caller: Caller { tenant, ..Caller::trusted() }, butler: settings.butler.clone(), ..Access::trusted() };
    if scope.may_manage(&row) {
        return Ok(row);
    }
    let tenant = row.of_tenant().map_or("all tenants".to_owned(), |tenant| format!("tenant {:?}", tenant.as_str()));
    let butler = row.butler.as_ref().map_or("all butlers".to_owned(), |butler| format!("butler {butler:?}"));
    Err(HostError::usage(format!("the token {id} is for {tenant} and {butler}"), "omit --tenant and --butler"))
}

async fn revoke(host: &Host, row: &TokenRow, json: bool, printer: Printer) -> Result<(), HostError> {
    let butlers = homes(&host.butlers(), row);
    let done = token_changes::revoke(&butlers, &origin(), host.clock().now(), row.id).await?;
    if let Some(butler) = done.unreachable.first() {
        return Err(HostError::Failed(format!(
            "butler {butler:?} is unreachable; the token is revoked in all others: run this again when it is reachable"
        )));
    }
    let mut descendants: BTreeSet<Uuid> = done.parts.into_iter().flatten().collect();
    descendants.remove(&row.id);
    if json {
        printer.json(&json!({"id": row.id, "revoked": true, "descendants": descendants}));
        return Ok(());
    }
    printer.line(format_args!("revoked token {}", row.id));
    if !descendants.is_empty() {
        printer.line(format_args!("revoked {} that it made", counted(descendants.len(), "token")));
    }
    Ok(())
}

fn describe(row: &TokenRow, now: Timestamp) -> Value {
    json!({
        "id": row.id, "tenant": row.of_tenant(), "butler": row.butler, "name": row.name, "rights": row.rights,
        "state": row.state(now), "created_at": row.created_at, "expires_at": row.expires_at,
        "revoked_at": row.revoked_at, "last_used_at": row.last_used_at, "parent_id": row.parent,
        "rotated_at": row.rotated_at(), "grace_until": row.grace_until(now),
    })
}

fn at(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| time.format("%Y-%m-%d %H:%MZ").to_string())
}
