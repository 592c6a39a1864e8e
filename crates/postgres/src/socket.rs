//! The directory of the Unix socket: in the data directory or, if that path is unsuitable, a short private one.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::PORT;
use crate::account::Account;
use crate::error::{PathContext, PostgresError};

/// The maximum length of a socket's path on macOS; Linux allows 107 bytes.
const MAX_PATH_BYTES: usize = 103;

/// Not `TMPDIR`, because every process must compute the same path.
const SHORT_PARENT: &str = "/tmp";

pub(crate) fn file_in(dir: &Path) -> PathBuf {
    dir.join(format!(".s.PGSQL.{PORT}"))
}

/// The protocol's SSLRequest, which a server answers before authentication and does not log.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// A server that does not answer within this time counts as running but busy.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Whether a server answers on the socket. A successful connection is not enough, because the kernel accepts it even
/// for a process that was just killed.
pub(crate) fn answers(dir: &Path) -> bool {
    let request = || {
        let mut stream = UnixStream::connect(file_in(dir))?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        stream.write_all(&SSL_REQUEST)?;
        stream.read_exact(&mut [0])
    };
    match request() {
        Ok(()) => true,
        Err(error) => matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
    }
}

/// Creates the socket directory and returns its path.
pub(crate) fn directory(data_dir: &Path, account: &Account) -> Result<PathBuf, PostgresError> {
    let dir = data_dir.join("run");
    let file = file_in(&dir);
    // libpq treats a comma as the start of a second host, even if it is escaped.
    if file.as_os_str().len() <= MAX_PATH_BYTES && !file.to_string_lossy().contains(',') {
        account.private_dir(&dir)?;
        return Ok(dir);
    }
    let digest = Sha256::digest(data_dir.as_os_str().as_encoded_bytes());
    let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    private_in_shared(&Path::new(SHORT_PARENT).join(format!("butler-{name}")), account)
}

/// Removes a socket directory in `/tmp` after the server has stopped.
pub(crate) fn tidy(dir: &Path, data_dir: &Path) {
    if !dir.starts_with(data_dir)
        && let Err(error) = fs::remove_dir(dir)
    {
        tracing::debug!(dir = %dir.display(), %error, "socket directory left behind");
    }
}

/// Creates a private directory in a shared one. Other users can write there too, so an existing directory is checked.
fn private_in_shared(dir: &Path, account: &Account) -> Result<PathBuf, PostgresError> {
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => account.own(dir)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).path_context("create", dir),
    }
    let meta = fs::symlink_metadata(dir).path_context("read", dir)?;
    let rejected = |why| Err(PostgresError::SocketDir { dir: dir.to_path_buf(), why });
    if !meta.is_dir() {
        return rejected("it is not a directory");
    }
    if meta.uid() != account.uid() {
        return rejected("it belongs to another user");
    }
    if meta.mode() & 0o077 != 0 {
        return rejected("other users can enter it");
    }
    Ok(dir.to_path_buf())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_directory_prepared_by_another_user_is_rejected() {
        let parent = tempfile::tempdir().unwrap();
        let me = Account::choose(Path::new("/nonexistent")).unwrap();
        let dir = parent.path().join("butler-x");
        assert_eq!(private_in_shared(&dir, &me).unwrap(), dir);
        assert_eq!(private_in_shared(&dir, &me).unwrap(), dir, "and again");
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(private_in_shared(&dir, &me).unwrap_err().to_string().contains("other users can enter"));
        let link = parent.path().join("butler-y");
        std::os::unix::fs::symlink(&dir, &link).unwrap();
        assert!(private_in_shared(&link, &me).unwrap_err().to_string().contains("not a directory"));
    }
}
