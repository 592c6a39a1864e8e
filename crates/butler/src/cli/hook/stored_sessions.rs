//! Records how much of each session's transcript is already stored. A resumed session stores only its new part, even if
//! its transcript continues in another file.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use butler_host::error::HostError;
use serde::{Deserialize, Serialize};

/// Number of sessions to keep, newest last. Older sessions are unlikely to be resumed.
const SESSIONS: usize = 500;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Session {
    id: String,
    /// Id of the last stored message.
    last: String,
}

/// The file is locked while it is open, because two sessions may end at the same time.
pub struct StoredSessions {
    path: PathBuf,
    file: File,
    sessions: Vec<Session>,
}

impl StoredSessions {
    pub fn open(data_dir: &Path) -> Result<Self, HostError> {
        let path = data_dir.join("hook-sessions.json");
        let opened = || -> std::io::Result<(File, Vec<u8>)> {
            fs::create_dir_all(data_dir)?;
            let mut file =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path)?;
            file.lock()?;
            let mut text = Vec::new();
            file.read_to_end(&mut text)?;
            Ok((file, text))
        };
        let (file, text) = opened().map_err(HostError::io("open", &path))?;
        // A truncated file counts as empty. The idempotency key still prevents storing an episode twice.
        Ok(Self { sessions: serde_json::from_slice(&text).unwrap_or_default(), file, path })
    }

    /// Returns how many of these messages are already stored.
    pub fn stored_count<'a>(&self, messages: impl DoubleEndedIterator<Item = &'a str> + ExactSizeIterator) -> usize {
        let known = |id: &str| !id.is_empty() && self.sessions.iter().any(|it| it.last == id);
        messages.enumerate().rev().find(|(_, id)| known(id)).map_or(0, |(at, _)| at + 1)
    }

    /// Records the last stored message of a session.
    pub fn record(&mut self, session: &str, last: &str) -> Result<(), HostError> {
        self.sessions.retain(|it| it.id != session);
        self.sessions.push(Session { id: session.to_owned(), last: last.to_owned() });
        let surplus = self.sessions.len().saturating_sub(SESSIONS);
        self.sessions.drain(..surplus);
        let text = serde_json::to_vec(&self.sessions).map_err(|error| HostError::Failed(error.to_string()))?;
        let path = &self.path;
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.set_len(0))
            .and_then(|()| self.file.write_all(&text))
            .map_err(HostError::io("write", path))
    }
}
