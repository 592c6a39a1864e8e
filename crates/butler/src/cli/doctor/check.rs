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

/// One thing that was looked at.
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
        // The messages of the private server and of fetching hold their remedy themselves.
        let remedy = error.hint().unwrap_or_else(|| "do as it says, then run `butler doctor` again".to_owned());
        Self::failed(name, error.to_string(), remedy)
    }

    /// Whether a server could not even start with this.
    pub fn blocks_start(&self) -> bool {
        matches!(self.name, "disk" | "runtime" | "model")
    }
}
