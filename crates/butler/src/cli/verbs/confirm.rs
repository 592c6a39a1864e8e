use butler_domain::MemoryType;
use butler_memory::tool::Answer;
use serde_json::json;
use uuid::Uuid;

use super::input::one_of;
use super::{Output, Request, show};
use crate::printer::Printer;

/// Confirm that a fact or rule still holds, which restarts its decay
#[derive(Debug, clap::Args)]
#[command(
    allow_missing_positional = true,
    after_help = "Examples:\n  \
    butler confirm 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa\n  \
    butler confirm rule 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa --json"
)]
pub struct Args {
    /// Type of the memory [default: found by the id]
    #[arg(value_name = "TYPE", value_parser = one_of::<MemoryType>(MemoryType::NAMES))]
    memory_type: Option<MemoryType>,
    /// Id of the memory, as printed by `search` and `remember`
    #[arg(value_name = "ID")]
    memory_id: Uuid,
    #[command(flatten)]
    output: Output,
}

impl Args {
    pub(super) fn request(self) -> Request {
        let arguments = json!({"memory_type": self.memory_type, "memory_id": self.memory_id});
        Request::new("memory_confirm", arguments, self.output, print_confirmed)
            .among(&[MemoryType::Fact, MemoryType::Rule])
    }
}

fn print_confirmed(printer: Printer, answer: &Answer) {
    let (kind, id) = (show::text(&answer.structured, "memory_type"), show::text(&answer.structured, "id"));
    let confidence = show::number(&answer.structured, "effective_confidence").unwrap_or_default();
    let rescued = if answer.structured["was_fading"] == true { "; it was fading" } else { "" };
    printer.line(format_args!("confirmed {kind} {id}: confidence {confidence:.2}{rescued}"));
}
