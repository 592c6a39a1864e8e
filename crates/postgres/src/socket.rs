//! Where the unix socket lies: in the data directory, or, if that path cannot be used for one, in a short private one.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::PORT;
use crate::account::Account;
use crate::error::{Blame, PostgresError};

/// macOS takes 103 bytes of path, Linux 107.
const LONGEST: usize = 103;

/// Not the TMPDIR of the environment: every process must come to the same answer.
const SHORT_PARENT: &str = "/tmp";

pub(crate) fn file_in(dir: &Path) -> PathBuf {
    dir.join(format!(".s.PGSQL.{PORT}"))
}

/// "Do you speak TLS?": the one question a server answers before anything else, and does not log.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// A server too busy to answer by then is taken for a living one.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Whether a server is there that takes up conversations. The kernel alone accepts the connection, even for a process
/// that was just killed, so it is asked something.
pub(crate) fn answers(dir: &Path) -> bool {
    let ask = || {
        let mut stream = UnixStream::connect(file_in(dir))?;
        stream.set_read_timeout(Some(ANSWER_WITHIN))?;
        stream.write_all(&SSL_REQUEST)?;
        stream.read_exact(&mut [0])
    };
    match ask() {
        Ok(()) => true,
        Err(error) => matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
    }
}

pub(crate) fn directory(data_dir: &Path, account: &Account) -> Result<PathBuf, PostgresError> {
    let dir = data_dir.join("run");
    let file = file_in(&dir);
    // libpq reads a comma as the start of a second host, however it is written.
    if file.as_os_str().len() <= LONGEST && !file.to_string_lossy().contains(',') {
        account.private_dir(&dir)?;
        return Ok(dir);
    }
    let digest = Sha256::digest(data_dir.as_os_str().as_encoded_bytes());
    let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    private_in_shared(&Path::new(SHORT_PARENT).join(format!("butler-{name}")), account)
}

/// Leaves nothing behind in the shared directory once the server is down.
pub(crate) fn tidy(dir: &Path, data_dir: &Path) {
    if !dir.starts_with(data_dir)
        && let Err(error) = fs::remove_dir(dir)
    {
        tracing::debug!(dir = %dir.display(), %error, "socket directory left behind");
    }
}

/// Others can write beside it, so a directory that is already there must prove to be ours.
fn private_in_shared(dir: &Path, account: &Account) -> Result<PathBuf, PostgresError> {
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => account.own(dir)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).blame("create", dir),
    }
    let meta = fs::symlink_metadata(dir).blame("read", dir)?;
    let refused = |why| Err(PostgresError::SocketDir { dir: dir.to_path_buf(), why });
    if !meta.is_dir() {
        return refused("it is not a directory");
    }
    if meta.uid() != account.uid() {
        return refused("it belongs to someone else");
    }
    if meta.mode() & 0o077 != 0 {
        return refused("others may enter it");
    }
    Ok(dir.to_path_buf())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_directory_that_others_prepared_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let me = Account::choose(Path::new("/nonexistent")).unwrap();
        let dir = parent.path().join("butler-x");
        assert_eq!(private_in_shared(&dir, &me).unwrap(), dir);
        assert_eq!(private_in_shared(&dir, &me).unwrap(), dir, "and again");
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(private_in_shared(&dir, &me).unwrap_err().to_string().contains("others may enter"));
        let link = parent.path().join("butler-y");
        std::os::unix::fs::symlink(&dir, &link).unwrap();
        assert!(private_in_shared(&link, &me).unwrap_err().to_string().contains("not a directory"));
    }
}
