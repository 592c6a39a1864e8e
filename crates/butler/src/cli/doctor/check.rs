use butler_host::error::HostError;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Passed,
    Warned,
    Failed,
    Skipped,
}

/// The result of one check.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    pub name: &'static str,
    pub verdict: Verdict,
    pub detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Check {
    pub fn passed(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Passed, detail: detail.into(), remedy: None }
    }

    pub fn skipped(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Skipped, detail: detail.into(), remedy: None }
    }

    pub fn warned(name: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Warned, detail: detail.into(), remedy: Some(remedy.into()) }
    }

    pub fn failed(name: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Failed, detail: detail.into(), remedy: Some(remedy.into()) }
    }

    pub fn from_error(name: &'static str, error: &HostError) -> Self {
        // Errors of the private PostgreSQL and of downloads contain the remedy in their message.
        let remedy = error.hint().unwrap_or_else(|| "fix the problem above, then run `butler doctor` again".to_owned());
        Self::failed(name, error.to_string(), remedy)
    }

    /// Whether a server cannot start while this check fails.
    pub fn blocks_start(&self) -> bool {
        matches!(self.name, "disk" | "runtime" | "model")
    }
}
