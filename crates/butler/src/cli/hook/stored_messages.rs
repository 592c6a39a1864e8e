//! Remembers the last message of each stored part of a transcript, so that a resumed session stores only its new part,
//! even if its transcript continues in another file. Each message is an empty file, so that sessions that end at the
//! same time need no lock.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use uuid::Uuid;

/// Number of messages to keep. Sessions with older ones are unlikely to be resumed.
const KEPT: usize = 1000;

pub struct StoredMessages {
    directory: PathBuf,
}

impl StoredMessages {
    pub fn new(data_dir: &Path) -> Self {
        Self { directory: data_dir.join("hook-sessions") }
    }

    /// How many of these messages are already stored.
    pub fn count<'a>(&self, messages: impl DoubleEndedIterator<Item = &'a str> + ExactSizeIterator) -> usize {
        let is_stored = |id: &str| !id.is_empty() && self.file(id).exists();
        messages.enumerate().rev().find(|(_, id)| is_stored(id)).map_or(0, |(index, _)| index + 1)
    }

    /// Records that everything up to this message is stored.
    pub fn record(&self, message: &str) -> io::Result<()> {
        if message.is_empty() {
            return Ok(());
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(self.file(message))?;
        self.remove_old()
    }

    fn file(&self, message: &str) -> PathBuf {
        self.directory.join(Uuid::new_v5(&Uuid::NAMESPACE_OID, message.as_bytes()).to_string())
    }

    /// Halves the number of files once there are too many.
    fn remove_old(&self) -> io::Result<()> {
        let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(&self.directory)?
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        if files.len() > KEPT {
            files.sort_unstable();
            files.iter().take(KEPT / 2).try_for_each(|(_, path)| fs::remove_file(path))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumed_session_continues_after_its_last_stored_message() {
        let dir = tempfile::tempdir().unwrap();
        let messages = StoredMessages::new(dir.path());
        assert_eq!(messages.count(["a", "b"].into_iter()), 0);
        messages.record("b").unwrap();
        assert_eq!(messages.count(["a", "b", "c", ""].into_iter()), 2);
        messages.record("").unwrap();
        assert_eq!(messages.count([""].into_iter()), 0, "a message without an id is never known");
    }

    #[test]
    fn old_messages_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let messages = StoredMessages::new(dir.path());
        (0..=KEPT).for_each(|id| messages.record(&id.to_string()).unwrap());
        assert!(fs::read_dir(&messages.directory).unwrap().count() <= KEPT);
        assert_eq!(messages.count([KEPT.to_string().as_str()].into_iter()), 1, "the newest stays");
    }
}
