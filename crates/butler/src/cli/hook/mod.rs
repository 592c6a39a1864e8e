//! `butler hook` handles an agent's session hooks in Claude Code's JSON format. A hook never fails: it reports problems
//! on stderr, and the agent continues without memory.

mod start;
mod stop;
mod stored_messages;
mod transcript;

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use butler_host::error::HostError;
use butler_host::{env, instance};
use butler_memory::runtime::is_internal;
use butler_memory::tool::{Answer, ErrorCode, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Settings;
use super::tool_client::ToolClient;

/// Handle an agent's session hooks
///
/// Reads the hook's JSON from stdin and prints the response to stdout, in Claude Code's format, which Codex and Gemini CLI share.
/// `butler connect` installs the hooks. If memory is not available, the hook reports this on stderr and exits with code 0.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    echo '{\"cwd\": \"/home/ann/shop\"}' | butler hook session-start\n  \
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
        echo '{\"transcript_path\": \"session.jsonl\"}' | butler hook session-end")]
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
    /// Maximum time the hook may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "2")]
    timeout: f64,
}

impl Event {
    fn deadline(&self) -> Deadline {
        let (Self::SessionStart(common) | Self::UserPrompt(common) | Self::SessionEnd { common, .. }) = self;
        let timeout = Duration::try_from_secs_f64(common.timeout).unwrap_or(Duration::from_secs(2));
        Deadline { began: Instant::now(), timeout }
    }
}

/// The time by which a hook ends, whatever it waits for: stdin, a file, a lock or the server.
#[derive(Debug, Clone, Copy)]
struct Deadline {
    began: Instant,
    timeout: Duration,
}

impl Deadline {
    /// The same deadline, at least `timeout` after the start.
    fn at_least(self, timeout: Duration) -> Self {
        Self { timeout: self.timeout.max(timeout), ..self }
    }

    /// Waits for the future until the deadline. The error says what was waited for.
    async fn wait<T>(self, what: &str, future: impl Future<Output = T>) -> Result<T, HostError> {
        let left = self.timeout.saturating_sub(self.began.elapsed());
        tokio::time::timeout(left, future).await.map_err(|_| {
            let message = format!("{what} did not respond within {} s", self.timeout.as_secs_f64());
            let hint = Some("run `butler doctor` to find the cause, or keep `butler serve` running".to_owned());
            HostError::Tool(ToolError { hint, ..ToolError::new(ErrorCode::Unavailable, message) })
        })
    }

    /// Runs work that may block on a thread of its own, which does not keep the process alive.
    async fn block<T: Send + 'static>(
        self,
        what: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, HostError> {
        let done = self.wait(what, tokio::task::spawn_blocking(work)).await?;
        done.map_err(|error| HostError::Failed(format!("{what}: {error}")))
    }
}

/// The hook input that the agent sends. Every field is optional.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Input {
    session_id: String,
    // Codex sends null for a session without a transcript.
    #[serde(deserialize_with = "text_or_null")]
    transcript_path: String,
    cwd: String,
    hook_event_name: String,
    source: String,
    reason: String,
    prompt: String,
}

fn text_or_null<'de, D: serde::Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or_default())
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
    // `butler run` gets the context and stores the episode itself, and sessions about the memory are not remembered.
    let about_memory = env::var(env::TRIGGER_SOURCE).is_some_and(|source| source.to_str().is_some_and(is_internal));
    if about_memory || env::var(env::SESSION_ID).is_some() {
        return print(&json!({}));
    }
    let deadline = args.event.deadline();
    let outcome = match deadline.block("stdin", read).await.and_then(|read| read) {
        Ok(input) => respond(args.event, input, settings, deadline).await,
        Err(error) => Err(error),
    };
    match outcome {
        Ok(answer) => print(&answer),
        Err(error) => {
            report(&error.to_string(), error.hint());
            print(&json!({}));
        }
    }
}

async fn respond(
    event: Event,
    input: Option<Input>,
    settings: &Settings,
    deadline: Deadline,
) -> Result<Value, HostError> {
    let is_empty = input.is_none();
    let input = input.unwrap_or_default();
    match event {
        Event::SessionStart(_) => start::session(input, settings, deadline).await,
        Event::UserPrompt(_) => start::prompt(input, settings, deadline).await,
        Event::SessionEnd { .. } if input.transcript_path.trim().is_empty() => Err(no_transcript(is_empty)),
        Event::SessionEnd { foreground: false, .. } => stop::session(input, settings, deadline).await,
        Event::SessionEnd { foreground: true, .. } => stop::in_foreground(input, settings, deadline).await,
    }
}

/// Reads one JSON object from stdin; `None` if stdin is empty. The agent need not close its end.
fn read() -> Result<Option<Input>, HostError> {
    let stdin = io::BufReader::new(io::stdin().lock().take(INPUT_BYTES));
    match serde_json::Deserializer::from_reader(stdin).into_iter::<Input>().next() {
        None => Ok(None),
        Some(Ok(input)) => Ok(Some(input)),
        Some(Err(error)) if error.is_io() => Err(HostError::Failed(format!("cannot read stdin: {error}"))),
        Some(Err(error)) => Err(HostError::Failed(format!("stdin is not valid hook input: {error}"))),
    }
}

fn no_transcript(is_empty: bool) -> HostError {
    let message = match is_empty {
        true => "stdin is empty, so there is no transcript to store",
        false => "the hook input has no transcript_path, so there is no transcript to store",
    };
    let hint = "agents call this command with JSON on stdin; install the hook with `butler connect claude-code`";
    HostError::usage(message, hint)
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
    deadline: Deadline,
) -> Result<Answer, HostError> {
    deadline.wait("memory", client.call(tool, arguments)).await?.map_err(HostError::Tool)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
