//! `butler erase` deletes all memory of a tenant.

use std::sync::Arc;

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_host::access::CLI_ACTOR;
use butler_host::butler::Butler;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::host::token_changes::{self, homes};
use butler_host::instance::create_data_dir;
use butler_memory::tool::{ErrorCode, ToolError};
use butler_memory::{Call, TenantErased};
use butler_store::tokens::TokenRow;
use serde_json::{Value, json};

use super::verbs::print_backups;
use super::{Settings, counted};
use crate::printer::Printer;
use crate::progress;

/// Delete all memory of a tenant, for good
///
/// Deletes episodes, facts, rules, entities, predicates and everything derived from them, in all butlers or in --butler, and
/// removes their text from past events. The events themselves stay: who, when and how many. Revokes the tenant's tokens: with
/// --butler those for that butler only. Without --yes it only shows what would be deleted. A server may keep running. Backups
/// are not changed; those that still hold the memory are listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler erase --tenant ann                        show what would be deleted\n  \
    butler erase --tenant ann --yes\n  \
    butler erase --tenant ann --butler health --yes --json")]
pub struct Args {
    /// Delete; without it nothing is changed
    #[arg(long)]
    yes: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let Some(tenant) = settings.tenant.clone() else {
        return Err(HostError::usage("no tenant given", "name the tenant whose memory to delete: --tenant NAME"));
    };
    let host = Host::new(settings.host.clone())?;
    if let Some(name) = &settings.butler {
        host.butler(Some(name))?;
    }
    create_data_dir(&settings.host.data_dir)?;
    host.start_databases(progress::on_stderr(settings.quiet)).await?;
    let outcome = erase(&args, &tenant, settings.butler.as_deref(), &host, printer).await;
    let stopped = host.stop().await;
    outcome.and(stopped)
}

async fn erase(
    args: &Args,
    tenant: &TenantId,
    only: Option<&str>,
    host: &Host,
    printer: Printer,
) -> Result<(), HostError> {
    let butlers = match only {
        Some(name) => vec![host.butler(Some(name))?],
        None => host.butlers(),
    };
    // All must be reachable, or a part would stay unnoticed.
    for butler in &butlers {
        if let Some(trouble) = butler.trouble() {
            return Err(HostError::Failed(format!(
                "nothing was deleted: butler {:?} cannot start: {trouble}",
                butler.name
            )));
        }
    }
    let tokens = live_tokens(host, tenant, only).await?;
    let found = in_each(&butlers, tenant, true).await?;
    if tokens.is_empty() && found.iter().all(|(_, erased)| erased.counts.is_unknown()) {
        let names: Vec<&str> = butlers.iter().map(|butler| butler.name.as_str()).collect();
        let message = format!("there is no tenant {:?} in {}", tenant.as_str(), names.join(", "));
        let hint = Some("`butler token list` shows tenants that have tokens".to_owned());
        return Err(HostError::Tool(ToolError { hint, ..ToolError::new(ErrorCode::NotFound, message) }));
    }
    if !args.yes {
        print("would delete", tenant, &found, tokens.len(), args.json, printer);
        return Err(HostError::Failed("nothing was deleted; add --yes to delete all of this permanently".to_owned()));
    }
    // First, so that no agent stores anything new.
    let (origin, now) = (Origin { actor: Some(CLI_ACTOR.to_owned()), request_id: None }, host.clock().now());
    for token in &tokens {
        token_changes::revoke(&homes(&host.butlers(), token), &origin, now, token.id).await?;
    }
    let done = in_each(&butlers, tenant, false).await?;
    print("deleted", tenant, &done, tokens.len(), args.json, printer);
    Ok(())
}

/// The tenant's tokens that are not revoked: all, or those for one butler only.
async fn live_tokens(host: &Host, tenant: &TenantId, only: Option<&str>) -> Result<Vec<TokenRow>, HostError> {
    let mut rows = token_changes::list(&host.butlers()).await?.parts;
    rows.retain(|row| {
        row.of_tenant() == Some(tenant) && row.revoked_at.is_none() && (only.is_none() || row.butler.as_deref() == only)
    });
    Ok(rows)
}

async fn in_each(
    butlers: &[Arc<Butler>],
    tenant: &TenantId,
    dry_run: bool,
) -> Result<Vec<(String, TenantErased)>, HostError> {
    let mut all = Vec::new();
    for butler in butlers {
        let Some(memory) = butler.memory().await else { continue };
        let call = Call::internal(&memory, tenant.clone(), CLI_ACTOR);
        let erased = memory.erase_tenant(&call, dry_run).await.map_err(|error| HostError::Tool(error.into()))?;
        all.push((butler.name.to_string(), erased));
    }
    Ok(all)
}

fn print(
    verb: &str,
    tenant: &TenantId,
    of_butlers: &[(String, TenantErased)],
    tokens: usize,
    json: bool,
    printer: Printer,
) {
    if json {
        let butlers: Vec<Value> = of_butlers
            .iter()
            .map(|(name, erased)| {
                let mut shown = json!(erased);
                shown["butler"] = json!(name);
                shown
            })
            .collect();
        printer.json(
            &json!({"tenant": tenant, "erased": verb == "deleted", "tokens_revoked": tokens, "butlers": butlers}),
        );
        return;
    }
    for (name, erased) in of_butlers {
        let counts = &erased.counts;
        printer.line(format_args!(
            "{verb} in butler {name}: {}, {}, {}, {}, the text of {}",
            counted(counts.facts, "fact"),
            counted(counts.rules, "rule"),
            counted(counts.episodes, "episode"),
            counted(counts.entities, "entity"),
            counted(counts.events_redacted, "event")
        ));
        print_backups(printer, json!(erased).as_object().unwrap_or(&Default::default()));
    }
    if tokens > 0 {
        let done = if verb == "deleted" { "revoked" } else { "would revoke" };
        printer.line(format_args!("{done} {} of tenant {:?}", counted(tokens, "token"), tenant.as_str()));
    }
}
