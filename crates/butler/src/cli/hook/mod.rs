//! `butler hook`: an agent's own hooks, in the JSON that Claude Code speaks. Memory is a help, never a hindrance: whatever
//! goes wrong is said on stderr, and the agent goes on.

mod known;
mod start;
mod stop;
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

/// The memory steps of a session, for an agent's own hooks
///
/// They read the hook's JSON on stdin and answer on stdout, as Claude Code's hooks do. `butler connect claude-code`
/// installs them. If memory does not work they say so on stderr and end well.
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
    /// A session begins: what memory knows about the project goes to stdout
    #[command(after_help = "Examples:\n  echo '{\"cwd\": \"/home/ann/shop\"}' | butler hook session-start --timeout 5")]
    SessionStart(Common),
    /// A session ends: what is new in its transcript becomes an episode
    #[command(after_help = "Examples:\n  \
        echo '{\"session_id\": \"…\", \"transcript_path\": \"session.jsonl\"}' | butler hook session-end")]
    SessionEnd {
        #[command(flatten)]
        common: Common,
        /// Do it here and now, also without a server
        #[arg(long, hide = true)]
        foreground: bool,
    },
    /// A prompt was sent: what memory knows about it goes to stdout
    #[command(after_help = "Examples:\n  echo '{\"prompt\": \"Fix the build\"}' | butler hook user-prompt")]
    UserPrompt(Common),
}

#[derive(Debug, Clone, Copy, clap::Args)]
struct Common {
    /// How long to wait for memory, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "2")]
    timeout: f64,
}

impl Common {
    fn timeout(self) -> Duration {
        Duration::try_from_secs_f64(self.timeout).unwrap_or(Duration::from_secs(2))
    }
}

/// What the agent tells; all of it may be missing.
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
    /// The folder's name, which is what people call a project.
    fn project(&self) -> &str {
        self.cwd.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default()
    }
}

/// A few hundred bytes, or a long prompt.
const INPUT_BYTES: u64 = 4 * 1024 * 1024;

/// Never fails: what it has to say about memory that does not work goes to stderr.
pub async fn run(args: Args, settings: &Settings) {
    // `butler run` asks and tells memory itself; memory's own work is not remembered.
    let own = env::var(env::TRIGGER_SOURCE).is_some_and(|source| source == TRIGGER_CONSOLIDATION);
    if own || env::var(env::SESSION_ID).is_some() {
        return print(&json!({}));
    }
    let (input, raw) = match read() {
        Ok(read) => read,
        Err(reason) => {
            complain(&reason, None);
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
            complain(&error.to_string(), error.hint());
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
        .map_err(|error| format!("stdin cannot be read: {error}"))?;
    if raw.trim_ascii().is_empty() {
        return Ok((Input::default(), raw));
    }
    match serde_json::from_slice(&raw) {
        Ok(input) => Ok((input, raw)),
        Err(error) => Err(format!("what is on stdin is not a hook's JSON: {error}")),
    }
}

fn print(answer: &Value) {
    let _ = writeln!(io::stdout().lock(), "{answer}");
}

fn complain(reason: &str, hint: Option<String>) {
    let hint = hint.map_or_else(String::new, |hint| format!("\nhint: {hint}"));
    let _ = writeln!(io::stderr().lock(), "butler: this session goes on without memory: {reason}{hint}");
}

/// A server answers in milliseconds; a database that was set up before is started in about a second. What would have to
/// be set up first is left to `butler serve`.
fn open_client(settings: &Settings) -> Result<ToolClient, HostError> {
    let data_dir = &settings.host.data_dir;
    let cheap = instance::running(data_dir).is_some()
        || settings.host.database_url.is_some()
        || data_dir.join("postgres/PG_VERSION").is_file();
    if !cheap {
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
            let message = format!("memory gave no answer within {} s", timeout.as_secs_f64());
            let hint = Some("`butler doctor` looks at it; `butler serve` keeps it ready".to_owned());
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
