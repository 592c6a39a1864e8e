use butler_domain::text::flatten_line;
use butler_memory::conflicts::Resolution;
use butler_memory::tool::Answer;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::input::one_of;
use super::{Output, Request, show};
use crate::printer::{Colour, Printer};

/// List and resolve facts that contradict or repeat each other
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler conflicts\n  \
    butler conflicts resolve 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa keep_a\n  \
    butler conflicts resolve ID merge --content 'Lives in Berlin since 2023'\n  \
    butler conflicts reopen 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa")]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// List the resolved conflicts
    #[arg(long)]
    resolved: bool,
    /// Maximum number of conflicts [default: 20]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<u32>,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Keep one fact or both, merge them, or forget both
    #[command(after_help = "Examples:\n  \
        butler conflicts resolve ID keep_a\n  \
        butler conflicts resolve ID keep_both --scope travel\n  \
        butler conflicts resolve ID merge --content 'weighs 72 kg in the morning'")]
    Resolve {
        /// Id of the conflict
        #[arg(value_name = "ID")]
        conflict_id: Uuid,
        /// What to do
        #[arg(value_name = "ACTION", value_parser = one_of::<Resolution>(Resolution::NAMES))]
        resolution: Resolution,
        /// For merge: the text that says what both facts said
        #[arg(long, value_name = "TEXT")]
        content: Option<String>,
        /// For keep_both: the scope that b belongs to
        #[arg(long, value_name = "NAME")]
        scope: Option<String>,
        /// For keep_both: since when b is true
        #[arg(long, value_name = "DATE")]
        valid_from: Option<String>,
        /// For keep_both: from when on b is no longer true
        #[arg(long, value_name = "DATE")]
        valid_to: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Undo a resolution: restore its facts and open the conflict again
    #[command(after_help = "Examples:\n  butler conflicts reopen ID")]
    Reopen {
        /// Id of the conflict
        #[arg(value_name = "ID")]
        conflict_id: Uuid,
        #[command(flatten)]
        output: Output,
    },
}

impl Args {
    pub(super) fn request(self) -> Request {
        let (arguments, output) = match self.command {
            None => {
                let state = if self.resolved { "resolved" } else { "open" };
                (json!({"action": "list", "state": state, "limit": self.limit}), self.output)
            }
            Some(Command::Resolve { conflict_id, resolution, content, scope, valid_from, valid_to, output }) => (
                json!({"action": "resolve", "conflict_id": conflict_id, "resolution": resolution, "content": content,
                       "scope": scope, "valid_from": valid_from, "valid_to": valid_to}),
                output,
            ),
            Some(Command::Reopen { conflict_id, output }) => {
                (json!({"action": "reopen", "conflict_id": conflict_id}), output)
            }
        };
        Request::new("memory_conflicts", arguments, output, print_conflicts)
    }
}

fn print_conflicts(printer: Printer, answer: &Answer) {
    let conflicts = answer.structured.get("conflicts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for conflict in conflicts.iter().filter_map(Value::as_object) {
        let (kind, why) = (show::text(conflict, "kind"), show::text(conflict, "why"));
        let resolution = show::text(conflict, "resolution");
        let state = if resolution.is_empty() { String::new() } else { format!(", resolved: {resolution}") };
        printer.line(format_args!(
            "{} {}",
            printer.on_out(&format!("{kind} ({why}{state})"), Colour::Bold),
            printer.on_out(show::text(conflict, "id"), Colour::Dim)
        ));
        for side in ["a", "b"] {
            if let Some(fact) = conflict.get(side).and_then(Value::as_object) {
                printer.line(side_line(side, fact));
            }
        }
        if let Some(line) = verdict_line(conflict) {
            printer.line(line);
        }
    }
    if conflicts.is_empty() {
        printer.note("there are no conflicts");
    }
    let total = answer.structured.get("total").and_then(Value::as_u64).unwrap_or_default();
    if total > conflicts.len() as u64 {
        printer.note(format_args!("{total} in all; see more with --limit"));
    }
}

/// What the judge says, if it judged the pair.
fn verdict_line(conflict: &Map<String, Value>) -> Option<String> {
    let verdict = conflict.get("verdict").and_then(Value::as_str)?;
    Some(format!("  judge: {}: {}", verdict.replace('_', " "), flatten_line(show::text(conflict, "reason"))))
}

fn side_line(side: &str, fact: &Map<String, Value>) -> String {
    let said = ["subject", "predicate", "content"].map(|field| flatten_line(show::text(fact, field))).join(" · ");
    let [scope, validity, source] = ["scope", "validity", "source"].map(|field| show::text(fact, field));
    let confidence = fact.get("effective_confidence").and_then(Value::as_f64).unwrap_or_default();
    let stored = show::date(fact, "created_at").unwrap_or_default();
    format!("  {side}  {said} ({scope}, {validity}, from {source}, {stored}, confidence {confidence:.2})")
}
