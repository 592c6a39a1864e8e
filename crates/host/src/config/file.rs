use std::time::Duration;

use butler_memory::MemoryConfig;
use butler_store::DatabaseOptions;
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
    /// Settings of the process, not of a single butler.
    pub server: ServerSection,
    pub telemetry: TelemetrySection,
    pub modules: ModulesSection,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ButlerSection {
    /// Name of the butler. Default: the name of its directory in a roster, otherwise `general`.
    pub name: Option<String>,
    /// The purpose of this butler in one sentence, for people and for programs that choose a butler.
    pub description: Option<String>,
    /// The name of the person whose agents use this butler. `user`, `me` and `I` mean this person in what the default tenant
    /// stores and asks. The entity is created if there is none of that name.
    pub owner: Option<String>,
    pub database: DatabaseSection,
    /// Which tools clients see unless they request another profile: `full`, `core` or `read-only`.
    pub profile: Profile,
    /// The LLM. Default: none, so consolidation is a dry run.
    pub runtime: Option<RuntimeSection>,
    pub session: SessionSection,
    pub backup: BackupSection,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionSection {
    /// How long a session waits for memory when it starts and when it ends, in seconds. After that it continues without
    /// memory.
    pub memory_timeout_s: f64,
}

impl SessionSection {
    /// Reading a context takes about 20 ms; a person notices a delay of two seconds.
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
    /// URL of the database. Default: a separate database in the private PostgreSQL.
    pub url: Option<String>,
    /// URL of a replica for retrieval.
    pub read_url: Option<String>,
    /// Schema that contains all objects of the butler. Butlers with different schemas can share a database.
    pub schema: String,
    /// Maximum number of connections for requests. Background jobs use a few more.
    pub pool_size: usize,
}

impl DatabaseSection {
    /// PostgreSQL accepts 100 connections by default, so a larger pool is a mistake.
    pub const MAX_POOL_SIZE: usize = 100;
}

impl Default for DatabaseSection {
    fn default() -> Self {
        Self { url: None, read_url: None, schema: "public".to_owned(), pool_size: DatabaseOptions::POOL_SIZE }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuntimeSection {
    /// `command` for a program, `openai` for any OpenAI-compatible endpoint, or `anthropic`.
    #[serde(rename = "type")]
    pub kind: RuntimeType,
    /// The program and its arguments. It reads the prompt on stdin and writes the response to stdout. The placeholders
    /// `{mcp_config}` and `{system_prompt_file}` in an argument are replaced by the paths of files; `claude` gets both
    /// through its own flags. Paths must be absolute, because consolidation runs the program in an empty directory.
    #[serde(default)]
    pub command: Vec<String>,
    /// Names of more environment variables that consolidation passes to the program. It passes `HOME`, `PATH`, the
    /// locale, proxies, certificates and the variables of the common model providers, and nothing else. `butler run`
    /// passes all variables.
    #[serde(default)]
    pub env: Vec<String>,
    /// Timeout for a response, in seconds.
    #[serde(default = "RuntimeSection::default_timeout")]
    pub timeout_s: u64,
    /// URL of the endpoint, for example `http://127.0.0.1:11434/v1`. Required for `openai`.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Name of the model. Required for `openai` and `anthropic`.
    #[serde(default)]
    pub model: Option<String>,
    /// Name of the environment variable that contains the API key. The key itself is never stored in a file.
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
