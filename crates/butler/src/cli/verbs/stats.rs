use butler_memory::tool::Answer;
use serde_json::{Value, json};

use super::{Output, Request};
use crate::printer::{Colour, Printer};

/// Count memories by type and state
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  butler stats\n  butler stats --scope health --json")]
pub struct Args {
    /// Only the facts and rules of this scope and the global scope, and the episodes of the butler with this name
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    #[command(flatten)]
    output: Output,
}

impl Args {
    pub(super) fn request(self) -> Request {
        Request::new("memory_stats", json!({"scope": self.scope}), self.output, print_counts)
    }
}

const KINDS: [&str; 3] = ["episodes", "facts", "rules"];

fn print_counts(printer: Printer, answer: &Answer) {
    let total =
        |kind: &str| answer.structured.get(kind).and_then(|counts| counts["total"].as_i64()).unwrap_or_default();
    if KINDS.into_iter().all(|kind| total(kind) == 0) {
        printer.note("there are no memories here; if you expected some, check --tenant, --butler and --scope");
    }
    for kind in KINDS {
        let Some(Value::Object(counts)) = answer.structured.get(kind) else { continue };
        printer.line(printer.on_out(&format!("{kind:<9} {:>8}", total(kind)), Colour::Bold));
        for (state, count) in counts.iter().filter(|(state, _)| *state != "total") {
            match count.as_i64() {
                Some(0) => {}
                Some(count) => printer.line(format_args!("  {count:>15}  {}", state.replace('_', " "))),
                None => {
                    if let Some(hours) = count.as_f64() {
                        printer.line(format_args!("  {hours:>15.1}  {}", state.replace('_', " ")));
                    }
                }
            }
        }
    }
}
