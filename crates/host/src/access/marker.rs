//! Remembers outside the databases that tokens exist. A database that cannot be reached must not disable authentication.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const FILE: &str = "tokens-exist";
const TEXT: &str = "A token was created for a butler of this data directory, so requests need a token even while its database \
                    cannot be read. Remove this file only if no database of these butlers holds a token.\n";

#[derive(Debug)]
pub struct TokenMarker {
    path: PathBuf,
}

impl TokenMarker {
    pub fn new(data_dir: &Path) -> Self {
        Self { path: data_dir.join(FILE) }
    }

    /// Whether tokens are known to exist. A file that cannot be examined counts as present.
    pub fn exists(&self) -> bool {
        self.path.try_exists().unwrap_or(true)
    }

    /// Writes the marker to disk and returns when it would survive a crash.
    pub fn create(&self) -> io::Result<()> {
        if matches!(self.path.try_exists(), Ok(true)) {
            return Ok(());
        }
        let dir = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir)?;
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
        io::Write::write_all(&mut file, TEXT.as_bytes())?;
        file.sync_all()?;
        File::open(dir)?.sync_all()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marker_is_there_once_created_and_when_it_cannot_be_examined() {
        let dir = tempfile::tempdir().unwrap();
        let marker = TokenMarker::new(&dir.path().join("data"));
        assert!(!marker.exists());
        marker.create().unwrap();
        marker.create().unwrap();
        assert!(marker.exists());
        assert_eq!(fs::read_to_string(marker.path()).unwrap(), TEXT, "written once");
        // A path below a file cannot be examined, and doubt means that tokens exist.
        let odd = TokenMarker::new(&marker.path().join("below"));
        assert!(odd.exists());
    }
}
