//! `butler hook` handles an agent's session hooks in Claude Code's JSON format. A hook never fails: it reports problems
//! on stderr, and the agent continues without memory.

mod start;
mod stop;
mod stored_sessions;
mod transcript;

use std::io::{self, Read, Write};
use std::time::Duration;

use butler_host::error::HostError;
use butler_host::{env, instance};
use butler_memory::runtime::TRIGGER_CONSOLIDATION;
use butler_memory::tool::{Answer, ErrorCode, ToolError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Settings;
use super::tool_client::ToolClient;

/// Handle an agent's session hooks
///
/// Reads the hook's JSON from stdin and prints the response to stdout, in Claude Code's format. `butler connect
/// claude-code` installs the hooks. If memory is not available, the hook reports this on stderr and exits with code 0.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    echo '{\"session_id\": \"…\", \"cwd\": \"/home/ann/shop\", \"source\": \"startup\"}' | butler hook session-start\n  \
    butler hook session-end < event.json")]
pub struct Args {
    #[command(subcommand)]
    event: Event,
}

#[derive(Debug, clap::Subcommand)]
enum Event {
    /// Print what memory knows about the project of a new session
    #[command(after_help = "Examples:\n  echo '{\"cwd\": \"/home/ann/shop\"}' | butler hook session-start --timeout 5")]
    SessionStart(Common),
    /// Store the new part of a session's transcript as an episode
    #[command(after_help = "Examples:\n  \
        echo '{\"session_id\": \"…\", \"transcript_path\": \"session.jsonl\"}' | butler hook session-end")]
    SessionEnd {
        #[command(flatten)]
        common: Common,
        /// Store the episode in this process, even without a running server
        #[arg(long, hide = true)]
        foreground: bool,
    },
    /// Print what memory knows about a prompt
    #[command(after_help = "Examples:\n  echo '{\"prompt\": \"Fix the build\"}' | butler hook user-prompt")]
    UserPrompt(Common),
}

#[derive(Debug, Clone, Copy, clap::Args)]
struct Common {
    /// Maximum time to wait for memory, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "2")]
    timeout: f64,
}

impl Common {
    fn timeout(self) -> Duration {
        Duration::try_from_secs_f64(self.timeout).unwrap_or(Duration::from_secs(2))
    }
}

/// The hook input that the agent sends. Every field is optional.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Input {
    session_id: String,
    transcript_path: String,
    cwd: String,
    hook_event_name: String,
    source: String,
    reason: String,
    prompt: String,
}

impl Input {
    /// The project's name: the last component of the working directory.
    fn project(&self) -> &str {
        self.cwd.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default()
    }
}

/// Limit of the hook input. It is usually a few hundred bytes, but may contain a long prompt.
const INPUT_BYTES: u64 = 4 * 1024 * 1024;

/// Runs a hook. It never fails; problems go to stderr.
pub async fn run(args: Args, settings: &Settings) {
    // `butler run` gets the context and stores the episode itself, and consolidation sessions are not remembered.
    let is_consolidation = env::var(env::TRIGGER_SOURCE).is_some_and(|source| source == TRIGGER_CONSOLIDATION);
    if is_consolidation || env::var(env::SESSION_ID).is_some() {
        return print(&json!({}));
    }
    let (input, raw) = match read() {
        Ok(read) => read,
        Err(reason) => {
            report(&reason, None);
            return print(&json!({}));
        }
    };
    let outcome = match args.event {
        Event::SessionStart(common) => start::session(&input, settings, common.timeout()).await,
        Event::UserPrompt(common) => start::prompt(&input, settings, common.timeout()).await,
        Event::SessionEnd { common, foreground } => {
            stop::session(&input, &raw, settings, common.timeout(), foreground).await
        }
    };
    match outcome {
        Ok(answer) => print(&answer),
        Err(error) => {
            report(&error.to_string(), error.hint());
            print(&json!({}));
        }
    }
}

fn read() -> Result<(Input, Vec<u8>), String> {
    let mut raw = Vec::new();
    io::stdin()
        .lock()
        .take(INPUT_BYTES)
        .read_to_end(&mut raw)
        .map_err(|error| format!("cannot read stdin: {error}"))?;
    if raw.trim_ascii().is_empty() {
        return Ok((Input::default(), raw));
    }
    match serde_json::from_slice(&raw) {
        Ok(input) => Ok((input, raw)),
        Err(error) => Err(format!("stdin is not valid hook input: {error}")),
    }
}

fn print(answer: &Value) {
    let _ = writeln!(io::stdout().lock(), "{answer}");
}

fn report(reason: &str, hint: Option<String>) {
    let hint = hint.map_or_else(String::new, |hint| format!("\nhint: {hint}"));
    let _ = writeln!(io::stderr().lock(), "butler: this session continues without memory: {reason}{hint}");
}

/// Opens memory if this is fast: a running server answers in milliseconds, and an existing database starts in about a
/// second. A first-time setup is too slow for a hook, so `butler serve` has to do it.
fn open_client(settings: &Settings) -> Result<ToolClient, HostError> {
    let data_dir = &settings.host.data_dir;
    let is_fast = instance::running(data_dir).is_some()
        || settings.host.database_url.is_some()
        || data_dir.join("postgres/PG_VERSION").is_file();
    if !is_fast {
        return Err(HostError::NotServing { data_dir: data_dir.clone() });
    }
    ToolClient::open(settings)
}

async fn call(
    client: &ToolClient,
    tool: &'static str,
    arguments: Map<String, Value>,
    timeout: Duration,
) -> Result<Answer, HostError> {
    match tokio::time::timeout(timeout, client.call(tool, arguments)).await {
        Ok(answer) => answer.map_err(HostError::Tool),
        Err(_) => {
            let message = format!("memory did not respond within {} s", timeout.as_secs_f64());
            let hint = Some("run `butler doctor` to find the cause, or keep `butler serve` running".to_owned());
            Err(HostError::Tool(ToolError { hint, ..ToolError::new(ErrorCode::Unavailable, message) }))
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
