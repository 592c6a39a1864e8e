//! Stores the new part of an ended session's transcript as an episode.

use std::io::{Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use butler_host::error::HostError;
use butler_host::instance;
use butler_host::session::transcript_of;
use serde_json::{Value, json};
use uuid::Uuid;

use super::stored_sessions::StoredSessions;
use super::{Input, call, object, open_client, transcript};
use crate::cli::Settings;

pub async fn session(
    input: &Input,
    raw: &[u8],
    settings: &Settings,
    timeout: Duration,
    foreground: bool,
) -> Result<Value, HostError> {
    if input.transcript_path.trim().is_empty() {
        let message = match raw.trim_ascii() {
            b"" => "stdin is empty, so there is no transcript to store",
            _ => "the hook input has no transcript_path, so there is no transcript to store",
        };
        let hint = "agents call this command with JSON on stdin; install the hook with `butler connect claude-code`";
        return Err(HostError::usage(message, hint));
    }
    if !foreground && instance::running(&settings.host.data_dir).is_none() {
        // Agents wait only briefly for a hook when they exit, so the work continues in the background. Check first
        // whether memory can be opened, so that the agent sees the error.
        drop(open_client(settings)?);
        in_background(raw).map_err(HostError::io("start", "butler hook session-end"))?;
        return Ok(json!({}));
    }
    let exchanges = transcript::read(Path::new(&input.transcript_path))
        .map_err(HostError::io("read the transcript", &input.transcript_path))?;
    let mut stored_sessions = StoredSessions::open(&settings.host.data_dir)?;
    let new = &exchanges[stored_sessions.stored_count(exchanges.iter().map(|exchange| exchange.id.as_str()))..];
    let content = transcript_of(
        new.iter().flat_map(|exchange| [("User", exchange.prompt.as_str()), ("Assistant", exchange.answer.as_str())]),
    );
    let (Some(last), false) = (new.last(), content.is_empty()) else { return Ok(json!({})) };
    let client = open_client(settings)?;
    let arguments = json!({
        "content": content, "butler": client.butler(), "session_id": session_id(&input.session_id),
        "metadata": {"source": "claude-code", "project": input.project(), "cwd": input.cwd, "reason": input.reason},
        "idempotency_key": format!("hook:{}:{}", truncated(&input.session_id), truncated(&last.id)),
    });
    // In the background the call may also start the database, which takes longer.
    let timeout = if foreground { timeout.max(Duration::from_secs(60)) } else { timeout };
    let stored = call(&client, "memory_store_episode", object(arguments), timeout).await;
    let closed = client.close().await;
    stored?;
    stored_sessions.record(&input.session_id, &last.id)?;
    closed.map(|()| json!({}))
}

/// Returns the session id as a UUID. An id in another format is hashed into one.
fn session_id(input: &str) -> Option<Uuid> {
    match (input.trim(), input.trim().parse()) {
        ("", _) => None,
        (_, Ok(id)) => Some(id),
        (text, Err(_)) => Some(Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes())),
    }
}

/// Truncates an overlong id, because the length of an idempotency key is limited.
fn truncated(id: &str) -> &str {
    &id[..id.floor_char_boundary(100)]
}

/// Starts this command again as a background process.
fn in_background(raw: &[u8]) -> std::io::Result<()> {
    let mut input = rustix::fs::memfd_create("hook", rustix::fs::MemfdFlags::CLOEXEC).map(std::fs::File::from)?;
    input.write_all(raw)?;
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
}
