//! A session has ended: what is new in its transcript becomes an episode.

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

use super::known::Known;
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
            b"" => "nothing came on stdin, so there is no transcript to remember",
            _ => "the hook's JSON on stdin names no transcript_path, so there is nothing to remember",
        };
        let hint = "an agent's hook calls this with JSON on stdin; `butler connect claude-code` installs it";
        return Err(HostError::usage(message, hint));
    }
    if !foreground && instance::running(&settings.host.data_dir).is_none() {
        // Said before the agent is let go: it does not wait long for a hook at its own end.
        drop(open_client(settings)?);
        in_background(raw).map_err(HostError::io("start", "butler hook session-end"))?;
        return Ok(json!({}));
    }
    let turns = transcript::read(Path::new(&input.transcript_path))
        .map_err(HostError::io("read the transcript", &input.transcript_path))?;
    let mut known = Known::open(&settings.host.data_dir)?;
    let fresh = &turns[known.told(turns.iter().map(|turn| turn.id.as_str()))..];
    let content = transcript_of(
        fresh.iter().flat_map(|turn| [("User", turn.asked.as_str()), ("Assistant", turn.answered.as_str())]),
    );
    let (Some(last), false) = (fresh.last(), content.is_empty()) else { return Ok(json!({})) };
    let client = open_client(settings)?;
    let arguments = json!({
        "content": content, "butler": client.butler(), "session_id": session_id(&input.session_id),
        "metadata": {"source": "claude-code", "project": input.project(), "cwd": input.cwd, "reason": input.reason},
        "idempotency_key": format!("hook:{}:{}", bounded(&input.session_id), bounded(&last.id)),
    });
    // Without a server the first call also starts the database.
    let timeout = if foreground { timeout.max(Duration::from_secs(60)) } else { timeout };
    let stored = call(&client, "memory_store_episode", object(arguments), timeout).await;
    let closed = client.close().await;
    stored?;
    known.tell(&input.session_id, &last.id)?;
    closed.map(|()| json!({}))
}

/// An id that is no UUID still means one session.
fn session_id(given: &str) -> Option<Uuid> {
    match (given.trim(), given.trim().parse()) {
        ("", _) => None,
        (_, Ok(id)) => Some(id),
        (text, Err(_)) => Some(Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes())),
    }
}

/// A key has a limit, which a well-formed id is far below.
fn bounded(id: &str) -> &str {
    &id[..id.floor_char_boundary(100)]
}

/// The same command again, with nobody waiting for it.
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
        // Out of the agent's process group, so that it is not ended along with the agent.
        .process_group(0)
        .spawn()
        .map(drop)
}
