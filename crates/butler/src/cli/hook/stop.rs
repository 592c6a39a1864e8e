//! Stores the new part of an ended session's transcript as an episode. The episode is written to the spool first, so
//! that it is not lost if memory does not respond in time.

use std::io::{self, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use butler_domain::secrets::Redactor;
use butler_host::config;
use butler_host::error::HostError;
use butler_host::instance::create_data_dir;
use butler_host::session::transcript_of;
use butler_host::spool::{Spool, SpoolEntry, SpooledCall};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::stored_messages::StoredMessages;
use super::{Deadline, Input, call, object, open_client, report, transcript};
use crate::cli::Settings;
use crate::cli::tool_client::ToolClient;

const TOOL: &str = "memory_store_episode";

/// In the background there is time to start the database and to read a long transcript.
const BACKGROUND_TIMEOUT: Duration = Duration::from_secs(60);

/// Stores the episode through a running server, or else in a background process: agents wait only briefly when they
/// exit.
pub async fn session(input: Input, settings: &Settings, deadline: Deadline) -> Result<Value, HostError> {
    let raw = json!(input).to_string();
    let episode = match Episode::prepare(input, settings, deadline).await {
        Ok(Some(episode)) => episode,
        Ok(None) => return Ok(json!({})),
        Err(Unprepared::Slow(slow)) => {
            in_background(&raw)?;
            report(&format!("{slow}; a background process stores the session"), None);
            return Ok(json!({}));
        }
        Err(Unprepared::Failed(error)) => return Err(error),
    };
    // If memory cannot be opened, the agent should see the error.
    let client = match open_client(settings) {
        Ok(client) => client,
        Err(error) => return Err(episode.undelivered(&error)),
    };
    if client.server().is_some() {
        return episode.deliver(&client, deadline).await.map(|()| json!({}));
    }
    if let Err(error) = &episode.kept {
        report(&format!("{error}; a background process tries to store the session"), None);
    }
    // The background process delivers the spool, so the entry must no longer be locked.
    drop(episode);
    in_background(&raw)?;
    Ok(json!({}))
}

/// Stores the episode in this process, and everything else that waits in the spool.
pub async fn in_foreground(input: Input, settings: &Settings, deadline: Deadline) -> Result<Value, HostError> {
    let deadline = deadline.at_least(BACKGROUND_TIMEOUT);
    let episode = Episode::prepare(input, settings, deadline).await.map_err(Unprepared::into_error)?;
    let client = open_client(settings)?;
    let delivered = async {
        if let Some(episode) = episode {
            episode.deliver(&client, deadline).await?;
        }
        deadline.wait("memory", client.deliver_spooled()).await?
    };
    let delivered = delivered.await;
    let closed = client.close().await;
    delivered.and(closed).map(|()| json!({}))
}

enum Unprepared {
    /// The deadline passed while the transcript was read.
    Slow(HostError),
    Failed(HostError),
}

impl Unprepared {
    fn into_error(self) -> HostError {
        let (Self::Slow(error) | Self::Failed(error)) = self;
        error
    }
}

/// The new part of a transcript, to be stored.
struct Episode {
    call: SpooledCall,
    /// The id of its last message.
    last: String,
    messages: StoredMessages,
    /// The entry in the spool, or why it could not be written.
    kept: Result<SpoolEntry, HostError>,
}

impl Episode {
    /// Reads the transcript and writes its new part to the spool; `None` if nothing is new.
    async fn prepare(input: Input, settings: &Settings, deadline: Deadline) -> Result<Option<Self>, Unprepared> {
        let settings = settings.clone();
        let prepared = deadline.block("the transcript", move || Self::read(&input, &settings)).await;
        prepared.map_err(Unprepared::Slow)?.map_err(Unprepared::Failed)
    }

    fn read(input: &Input, settings: &Settings) -> Result<Option<Self>, HostError> {
        let mut exchanges = transcript::read(Path::new(&input.transcript_path))
            .map_err(HostError::io("read the transcript", &input.transcript_path))?;
        let messages = StoredMessages::new(&settings.host.data_dir);
        let stored = messages.count(exchanges.iter().map(|exchange| exchange.id.as_str()));
        let new = &mut exchanges[stored..];
        let redactor = config::load_all(&settings.host.source)
            .map_or_else(|_| Redactor::standard(), |butlers| config::redactor(&butlers));
        // Before the text is shortened, because a part of a secret may not be recognised, and before it is spooled.
        for exchange in &mut *new {
            redactor.redact_text(&mut exchange.prompt);
            redactor.redact_text(&mut exchange.answer);
        }
        let content = transcript_of(
            new.iter()
                .flat_map(|exchange| [("User", exchange.prompt.as_str()), ("Assistant", exchange.answer.as_str())]),
        );
        let (Some(last), false) = (new.last().map(|exchange| exchange.id.clone()), content.is_empty()) else {
            return Ok(None);
        };
        let mut arguments = arguments(input, &last, &content, settings);
        redactor.redact_object(&mut arguments);
        let call = SpooledCall { butler: settings.butler.clone(), tool: TOOL.to_owned(), arguments };
        let spool = Spool::new(&settings.host.data_dir);
        let kept = create_data_dir(&settings.host.data_dir)
            .and_then(|()| spool.add(call.clone()).map_err(HostError::io("write to the spool", spool.directory())));
        let episode = Self { call, last, messages, kept };
        if episode.kept.is_ok() {
            episode.record();
        }
        Ok(Some(episode))
    }

    /// Stores the episode. If that fails it stays in the spool, and the error says so.
    async fn deliver(self, client: &ToolClient, deadline: Deadline) -> Result<(), HostError> {
        let arguments = self.call.arguments_for(client.butler());
        if let Err(error) = call(client, TOOL, arguments, deadline).await {
            return Err(self.undelivered(&error));
        }
        match self.kept {
            Ok(entry) => entry.delivered().map_err(HostError::io("remove an entry from", "the spool")),
            Err(_) => {
                self.record();
                Ok(())
            }
        }
    }

    fn undelivered(self, error: &HostError) -> HostError {
        let outcome = match self.kept {
            Ok(_) => "the session is kept, and the next butler process stores it".to_owned(),
            Err(problem) => format!("the session is lost, because Butler {problem}"),
        };
        HostError::Usage { message: format!("{error}; {outcome}"), hint: error.hint() }
    }

    /// Records that the session is stored up to here. If that fails, the next part of the session repeats this one.
    fn record(&self) {
        if let Err(error) = self.messages.record(&self.last) {
            report(&format!("a resumed session will be stored again from its beginning: {error}"), None);
        }
    }
}

fn arguments(input: &Input, last: &str, content: &str, settings: &Settings) -> Map<String, Value> {
    let last = if last.is_empty() { hashed(content).to_string() } else { truncated(last).to_owned() };
    let mut arguments = object(json!({
        "content": content, "session_id": session_id(&input.session_id),
        "metadata": {"source": "claude-code", "project": input.project(), "cwd": input.cwd, "reason": input.reason},
        "idempotency_key": format!("hook:{}:{last}", truncated(&input.session_id)),
    }));
    if let Some(tenant) = &settings.tenant {
        arguments.insert("request_context".to_owned(), json!({"tenant_id": tenant.as_str()}));
    }
    arguments
}

/// Returns the session id as a UUID. An id in another format is hashed into one.
fn session_id(input: &str) -> Option<Uuid> {
    match (input.trim(), input.trim().parse()) {
        ("", _) => None,
        (_, Ok(id)) => Some(id),
        (text, Err(_)) => Some(hashed(text)),
    }
}

fn hashed(text: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes())
}

/// Truncates an overlong id, because the length of an idempotency key is limited.
fn truncated(id: &str) -> &str {
    &id[..id.floor_char_boundary(100)]
}

/// Starts this command again as a background process.
fn in_background(raw: &str) -> Result<(), HostError> {
    let start = || -> io::Result<()> {
        let mut input = rustix::fs::memfd_create("hook", rustix::fs::MemfdFlags::CLOEXEC).map(std::fs::File::from)?;
        input.write_all(raw.as_bytes())?;
        input.rewind()?;
        Command::new(std::env::current_exe()?)
            .args(std::env::args_os().skip(1))
            .arg("--foreground")
            .stdin(Stdio::from(input))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A process group of its own, so that it survives the agent.
            .process_group(0)
            .spawn()
            .map(drop)
    };
    start().map_err(HostError::io("start", "butler hook session-end"))
}
