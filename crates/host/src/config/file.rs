use std::time::Duration;

use butler_memory::MemoryConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::backup::BackupSection;
use super::server::ServerSection;
use super::telemetry::TelemetrySection;
use crate::profile::Profile;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct File {
    pub butler: ButlerSection,
    /// Of the process that hosts this butler.
    pub server: ServerSection,
    pub telemetry: TelemetrySection,
    pub modules: ModulesSection,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ButlerSection {
    /// Omitted: the folder's name in a roster, else `general`.
    pub name: Option<String>,
    /// What this butler is for, in a sentence; shown to people and routers.
    pub description: Option<String>,
    pub database: DatabaseSection,
    /// Which tools clients are offered unless they ask otherwise: full, core or read-only.
    pub profile: Profile,
    /// Omitted: no LLM, so consolidation is a dry run.
    pub runtime: Option<RuntimeSection>,
    pub session: SessionSection,
    pub backup: BackupSection,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionSection {
    /// How long a session waits for its memory, at its beginning and at its end; then it goes on without.
    pub memory_timeout_s: f64,
}

impl SessionSection {
    /// A warm context takes some 20 ms; who waits for an answer notices two seconds.
    pub const MEMORY_TIMEOUT_S: f64 = 2.0;
    pub const MAX_MEMORY_TIMEOUT_S: f64 = 3600.0;

    pub fn memory_timeout(&self) -> Duration {
        Duration::try_from_secs_f64(self.memory_timeout_s).unwrap_or(Duration::from_secs(2))
    }
}

impl Default for SessionSection {
    fn default() -> Self {
        Self { memory_timeout_s: Self::MEMORY_TIMEOUT_S }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DatabaseSection {
    /// Omitted: a database of its own in the private PostgreSQL.
    pub url: Option<String>,
    /// A replica that serves retrieval.
    pub read_url: Option<String>,
    /// Every object of the butler lives in it; several butlers may share a database this way.
    pub schema: String,
    /// Connections for requests; workers have a few of their own.
    pub pool_size: usize,
}

impl DatabaseSection {
    /// Two cores keep about four statements busy; twice that rides out waits on the disk, and PostgreSQL's hundred
    /// connections still serve a dozen butlers.
    pub const POOL_SIZE: usize = 8;
    /// A pool larger than a PostgreSQL accepts by default is a typing error.
    pub const MAX_POOL_SIZE: usize = 100;
}

impl Default for DatabaseSection {
    fn default() -> Self {
        Self { url: None, read_url: None, schema: "public".to_owned(), pool_size: Self::POOL_SIZE }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuntimeSection {
    /// `command`: a program; `openai`: any endpoint compatible with it; `anthropic`.
    #[serde(rename = "type")]
    pub kind: RuntimeType,
    /// The program and its arguments: prompt on stdin, answer on stdout. `{mcp_config}` and `{system_prompt}` in an
    /// argument are replaced; `claude` is told both with its own flags.
    #[serde(default)]
    pub command: Vec<String>,
    /// How long an answer may take.
    #[serde(default = "RuntimeSection::default_timeout")]
    pub timeout_s: u64,
    /// The endpoint, as in `http://127.0.0.1:11434/v1`; needed with `openai`.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The model to ask; needed with `openai` and `anthropic`.
    #[serde(default)]
    pub model: Option<String>,
    /// The name of the environment variable that holds the key; the key itself never stands in a file.
    #[serde(default)]
    pub api_key_env: Option<String>,
}

impl RuntimeSection {
    const fn default_timeout() -> u64 {
        600
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeType {
    Command,
    Openai,
    Anthropic,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModulesSection {
    pub memory: MemoryConfig,
}
