//! `butler helpful` and `butler harmful` record the outcome of following a rule.

use butler_host::error::HostError;
use butler_memory::tool::Answer;
use serde_json::json;
use uuid::Uuid;

use super::input::text;
use super::{Output, Request, show};
use crate::printer::Printer;

/// Record that following a rule led to a good result
///
/// With enough good results a rule advances from candidate to established to proven.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  butler helpful 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa")]
pub struct HelpfulArgs {
    /// Id of the rule that was followed
    #[arg(value_name = "RULE")]
    rule_id: Uuid,
    #[command(flatten)]
    output: Output,
}

/// Record that following a rule led to a bad result
///
/// One bad result weighs as much as four good ones. A rule that keeps failing becomes a warning.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler harmful 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa --reason 'the linter broke the build'")]
pub struct HarmfulArgs {
    /// Id of the rule that was followed
    #[arg(value_name = "RULE")]
    rule_id: Uuid,
    /// What went wrong, in one sentence; `-` reads it from stdin
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    output: Output,
}

impl HelpfulArgs {
    pub(super) fn request(self) -> Request {
        Request::new("memory_mark_helpful", json!({"rule_id": self.rule_id}), self.output, print_rule)
    }
}

impl HarmfulArgs {
    pub(super) fn request(self) -> Result<Request, HostError> {
        let reason = self.reason.map(|reason| text(Some(reason), "the reason")).transpose()?;
        let arguments = json!({"rule_id": self.rule_id, "reason": reason});
        Ok(Request::new("memory_mark_harmful", arguments, self.output, print_rule))
    }
}

fn print_rule(printer: Printer, answer: &Answer) {
    let rule = &answer.structured;
    let effectiveness = show::number(rule, "effectiveness_score").unwrap_or_default();
    printer.line(format_args!(
        "rule {} is {}: {} helpful, {} harmful, {} applied, effectiveness {effectiveness:.2}",
        show::text(rule, "id"),
        show::text(rule, "maturity"),
        rule["success_count"],
        rule["harmful_count"],
        rule["applied_count"],
    ));
    if rule["metadata"]["needs_inversion"] == true {
        printer.line("  it failed too often and will become a warning");
    }
}
