use butler_domain::MemoryType;
use butler_memory::tool::Answer;
use serde_json::{Value, json};
use uuid::Uuid;

use super::input::one_of;
use super::{Output, Request, show};
use crate::printer::Printer;

/// Exclude a memory from all future searches, recalls and contexts
///
/// The memory stays readable by its id. Forgetting it again is not an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler forget fact 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa\n  \
    butler forget episode 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa --json")]
pub struct Args {
    /// Type of the memory
    #[arg(value_name = "TYPE", value_parser = one_of::<MemoryType>(MemoryType::NAMES))]
    memory_type: MemoryType,
    /// Id of the memory, as printed by `search` and `remember`
    #[arg(value_name = "ID")]
    memory_id: Uuid,
    #[command(flatten)]
    output: Output,
}

impl Args {
    pub(super) fn request(self) -> Request {
        let arguments = json!({"memory_type": self.memory_type, "memory_id": self.memory_id});
        Request::new("memory_forget", arguments, self.output, print_forgotten)
    }
}

fn print_forgotten(printer: Printer, answer: &Answer) {
    let (kind, id) = (show::text(&answer.structured, "memory_type"), show::text(&answer.structured, "id"));
    let outcome = if answer.structured["changed"] == true { "forgot" } else { "already forgotten:" };
    printer.line(format_args!("{outcome} {kind} {id}"));
    if let Some(note) = answer.structured.get("note").and_then(Value::as_str) {
        printer.line(format_args!("  {note}"));
    }
}
