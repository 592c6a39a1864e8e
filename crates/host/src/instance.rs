//! Allows at most one `serve` per data directory, and tells other commands how to reach it.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use butler_domain::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::Source;
use crate::error::{HostError, RunningServer};

/// What a running server writes about itself to `serve.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    pub pid: u32,
    /// The address for plain HTTP from this machine.
    pub address: SocketAddr,
    /// The URL for other clients.
    pub url: String,
    pub started: Timestamp,
    pub version: String,
    /// The butlers at start; `/mcp` leads to the first.
    #[serde(default)]
    pub butlers: Vec<String>,
    /// The server's configuration source, which other commands use by default.
    #[serde(default)]
    pub source: Source,
    /// The external database, if any, which other commands use by default.
    #[serde(default)]
    pub database_url: Option<String>,
    /// A bearer token with all rights for every tenant, for commands of the same user. Only that user can read the
    /// file.
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

/// Creates the data directory, accessible to its owner only.
pub fn create_data_dir(data_dir: &Path) -> Result<(), HostError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data_dir)
        .map_err(HostError::io("create the data directory", data_dir))
}

/// The server that is running on this data directory. The lock decides whether there is one, not `serve.json`, which a
/// killed server leaves behind.
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

/// The lock of the serving process. The kernel releases it even if the process is killed.
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
                    running: read(data_dir).map(|server| RunningServer { pid: server.pid, url: server.url }),
                });
            }
            Err(fs::TryLockError::Error(error)) => return Err(HostError::io("lock", path)(error)),
        }
        // A file left by a killed server would direct other commands to an address that nobody serves.
        let _ = fs::remove_file(state_file(data_dir));
        Ok(Self { data_dir: data_dir.to_path_buf(), _file: file })
    }

    /// Writes `serve.json` atomically, so that readers never see a partial file.
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
    fn files_left_by_a_killed_server_do_not_count_as_a_running_server() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(lock_file(dir.path()), "").unwrap();
        fs::write(state_file(dir.path()), serde_json::to_vec(&instance()).unwrap()).unwrap();
        assert_eq!(running(dir.path()), None);
    }
}
