//! How far each session's transcript has been told already: a session that is resumed tells only what is new, also when
//! its transcript goes on in another file.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use butler_host::error::HostError;
use serde::{Deserialize, Serialize};

/// Sessions that are remembered, the latest last; older ones are not resumed any more.
const SESSIONS: usize = 500;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Session {
    id: String,
    /// The last message that was told.
    last: String,
}

/// Locked while it is open: two sessions may end at the same time.
pub struct Known {
    path: PathBuf,
    file: File,
    sessions: Vec<Session>,
}

impl Known {
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
        // A file that was cut short is begun anew; the idempotency key still keeps a session from being told twice.
        Ok(Self { sessions: serde_json::from_slice(&text).unwrap_or_default(), file, path })
    }

    /// How many of these messages have been told.
    pub fn told<'a>(&self, messages: impl DoubleEndedIterator<Item = &'a str> + ExactSizeIterator) -> usize {
        let known = |id: &str| !id.is_empty() && self.sessions.iter().any(|it| it.last == id);
        messages.enumerate().rev().find(|(_, id)| known(id)).map_or(0, |(at, _)| at + 1)
    }

    pub fn tell(&mut self, session: &str, last: &str) -> Result<(), HostError> {
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
