//! At most one `serve` on a data directory, and where the others find it.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use butler_domain::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::Source;
use crate::error::HostError;

/// What a running server tells about itself in `serve.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    pub pid: u32,
    /// Where the commands of this machine speak plain HTTP to it.
    pub address: SocketAddr,
    /// Where others reach it.
    pub url: String,
    pub started: Timestamp,
    pub version: String,
    /// The butlers it began with; the first is the one at `/mcp`.
    #[serde(default)]
    pub butlers: Vec<String>,
    /// Where they are described, for commands that are told nothing else.
    #[serde(default)]
    pub source: Source,
    /// The database it was started with, if not the private one: commands that are told nothing else mean the same.
    #[serde(default)]
    pub database_url: Option<String>,
    /// The bearer of the commands of this user on this machine: all rights, any tenant. The file is theirs alone.
    #[serde(default)]
    pub secret: Option<String>,
}

impl Instance {
    pub fn secret(&self) -> Option<&str> {
        self.secret.as_deref()
    }
}

fn lock_file(data_dir: &Path) -> PathBuf {
    data_dir.join("serve.lock")
}

fn state_file(data_dir: &Path) -> PathBuf {
    data_dir.join("serve.json")
}

/// Makes the data directory, readable for its owner alone.
pub fn create_data_dir(data_dir: &Path) -> Result<(), HostError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data_dir)
        .map_err(HostError::io("create the data directory", data_dir))
}

/// The server that runs on this data directory, if one does: its lock is held, whatever `serve.json` says.
pub fn running(data_dir: &Path) -> Option<Instance> {
    let lock = File::open(lock_file(data_dir)).ok()?;
    match lock.try_lock_shared() {
        Ok(()) => None,
        Err(_) => read(data_dir),
    }
}

fn read(data_dir: &Path) -> Option<Instance> {
    serde_json::from_slice(&fs::read(state_file(data_dir)).ok()?).ok()
}

/// Held while this process serves. The kernel releases it however the process ends.
#[derive(Debug)]
pub struct Lock {
    data_dir: PathBuf,
    _file: File,
}

impl Lock {
    pub fn acquire(data_dir: &Path) -> Result<Self, HostError> {
        create_data_dir(data_dir)?;
        let path = lock_file(data_dir);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(HostError::io("write", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(HostError::AlreadyRunning {
                    data_dir: data_dir.to_path_buf(),
                    running: read(data_dir).map(Box::new),
                });
            }
            Err(fs::TryLockError::Error(error)) => return Err(HostError::io("lock", path)(error)),
        }
        // What a killed server left behind would send others to an address that nobody serves.
        let _ = fs::remove_file(state_file(data_dir));
        Ok(Self { data_dir: data_dir.to_path_buf(), _file: file })
    }

    /// Tells others where this server is; a reader sees the whole file or none.
    pub fn announce(&self, instance: &Instance) -> Result<(), HostError> {
        let path = state_file(&self.data_dir);
        let fresh = path.with_extension("json.new");
        let text = serde_json::to_vec_pretty(instance).map_err(|error| HostError::Failed(error.to_string()))?;
        OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&fresh)
            .and_then(|mut file| file.write_all(&text))
            .and_then(|()| fs::rename(&fresh, &path))
            .map_err(HostError::io("write", path))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(state_file(&self.data_dir));
    }
}

#[cfg(test)]
mod tests {
    use butler_domain::{Clock, SystemClock};

    use super::*;

    fn instance() -> Instance {
        Instance {
            pid: std::process::id(),
            address: "127.0.0.1:8150".parse().unwrap(),
            started: SystemClock.now(),
            url: "http://127.0.0.1:8150".to_owned(),
            version: "0.0.0".to_owned(),
            butlers: vec!["general".to_owned()],
            source: Source::Defaults,
            database_url: None,
            secret: Some("0123".to_owned()),
        }
    }

    #[test]
    fn a_second_lock_on_the_same_data_directory_names_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock::acquire(dir.path()).unwrap();
        lock.announce(&instance()).unwrap();
        let error = Lock::acquire(dir.path()).unwrap_err();
        assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
        assert_eq!(
            running(dir.path()),
            Some(instance()).map(|mut it| {
                it.started = running(dir.path()).unwrap().started;
                it
            })
        );
        drop(lock);
        assert_eq!(running(dir.path()), None);
        Lock::acquire(dir.path()).unwrap();
    }

    #[test]
    fn what_a_killed_server_left_behind_is_not_a_running_server() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(lock_file(dir.path()), "").unwrap();
        fs::write(state_file(dir.path()), serde_json::to_vec(&instance()).unwrap()).unwrap();
        assert_eq!(running(dir.path()), None);
    }
}
