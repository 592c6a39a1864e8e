//! `butler helpful` and `butler harmful` record the outcome of following a rule.

use butler_host::error::HostError;
use butler_memory::tool::Answer;
use serde_json::{Map, Value, json};

use super::input::{memory_id, object, text};
use super::{Output, Request, show};
use crate::printer::Printer;

/// Record that following a rule led to a good result
///
/// With enough good results a rule advances from candidate to established to proven.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  butler helpful 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa")]
pub struct HelpfulArgs {
    /// Id of the rule that was followed, or its end, as a context line shows it
    #[arg(value_name = "RULE", value_parser = memory_id)]
    rule_id: String,
    /// Why it helped, in one sentence; `-` reads it from stdin
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// The situation in which it was applied
    #[arg(long, value_name = "JSON", value_parser = object)]
    context: Option<Map<String, Value>>,
    #[command(flatten)]
    output: Output,
}

/// Record that following a rule led to a bad result
///
/// One bad result weighs as much as four good ones. A rule that keeps failing becomes a warning.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler harmful 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa --reason 'broke the build'")]
pub struct HarmfulArgs {
    /// Id of the rule that was followed, or its end, as a context line shows it
    #[arg(value_name = "RULE", value_parser = memory_id)]
    rule_id: String,
    /// What went wrong, in one sentence; `-` reads it from stdin
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// The situation in which it was applied
    #[arg(long, value_name = "JSON", value_parser = object)]
    context: Option<Map<String, Value>>,
    #[command(flatten)]
    output: Output,
}

impl HelpfulArgs {
    pub(super) fn request(self) -> Result<Request, HostError> {
        request("memory_mark_helpful", self.rule_id, self.reason, self.context, self.output)
    }
}

impl HarmfulArgs {
    pub(super) fn request(self) -> Result<Request, HostError> {
        request("memory_mark_harmful", self.rule_id, self.reason, self.context, self.output)
    }
}

fn request(
    tool: &'static str,
    rule_id: String,
    reason: Option<String>,
    context: Option<Map<String, Value>>,
    output: Output,
) -> Result<Request, HostError> {
    let reason = reason.map(|reason| text(Some(reason), "the reason")).transpose()?;
    let arguments = json!({"rule_id": rule_id, "reason": reason, "context": context});
    Ok(Request::new(tool, arguments, output, print_rule))
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
