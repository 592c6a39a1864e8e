use butler_domain::text::flatten_line;
use butler_memory::tool::Answer;
use serde_json::{Value, json};

use super::{Output, Request, show};
use crate::printer::{Colour, Printer};

/// Show what was learned, changed, contradicted, faded and forgotten
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler changes\n  \
    butler changes --since 2026-11-01 --until 2026-11-08\n  \
    butler changes --since 12h --json")]
pub struct Args {
    /// Since when: a date, a time, or how long ago (12h, 7d, 2w)
    #[arg(long, value_name = "DATE", default_value = "7d")]
    since: String,
    /// Until when [default: now]
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// Only this scope and the global scope
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// Maximum number of tokens, the newest changes first [default: 2000]
    #[arg(long, value_name = "NUMBER")]
    token_budget: Option<u32>,
    #[command(flatten)]
    output: Output,
}

impl Args {
    pub(super) fn request(self) -> Request {
        let arguments =
            json!({"since": self.since, "until": self.until, "scope": self.scope, "token_budget": self.token_budget});
        Request::new("memory_changes", arguments, self.output, print_changes)
    }
}

fn print_changes(printer: Printer, answer: &Answer) {
    let mut nothing = true;
    for section in ["learned", "changed", "contradicted", "faded", "forgotten"] {
        let groups = answer.structured.get(section).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if groups.is_empty() {
            continue;
        }
        nothing = false;
        printer.line(printer.on_out(section, Colour::Bold));
        for group in groups.iter().filter_map(Value::as_object) {
            let name = show::text(group, "name");
            let items = group.get("changes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            for item in items.iter().filter_map(Value::as_object) {
                let subject = if name.is_empty() { show::text(item, "memory_type") } else { name };
                let parts: Vec<String> = [subject, show::text(item, "predicate"), show::text(item, "content")]
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .map(flatten_line)
                    .collect();
                let at = show::date(item, "at").unwrap_or_default();
                let period = show::period(item).map(|period| format!(" ({period})")).unwrap_or_default();
                printer.line(format_args!("  {}  {}{period}", printer.on_out(&at, Colour::Dim), parts.join(" · ")));
                if let Some(before) = item.get("before").and_then(Value::as_str) {
                    printer.line(
                        printer.on_out(&format!("                    before: {}", flatten_line(before)), Colour::Dim),
                    );
                }
            }
        }
    }
    if nothing {
        printer.note("nothing changed in that time");
    }
    let left_out = answer.structured.get("left_out").and_then(Value::as_u64).unwrap_or_default();
    if left_out > 0 {
        printer.note(format_args!("{left_out} older changes are left out; see more with --token-budget"));
    }
}
