//! The files of a backup: a dump and its manifest.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use butler_domain::Timestamp;
use chrono::TimeDelta;
use serde::Serialize;

use super::Manifest;
use crate::error::HostError;

const DUMP: &str = "dump";
const MANIFEST: &str = "json";
const PART: &str = "part";
/// Where files cannot be locked, a partial dump that has not changed for this long was left by a killed process.
const ABANDONED_AFTER: TimeDelta = TimeDelta::days(1);

#[derive(Debug, Clone, Serialize)]
pub struct Backup {
    pub name: String,
    pub path: PathBuf,
    pub bytes: u64,
    #[serde(flatten)]
    pub manifest: Manifest,
}

/// Lists the backups in a directory, newest first. Dumps without a readable manifest are ignored.
pub fn list(folder: &Path) -> Result<Vec<Backup>, HostError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(HostError::io("read", folder)(error)),
    };
    let mut found: Vec<Backup> = entries.filter_map(|entry| read(&entry.ok()?.path())).collect();
    found.sort_by(|a, b| b.manifest.created_at.cmp(&a.manifest.created_at).then_with(|| b.name.cmp(&a.name)));
    Ok(found)
}

fn read(path: &Path) -> Option<Backup> {
    if path.extension()? != DUMP {
        return None;
    }
    let manifest = serde_json::from_slice(&fs::read(path.with_extension(MANIFEST)).ok()?).ok()?;
    let name = path.file_stem()?.to_string_lossy().into_owned();
    Some(Backup { name, bytes: fs::metadata(path).ok()?.len(), path: path.to_path_buf(), manifest })
}

/// The backup with this name, or the latest.
pub fn find(folder: &Path, name: Option<&str>) -> Result<Backup, HostError> {
    let all = list(folder)?;
    let wanted = |stored: &&Backup| name.is_none_or(|name| stored.name == name.trim_end_matches(".dump"));
    match (all.iter().find(wanted), name) {
        (Some(stored), _) => Ok(stored.clone()),
        (None, None) => {
            Err(HostError::Failed("there is no backup yet: create one with `butler backup create`".to_owned()))
        }
        (None, Some(name)) => {
            Err(HostError::Failed(format!("there is no backup {name:?}: `butler backup list` shows all backups")))
        }
    }
}

/// Removes all but the newest `keep` backups and returns how many were removed. Removes the dump first: a manifest
/// without its dump is not listed.
pub fn prune(folder: &Path, keep: usize) -> Result<usize, HostError> {
    let surplus = list(folder)?.into_iter().skip(keep);
    let mut removed = 0;
    for stored in surplus {
        fs::remove_file(&stored.path).map_err(HostError::io("remove", &stored.path))?;
        let _ = fs::remove_file(stored.path.with_extension(MANIFEST));
        removed += 1;
    }
    Ok(removed)
}

/// A backup that is being written. If it is dropped before it is published, its file is removed.
pub struct Draft {
    part: PathBuf,
    path: PathBuf,
    /// Locked while this process writes the dump. The kernel releases the lock even if the process is killed.
    _lock: File,
}

impl Draft {
    pub fn new(folder: &Path, butler: &str, now: Timestamp) -> Result<Self, HostError> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(HostError::io("create", folder))?;
        // Milliseconds keep the names of two backups in the same second distinct.
        let path = folder.join(format!("{butler}-{}.{DUMP}", now.format("%Y%m%dT%H%M%S%3fZ")));
        let part = path.with_extension(format!("{DUMP}.{PART}"));
        for left in abandoned_parts(folder, now) {
            let _ = fs::remove_file(left);
        }
        let made = File::options().create(true).truncate(true).write(true).mode(0o600).open(&part);
        let lock = made.map_err(HostError::io("write", &part))?;
        let _ = lock.try_lock();
        Ok(Self { part, path, _lock: lock })
    }

    /// The file to write the dump to.
    pub fn part_path(&self) -> &Path {
        &self.part
    }

    /// Writes the manifest, then renames the dump. A backup is listed only when both exist.
    pub fn publish(self, manifest: Manifest) -> Result<Backup, HostError> {
        let text = serde_json::to_vec_pretty(&manifest).map_err(|error| HostError::Failed(error.to_string()))?;
        let manifest_path = self.path.with_extension(MANIFEST);
        File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&manifest_path)
            .and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()))
            .and_then(|()| File::open(&self.part)?.sync_all())
            .and_then(|()| fs::rename(&self.part, &self.path))
            .map_err(HostError::io("write", &self.path))?;
        read(&self.path).ok_or_else(|| HostError::Failed(format!("cannot read back {}", self.path.display())))
    }
}

/// Partial dumps that killed processes left.
pub fn abandoned_parts(folder: &Path, now: Timestamp) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == PART) && is_abandoned(path, now))
        .collect()
}

fn is_abandoned(part: &Path, now: Timestamp) -> bool {
    match File::open(part).map(|file| file.try_lock()) {
        Ok(Ok(())) => true,
        Ok(Err(fs::TryLockError::WouldBlock)) => false,
        _ => {
            let written = fs::metadata(part).and_then(|data| data.modified()).ok();
            written.is_some_and(|at| now - Timestamp::from(at) > ABANDONED_AFTER)
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.part);
    }
}

#[cfg(test)]
mod tests {
    use butler_domain::{Clock, SystemClock};

    use super::*;

    #[test]
    fn a_partial_dump_is_removed_unless_somebody_is_writing_it() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemClock.now();
        let left = folder.path().join("killed.dump.part");
        fs::write(&left, "half").unwrap();
        let first = Draft::new(folder.path(), "general", now).unwrap();
        assert!(!left.exists(), "a killed process left it");
        let second = Draft::new(folder.path(), "general", now + TimeDelta::milliseconds(1)).unwrap();
        assert!(first.part_path().exists() && second.part_path().exists());
        assert!(abandoned_parts(folder.path(), now).is_empty());
    }
}
