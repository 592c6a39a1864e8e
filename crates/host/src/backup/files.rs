//! Backups as files: a dump and its note, there together or not at all.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use butler_domain::Timestamp;
use chrono::TimeDelta;
use serde::Serialize;

use super::Note;
use crate::error::HostError;

const DUMP: &str = "dump";
const NOTE: &str = "json";
const PART: &str = "part";
/// No dump stands still for so long.
const ABANDONED: TimeDelta = TimeDelta::days(1);

#[derive(Debug, Clone, Serialize)]
pub struct Stored {
    pub name: String,
    pub path: PathBuf,
    pub bytes: u64,
    #[serde(flatten)]
    pub note: Note,
}

/// Newest first. A dump whose note is missing or damaged is none of ours.
pub fn list(folder: &Path) -> Result<Vec<Stored>, HostError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(HostError::io("read", folder)(error)),
    };
    let mut found: Vec<Stored> = entries.filter_map(|entry| read(&entry.ok()?.path())).collect();
    found.sort_by(|a, b| b.note.created_at.cmp(&a.note.created_at).then_with(|| b.name.cmp(&a.name)));
    Ok(found)
}

fn read(path: &Path) -> Option<Stored> {
    if path.extension()? != DUMP {
        return None;
    }
    let note = serde_json::from_slice(&fs::read(path.with_extension(NOTE)).ok()?).ok()?;
    let name = path.file_stem()?.to_string_lossy().into_owned();
    Some(Stored { name, bytes: fs::metadata(path).ok()?.len(), path: path.to_path_buf(), note })
}

/// By name, or the latest.
pub fn named(folder: &Path, name: Option<&str>) -> Result<Stored, HostError> {
    let all = list(folder)?;
    let wanted = |stored: &&Stored| name.is_none_or(|name| stored.name == name.trim_end_matches(".dump"));
    match (all.iter().find(wanted), name) {
        (Some(stored), _) => Ok(stored.clone()),
        (None, None) => {
            Err(HostError::Failed("there is no backup yet: make one with `butler backup create`".to_owned()))
        }
        (None, Some(name)) => {
            Err(HostError::Failed(format!("there is no backup {name:?}: `butler backup list` shows those there are")))
        }
    }
}

/// Removes all but the newest; says how many. The dump goes first: without it the note is none.
pub fn prune(folder: &Path, keep: usize) -> Result<usize, HostError> {
    let surplus = list(folder)?.into_iter().skip(keep);
    let mut removed = 0;
    for stored in surplus {
        fs::remove_file(&stored.path).map_err(HostError::io("remove", &stored.path))?;
        let _ = fs::remove_file(stored.path.with_extension(NOTE));
        removed += 1;
    }
    Ok(removed)
}

/// A backup on its way; dropped unpublished, it leaves nothing behind.
pub struct Draft {
    part: PathBuf,
    place: PathBuf,
}

impl Draft {
    pub fn new(folder: &Path, butler: &str, now: Timestamp) -> Result<Self, HostError> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(HostError::io("create", folder))?;
        // To the millisecond, so that two in one second do not meet.
        let place = folder.join(format!("{butler}-{}.{DUMP}", now.format("%Y%m%dT%H%M%S%3fZ")));
        let part = place.with_extension(format!("{DUMP}.{PART}"));
        // One that a killed process left would stay for ever.
        for left in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if left.extension().is_some_and(|extension| extension == PART) && is_abandoned(&left, now) {
                let _ = fs::remove_file(left);
            }
        }
        let made = File::options().create(true).truncate(true).write(true).mode(0o600).open(&part);
        made.map_err(HostError::io("write", &part))?;
        Ok(Self { part, place })
    }

    pub fn path(&self) -> &Path {
        &self.part
    }

    /// The note first: a dump is listed when its note is there.
    pub fn publish(self, note: Note) -> Result<Stored, HostError> {
        let text = serde_json::to_vec_pretty(&note).map_err(|error| HostError::Failed(error.to_string()))?;
        let beside = self.place.with_extension(NOTE);
        File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&beside)
            .and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()))
            .and_then(|()| File::open(&self.part)?.sync_all())
            .and_then(|()| fs::rename(&self.part, &self.place))
            .map_err(HostError::io("write", &self.place))?;
        read(&self.place).ok_or_else(|| HostError::Failed(format!("{} cannot be read back", self.place.display())))
    }
}

fn is_abandoned(part: &Path, now: Timestamp) -> bool {
    let written = fs::metadata(part).and_then(|data| data.modified()).ok();
    written.is_some_and(|at| now - Timestamp::from(at) > ABANDONED)
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.part);
    }
}
