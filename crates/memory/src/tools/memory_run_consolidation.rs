use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::flag;
use crate::consolidate::{ConsolidationReport, ConsolidationRequest};
use crate::tool::{Annotations, Right, ToolDefinition};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Only count the waiting episodes; nothing is written. Default: false.
    #[schemars(with = "Option<bool>")]
    dry_run: Option<Value>,
}

pub struct MemoryRunConsolidation;

impl ToolDefinition for MemoryRunConsolidation {
    type Input = Input;
    type Output = ConsolidationReport;

    const NAME: &'static str = "memory_run_consolidation";
    const TITLE: &'static str = "Consolidate episodes now";
    const DESCRIPTION: &'static str = "Turn waiting episodes into facts and rules now instead of on schedule. Uses the \
        configured LLM and may take minutes; without one, or with dry_run, it only counts. The result says which it was.";
    const COMMAND: Option<&'static str> = Some("butler jobs run consolidation");
    const ANNOTATIONS: Annotations =
        Annotations { read_only: false, destructive: true, idempotent: true, open_world: true };
    const RIGHT: Right = Right::Admin;

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<ConsolidationReport, MemoryError> {
        let request = ConsolidationRequest {
            tenant: Some(call.tenant),
            dry_run: flag("dry_run", input.dry_run.as_ref())?,
            request_id: call.origin.request_id,
            ..ConsolidationRequest::default()
        };
        memory.run_consolidation(&request).await
    }
}
