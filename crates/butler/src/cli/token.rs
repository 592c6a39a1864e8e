//! `butler token` manages bearer tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use butler_domain::{TenantId, Timestamp};
use butler_host::access::{Rights, new_token};
use butler_host::butler::Butler;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::instance::create_data_dir;
use butler_store::StoreError;
use butler_store::tokens::{self, TokenRow};
use chrono::TimeDelta;
use serde_json::{Value, json};
use uuid::Uuid;

use super::Settings;
use crate::printer::Printer;
use crate::progress;

/// Create, list and revoke bearer tokens
///
/// As soon as one token exists, every request to /mcp and /api needs a token. A running `butler serve` picks up changes
/// within a second.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler token create --tenant ann --name laptop\n  \
    butler token list\n  \
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
    /// changes, `admin` runs jobs. `metrics` reads /metrics; it belongs to no tenant and cannot be combined with
    /// others.
    #[command(after_help = "Examples:\n  \
        butler token create --tenant ann\n  \
        butler token create --tenant ann --butler health --rights read --expires 90d --name dashboard\n  \
        butler token create --tenant ops --rights read,write,admin --json\n  \
        butler token create --rights metrics --name prometheus")]
    Create {
        /// Rights of the token, separated by commas
        #[arg(long, value_name = "RIGHTS", default_value = "read,write")]
        rights: Rights,
        /// Lifetime: a number followed by s, m, h, d, w or y [default: unlimited]
        #[arg(long, value_name = "TIME", value_parser = duration)]
        expires: Option<TimeDelta>,
        /// Description of what the token is for
        #[arg(long, default_value = "", hide_default_value = true, value_parser = name)]
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
    /// Revoke a token immediately and permanently
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
    let butlers: Vec<Arc<Butler>> = match &settings.butler {
        Some(name) => vec![host.butler(Some(name))?],
        None => host.butlers(),
    };
    let now = host.clock().now();
    match command {
        Command::Create { rights, expires, name, json } => {
            if rights.metrics && (settings.tenant.is_some() || settings.butler.is_some()) {
                let message = "a metrics token covers all tenants and butlers";
                return Err(HostError::usage(message, "omit --tenant and --butler"));
            }
            let row = TokenRow {
                id: butler_domain::ids::new_id(now),
                tenant: settings.tenant.clone().unwrap_or_default(),
                butler: settings.butler.clone(),
                name,
                hash: [0; 32],
                rights: rights.iter().map(|right| right.as_str().to_owned()).collect(),
                created_at: now,
                expires_at: expires.map(|lifetime| now + lifetime),
                revoked_at: None,
                last_used_at: None,
            };
            host.remember_tokens()?;
            create(&butlers, row, json, printer).await
        }
        Command::List { json } => list(&butlers, settings.tenant.as_ref(), now, json, printer).await,
        Command::Revoke { id, json } => revoke(&butlers, id, now, json, printer).await,
    }
}

async fn create(butlers: &[Arc<Butler>], mut row: TokenRow, json: bool, printer: Printer) -> Result<(), HostError> {
    let token = new_token()?;
    row.hash = tokens::hash(&token);
    let (reachable, unreachable) = partition_by_reachability(butlers);
    for butler in reachable {
        on_database(butler, async |session| tokens::create(session, &row).await).await?;
    }
    for butler in unreachable {
        printer.note(format_args!("butler {:?} is unreachable and does not have the token yet", butler.name.as_str()));
    }
    if json {
        let mut shown = describe(&row, row.created_at);
        shown["token"] = json!(token);
        printer.json(&shown);
        return Ok(());
    }
    printer.line(&token);
    let butler = row.butler.as_deref().unwrap_or("all butlers");
    let access = match row.of_tenant() {
        Some(tenant) => format!("{butler} for tenant {:?} ({})", tenant.as_str(), row.rights.join(",")),
        None => "/metrics".to_owned(),
    };
    printer.note(format_args!(
        "This token is shown only once. It grants access to {access}; send it as `Authorization: Bearer TOKEN`.\n\
         Revoke it with: butler token revoke {}",
        row.id
    ));
    Ok(())
}

async fn list(
    butlers: &[Arc<Butler>],
    tenant: Option<&TenantId>,
    now: Timestamp,
    json: bool,
    printer: Printer,
) -> Result<(), HostError> {
    // A token for all butlers is stored in the database of each.
    let mut found: BTreeMap<Uuid, TokenRow> = BTreeMap::new();
    let (reachable, unreachable) = partition_by_reachability(butlers);
    for butler in unreachable {
        printer.note(format_args!("butler {:?} is unreachable; its tokens are not listed", butler.name.as_str()));
    }
    for butler in reachable {
        for row in on_database(butler, async |session| tokens::list(session).await).await? {
            let known = found.entry(row.id).or_insert_with(|| row.clone());
            known.revoked_at = known.revoked_at.or(row.revoked_at);
            known.last_used_at = known.last_used_at.max(row.last_used_at);
        }
    }
    let rows: Vec<&TokenRow> = found.values().filter(|row| tenant.is_none() || row.of_tenant() == tenant).collect();
    if json {
        let rows: Vec<Value> = rows.into_iter().map(|row| describe(row, now)).collect();
        printer.json(&json!({"tokens": rows}));
        return Ok(());
    }
    if rows.is_empty() {
        printer.note("no tokens: the server binds to loopback only and trusts every local client");
        return Ok(());
    }
    printer.line(format_args!(
        "{:<36}  {:<8} {:<12} {:<12} {:<16} {:<17} {:<17} name",
        "id", "state", "tenant", "butler", "rights", "expires", "last used"
    ));
    for row in rows {
        printer.line(format_args!(
            "{:<36}  {:<8} {:<12} {:<12} {:<16} {:<17} {:<17} {}",
            row.id,
            state(row, now),
            row.of_tenant().map_or("-", TenantId::as_str),
            row.butler.as_deref().unwrap_or("all"),
            row.rights.join(","),
            at(row.expires_at),
            at(row.last_used_at),
            row.name
        ));
    }
    Ok(())
}

async fn revoke(
    butlers: &[Arc<Butler>],
    id: Uuid,
    now: Timestamp,
    json: bool,
    printer: Printer,
) -> Result<(), HostError> {
    let mut found = false;
    let (reachable, unreachable) = partition_by_reachability(butlers);
    for butler in reachable {
        found |= on_database(butler, async |session| tokens::revoke(session, id, now).await).await?;
    }
    if let Some(butler) = unreachable.first() {
        let others = if found { "the token is revoked in all others" } else { "no other butler has the token" };
        let name = butler.name.as_str();
        return Err(HostError::Failed(format!(
            "butler {name:?} is unreachable; {others}: run this again when it is reachable"
        )));
    }
    if !found {
        return Err(HostError::UnknownToken { id });
    }
    if json {
        printer.json(&json!({"id": id, "revoked": true}));
    } else {
        printer.line(format_args!("revoked token {id}"));
    }
    Ok(())
}

/// Splits the butlers into those with an open database and the others.
fn partition_by_reachability(butlers: &[Arc<Butler>]) -> (Vec<&Arc<Butler>>, Vec<&Arc<Butler>>) {
    butlers.iter().partition(|butler| butler.database().is_some())
}

/// Runs `work` on the database of a butler.
async fn on_database<T>(
    butler: &Butler,
    work: impl AsyncFnOnce(&mut butler_store::Session) -> Result<T, StoreError>,
) -> Result<T, HostError> {
    let failed = |source| HostError::Store { butler: butler.name.to_string(), source };
    let database = butler.database().ok_or_else(|| {
        HostError::Failed(format!("the database of butler {:?} is not available", butler.name.as_str()))
    })?;
    let mut conn = database.owner().await.map_err(failed)?;
    work(&mut conn).await.map_err(failed)
}

fn describe(row: &TokenRow, now: Timestamp) -> Value {
    json!({
        "id": row.id, "tenant": row.of_tenant(), "butler": row.butler, "name": row.name, "rights": row.rights,
        "state": state(row, now), "created_at": row.created_at, "expires_at": row.expires_at,
        "revoked_at": row.revoked_at, "last_used_at": row.last_used_at,
    })
}

fn state(row: &TokenRow, now: Timestamp) -> &'static str {
    match row {
        row if row.revoked_at.is_some() => "revoked",
        row if row.expires_at.is_some_and(|end| end <= now) => "expired",
        _ => "active",
    }
}

fn at(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| time.format("%Y-%m-%d %H:%MZ").to_string())
}

/// Validates a token name. Tables and audit events show it, so it must be one short line.
fn name(text: &str) -> Result<String, String> {
    const MAX_CHARS: usize = 100;
    if text.chars().count() > MAX_CHARS || text.chars().any(char::is_control) {
        return Err(format!("expected one line of at most {MAX_CHARS} characters"));
    }
    Ok(text.trim().to_owned())
}

/// Parses a lifetime such as `90d`.
fn duration(text: &str) -> Result<TimeDelta, String> {
    /// A hundred years; omit --expires for longer.
    const MAX_SECONDS: i64 = 100 * 366 * 86_400;
    let invalid = || "expected a number followed by s, m, h, d, w or y, such as 90d".to_owned();
    let unit = text.chars().next_back().ok_or_else(invalid)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 7 * 86_400,
        'y' => 365 * 86_400,
        _ => return Err(invalid()),
    };
    let count: i64 = text[..text.len() - 1].parse().map_err(|_| invalid())?;
    let total = count.checked_mul(seconds).filter(|total| (1..=MAX_SECONDS).contains(total));
    total.map(TimeDelta::seconds).ok_or_else(|| "expected a lifetime between one second and a hundred years".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_is_a_number_with_a_unit() {
        assert_eq!(duration("90d"), Ok(TimeDelta::days(90)));
        assert_eq!(duration("1y"), Ok(TimeDelta::days(365)));
        for text in ["", "d", "90", "-1d", "0d", "1.5d", "90 d", "9999999999y", "3µ"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
