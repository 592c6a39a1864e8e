//! `butler restore` undoes forgetting, superseding or editing a fact or rule.

use butler_domain::{FactId, MemoryType, RuleId, Source};
use butler_host::access::CLI_ACTOR;
use butler_host::error::HostError;
use butler_memory::tool::{ErrorCode, ToolError};
use butler_memory::{Call, MemoryError, Restored};
use serde_json::json;
use uuid::Uuid;

use super::Settings;
use super::opened_butler::OpenedButler;
use crate::printer::Printer;

/// Bring back a fact or rule that was forgotten, superseded or edited
///
/// A forgotten, expired or superseded fact is active again, and the fact that superseded it is retracted. A forgotten rule is
/// used again; the last edit of another rule is undone. Forgotten episodes and erased memories cannot be brought back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler restore 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa\n  \
    butler restore 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa --json")]
pub struct Args {
    /// Id of the fact or rule
    #[arg(value_name = "ID")]
    id: Uuid,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let opened = OpenedButler::open(settings).await?;
    let outcome = restore(args.id, &opened, settings).await.map_err(|error| HostError::Tool(error.into()));
    let Some((memory_type, restored)) = opened.close(outcome).await? else {
        let message = format!("there is no fact or rule with id {}", args.id);
        return Err(HostError::Tool(ToolError {
            hint: Some("check the id; a forgotten episode cannot be brought back".to_owned()),
            ..ToolError::new(ErrorCode::NotFound, message)
        }));
    };
    if args.json {
        printer.json(&json!({"memory_type": memory_type, "id": restored.id, "retracted_id": restored.retracted_id,
                             "changed": restored.changed}));
        return Ok(());
    }
    let outcome = if restored.changed { "restored" } else { "nothing to restore:" };
    printer.line(format_args!("{outcome} {memory_type} {}", restored.id));
    if let Some(retracted) = restored.retracted_id {
        printer.line(format_args!("  retracted {retracted}, which had superseded it"));
    }
    Ok(())
}

async fn restore(
    id: Uuid,
    opened: &OpenedButler,
    settings: &Settings,
) -> Result<Option<(MemoryType, Restored)>, MemoryError> {
    let tenant = settings.tenant.clone().unwrap_or_default();
    let call = Call { source: Source::Person, ..Call::internal(&opened.memory, tenant, CLI_ACTOR) };
    if let Some(restored) = opened.memory.restore_fact(&call, FactId(id)).await? {
        return Ok(Some((MemoryType::Fact, restored)));
    }
    let restored = opened.memory.restore_rule(&call, RuleId(id)).await?;
    Ok(restored.map(|restored| (MemoryType::Rule, restored)))
}
