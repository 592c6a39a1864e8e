//! A change to one configuration file: shown as a diff, backed up and written. A token in the file stays private: the
//! file is readable by its owner only, and neither the diff nor the backup contains the token.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use butler_domain::{Clock, SystemClock};
use butler_host::error::HostError;

use super::diff;
use super::json::EditError;
use super::secret::TokenPlace;
use crate::printer::Printer;

/// Read and write for the owner.
const PRIVATE: u32 = 0o600;

/// The time in the name of a backup.
const BACKUP_TIME: &str = "%Y%m%dT%H%M%S%3fZ";

pub struct Change {
    /// The path as the user knows it; it may be a symbolic link.
    path: PathBuf,
    /// Where the file may contain a token.
    token: Option<TokenPlace>,
    /// `None` if the file does not exist yet.
    before: Option<String>,
    after: String,
}

impl Change {
    /// Computes the result of an edit without writing the file.
    pub fn of(path: PathBuf, edit: impl FnOnce(&str) -> Result<String, EditError>) -> Result<Self, HostError> {
        let before = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(HostError::io("read", path)(error)),
        };
        let refused = |error: EditError| HostError::Usage {
            message: format!("cannot edit {}: {error}", path.display()),
            hint: Some("fix the file, or add the output of `--print` manually; nothing was changed".to_owned()),
        };
        let after = edit(before.as_deref().unwrap_or_default()).map_err(refused)?;
        Ok(Self { path, token: None, before, after })
    }

    #[must_use]
    pub fn with_token_at(self, place: TokenPlace) -> Self {
        Self { token: Some(place), ..self }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_needed(&self) -> bool {
        match &self.before {
            Some(before) => *before != self.after || self.is_exposed(),
            None => !matches!(self.after.trim(), "" | "{}"),
        }
    }

    /// Whether other users can read the token in the file.
    fn is_exposed(&self) -> bool {
        let shared = fs::metadata(&self.path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0);
        shared && self.token_in(&self.after).is_some()
    }

    /// Whether the change removes a token from the file.
    pub fn removes_token(&self) -> bool {
        self.before.as_deref().is_some_and(|before| self.token_in(before).is_some())
            && self.token_in(&self.after).is_none()
    }

    pub fn show(&self, printer: Printer) {
        let before = self.before.as_deref().unwrap_or_default();
        let tokens: Vec<String> = [before, &self.after].iter().filter_map(|text| self.token_in(text)).collect();
        diff::show(printer, before, &self.after, &tokens);
        if self.is_exposed() {
            printer.line("  other users can no longer read this file, because it contains a token");
        }
    }

    /// Writes or removes the file. Returns the path of the backup, if one was made.
    pub fn write(&self) -> Result<Option<PathBuf>, HostError> {
        let target = self.target();
        let failed = HostError::io("write", &target);
        self.replace(&target).map_err(failed)
    }

    /// Removes the token from the backups that butler made of this file, including those that did not need a change this
    /// time.
    pub fn scrub_backups(&self) -> Result<(), HostError> {
        let Some(place) = &self.token else { return Ok(()) };
        for file in backups_of(&self.target()) {
            let Ok(text) = fs::read_to_string(&file) else { continue };
            if place.token(&text).is_some() {
                put(&file, &place.scrubbed(&text), PRIVATE).map_err(HostError::io("write", &file))?;
            }
        }
        Ok(())
    }

    /// Whether the file is removed: the change leaves nothing in it, and butler created it. A file that existed before has a
    /// backup.
    pub fn removes_file(&self) -> bool {
        let is_blank = |text: &str| matches!(text.split_whitespace().collect::<String>().as_str(), "" | "{}");
        let empties = self.before.as_deref().is_some_and(|before| !is_blank(before)) && is_blank(&self.after);
        empties && !self.path.is_symlink() && backups_of(&self.target()).is_empty()
    }

    /// The file itself: many people keep such files in a repository and link to them.
    fn target(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    fn token_in(&self, text: &str) -> Option<String> {
        self.token.as_ref().and_then(|place| place.token(text))
    }

    fn replace(&self, target: &Path) -> io::Result<Option<PathBuf>> {
        if self.removes_file() {
            fs::remove_file(target)?;
            return Ok(None);
        }
        if let Some(dir) = target.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            fs::create_dir_all(dir)?;
        }
        let mut backup = None;
        let mut mode = PRIVATE;
        if let Some(before) = &self.before {
            mode = fs::metadata(target)?.permissions().mode() & 0o777;
            let copy = sibling(target, &format!("{}.bak", SystemClock.now().format(BACKUP_TIME)));
            let text = self.token.as_ref().map_or_else(|| before.clone(), |place| place.scrubbed(before));
            put(&copy, &text, mode & PRIVATE)?;
            backup = Some(copy);
        }
        if self.token_in(&self.after).is_some() {
            mode &= PRIVATE;
        }
        put(target, &self.after, mode)?;
        Ok(backup)
    }
}

/// The backups that butler made of this file.
fn backups_of(target: &Path) -> Vec<PathBuf> {
    let prefix = format!("{}.", file_name(target));
    let is_backup = |file: &PathBuf| {
        let name = file_name(file);
        let time = name.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(".bak"));
        time.is_some_and(is_backup_time)
    };
    let siblings = fs::read_dir(target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new(".")));
    siblings.into_iter().flatten().flatten().map(|entry| entry.path()).filter(is_backup).collect()
}

/// Whether the text is a time in the format of [`BACKUP_TIME`]. Backups with other names were made by someone else.
fn is_backup_time(text: &str) -> bool {
    let pattern = "00000000T000000000Z";
    let fits = |(byte, like): (u8, u8)| if like == b'0' { byte.is_ascii_digit() } else { byte == like };
    text.len() == pattern.len() && text.bytes().zip(pattern.bytes()).all(fits)
}

/// Writes a file with exactly these permissions, in one step, so that nobody sees a part of it or other permissions.
fn put(target: &Path, text: &str, mode: u32) -> io::Result<()> {
    let temporary = sibling(target, "butler-new");
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode & PRIVATE).open(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.sync_all()?;
    fs::rename(&temporary, target)
}

fn sibling(target: &Path, suffix: &str) -> PathBuf {
    target.with_file_name(format!("{}.{suffix}", file_name(target)))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
