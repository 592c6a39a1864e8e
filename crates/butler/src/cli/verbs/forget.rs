use butler_domain::MemoryType;
use butler_host::error::HostError;
use butler_memory::tool::Answer;
use serde_json::{Value, json};
use uuid::Uuid;

use super::forget_entity::ForgetEntity;
use super::input::one_of;
use super::{Output, Request, show};
use crate::printer::Printer;

/// Exclude a memory, or all about an entity, from searches, recalls and contexts
///
/// The memory stays readable by its id, and `butler restore ID` brings a fact or rule back. Forgetting it again is not an
/// error. With --entity, everything about the entity and all memories that name it are forgotten; they are listed first.
#[derive(Debug, clap::Args)]
#[command(
    allow_missing_positional = true,
    after_help = "Examples:\n  \
    butler forget 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa\n  \
    butler forget episode 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa --json\n  \
    butler forget --entity 'Chloe Martin'   list what would be forgotten, then ask\n  \
    butler forget --entity 'Chloe Martin' --erase --yes"
)]
pub struct Args {
    /// Type of the memory [default: found by the id]
    #[arg(value_name = "TYPE", value_parser = one_of::<MemoryType>(MemoryType::NAMES))]
    memory_type: Option<MemoryType>,
    /// Id of the memory, as printed by `search` and `remember`
    #[arg(value_name = "ID")]
    memory_id: Option<Uuid>,
    /// Forget a person, organization, place or thing: its name, an alias or its id
    #[arg(long, value_name = "NAME", conflicts_with_all = ["memory_type", "memory_id"])]
    entity: Option<String>,
    /// Delete instead of exclude, also from past events; this cannot be undone
    #[arg(long, requires = "entity", conflicts_with_all = ["memory_type", "memory_id"])]
    erase: bool,
    /// Keep the memories that name the entity but are not about it
    #[arg(long, requires = "entity", conflicts_with_all = ["memory_type", "memory_id"])]
    keep_mentions: bool,
    /// Do not list first and do not ask
    #[arg(long, requires = "entity", conflicts_with_all = ["memory_type", "memory_id"])]
    yes: bool,
    #[command(flatten)]
    output: Output,
}

impl Args {
    pub(super) fn request(self) -> Result<Request, HostError> {
        let Some(memory_id) = self.memory_id else {
            let hint = "give the id of a memory, or --entity NAME to forget a person, organization, place or thing";
            return Err(HostError::usage("an id or --entity is required", hint));
        };
        let arguments = json!({"memory_type": self.memory_type, "memory_id": memory_id});
        Ok(Request::new("memory_forget", arguments, self.output, print_forgotten).among(MemoryType::ALL))
    }

    /// `None`: one memory is meant.
    pub(super) fn of_entity(&self) -> Option<ForgetEntity> {
        Some(ForgetEntity {
            name: self.entity.clone()?,
            erase: self.erase,
            keep_mentions: self.keep_mentions,
            yes: self.yes,
            json: self.output.json,
        })
    }
}

fn print_forgotten(printer: Printer, answer: &Answer) {
    let (kind, id) = (show::text(&answer.structured, "memory_type"), show::text(&answer.structured, "id"));
    let outcome = if answer.structured["changed"] == true { "forgot" } else { "already forgotten:" };
    printer.line(format_args!("{outcome} {kind} {id}"));
    if kind != MemoryType::Episode.as_str() {
        printer.note(format_args!("to undo it: butler restore {id}"));
    }
    if let Some(note) = answer.structured.get("note").and_then(Value::as_str) {
        printer.line(format_args!("  {note}"));
    }
}
