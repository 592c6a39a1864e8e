//! A change to one configuration file: shown as a diff, backed up and written.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use butler_domain::{Clock, SystemClock};
use butler_host::error::HostError;

use super::diff;
use super::json::{Document, EditError};
use crate::printer::Printer;

pub struct Change {
    /// The path as the user knows it; it may be a symbolic link.
    path: PathBuf,
    /// `None` if the file does not exist yet.
    before: Option<String>,
    after: String,
}

impl Change {
    /// Computes the result of an edit without writing the file.
    pub fn of(
        path: PathBuf,
        comments: bool,
        edit: impl FnOnce(&mut Document) -> Result<(), EditError>,
    ) -> Result<Self, HostError> {
        let before = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(HostError::io("read", path)(error)),
        };
        let refused = |error: EditError| HostError::Usage {
            message: format!("cannot edit {}: {error}", path.display()),
            hint: Some("fix the file, or add the output of `--print` manually; nothing was changed".to_owned()),
        };
        let mut document = Document::new(before.as_deref().unwrap_or_default(), comments).map_err(refused)?;
        edit(&mut document).map_err(refused)?;
        let after = document.text().to_owned();
        Ok(Self { path, before, after })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_needed(&self) -> bool {
        match &self.before {
            Some(before) => *before != self.after,
            None => self.after.trim() != "{}",
        }
    }

    pub fn show(&self, printer: Printer) {
        diff::show(printer, self.before.as_deref().unwrap_or_default(), &self.after);
    }

    /// Writes the file. Returns the path of the backup if the file existed.
    pub fn write(&self) -> Result<Option<PathBuf>, HostError> {
        // Write through a symbolic link: many people keep such files in a repository.
        let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let failed = HostError::io("write", &target);
        self.replace(&target).map_err(failed)
    }

    fn replace(&self, target: &Path) -> io::Result<Option<PathBuf>> {
        let sibling = |suffix: &str| {
            let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
            target.with_file_name(format!("{name}.{suffix}"))
        };
        if let Some(dir) = target.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            fs::create_dir_all(dir)?;
        }
        let mut backup = None;
        let mut mode = 0o600;
        if self.before.is_some() {
            mode = fs::metadata(target)?.permissions().mode() & 0o777;
            let copy = sibling(&format!("{}.bak", SystemClock.now().format("%Y%m%dT%H%M%S%3fZ")));
            fs::copy(target, &copy)?;
            backup = Some(copy);
        }
        let temporary = sibling("butler-new");
        let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&temporary)?;
        file.write_all(self.after.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, target)?;
        Ok(backup)
    }
}
