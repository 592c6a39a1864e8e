//! The account that the server runs as. PostgreSQL refuses to run as root, so root uses an unprivileged account.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{Gid, Uid};

use crate::error::{PathContext, PostgresError};

/// An account; `None` stands for the user of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Account(Option<Ids>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ids {
    uid: u32,
    gid: u32,
}

/// The account that PostgreSQL packages create, then one that every system has.
const CANDIDATES: [&str; 2] = ["postgres", "nobody"];

impl Account {
    /// The owner of an existing cluster, or the account for a new one.
    pub fn choose(cluster: &Path) -> Result<Self, PostgresError> {
        let me = rustix::process::geteuid().as_raw();
        let owner = fs::metadata(cluster).ok().map(|meta| Ids { uid: meta.uid(), gid: meta.gid() });
        match owner {
            Some(owner) if me != 0 && owner.uid != me => {
                Err(PostgresError::NotOwner { dir: cluster.to_path_buf(), owner: owner.uid })
            }
            _ if me != 0 => Ok(Self(None)),
            // After a run as root, the data directory must still be usable for the ordinary user who owns it.
            Some(owner) if owner.uid != 0 => Ok(Self(Some(owner))),
            _ => Self::unprivileged(std::env::var("BUTLER_POSTGRES_USER").ok()),
        }
    }

    fn unprivileged(named: Option<String>) -> Result<Self, PostgresError> {
        let names: Vec<&str> = named.as_deref().map_or(CANDIDATES.to_vec(), |name| vec![name]);
        names
            .iter()
            .find_map(|name| lookup(name).filter(|ids| ids.uid != 0))
            .map(|ids| Self(Some(ids)))
            .ok_or_else(|| PostgresError::NoAccount { tried: names.join(", ") })
    }

    /// The uid and gid, if they differ from those of this process and therefore need access.
    pub fn other(&self) -> Option<(u32, u32)> {
        self.0.map(|ids| (ids.uid, ids.gid))
    }

    pub fn uid(&self) -> u32 {
        self.0.map_or(rustix::process::geteuid().as_raw(), |ids| ids.uid)
    }

    /// A command that runs as the account, without the PostgreSQL variables of the caller's environment.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.stdin(Stdio::null()).current_dir("/");
        let postgres = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("PG");
        for (name, _) in std::env::vars_os().filter(|(name, _)| postgres(name)) {
            command.env_remove(name);
        }
        // This program parses the messages and quotes them in its errors.
        command.env("LC_ALL", "C").env_remove("LANGUAGE");
        if let Some(Ids { uid, gid }) = self.0 {
            command.uid(uid).gid(gid).env("HOME", "/");
        }
        command
    }

    /// Makes the account the owner of `path`.
    pub fn own(&self, path: &Path) -> Result<(), PostgresError> {
        let Some(Ids { uid, gid }) = self.0 else { return Ok(()) };
        rustix::fs::chown(path, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid))).path_context("give away", path)
    }

    /// Makes the account the owner of a directory tree, for example of a cluster that root copied.
    pub fn own_tree(&self, dir: &Path) -> Result<(), PostgresError> {
        if self.0.is_none() || fs::metadata(dir).path_context("read", dir)?.uid() == self.uid() {
            return Ok(());
        }
        let walk = fs::read_dir(dir).path_context("read", dir)?;
        for entry in walk {
            let entry = entry.path_context("read", dir)?;
            let kind = entry.file_type().path_context("read", &entry.path())?;
            match (kind.is_dir(), kind.is_symlink()) {
                (true, _) => self.own_tree(&entry.path())?,
                (_, false) => self.own(&entry.path())?,
                _ => {}
            }
        }
        self.own(dir)
    }

    /// Creates a directory that only the account and root can enter.
    pub fn private_dir(&self, dir: &Path) -> Result<(), PostgresError> {
        match fs::create_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.path_context("create", dir)?,
        }
        self.own(dir)?;
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).path_context("protect", dir)
    }

    /// Replaces a file atomically. Only the account can read it.
    pub fn write(&self, path: &Path, content: &str) -> Result<(), PostgresError> {
        let fresh = path.with_added_extension("new");
        fs::write(&fresh, content).path_context("write", &fresh)?;
        fs::set_permissions(&fresh, fs::Permissions::from_mode(0o600)).path_context("protect", &fresh)?;
        self.own(&fresh)?;
        fs::rename(&fresh, path).path_context("replace", path)
    }
}

/// The ids of an account, from the passwd file or from the directory service that `id` uses.
fn lookup(name: &str) -> Option<Ids> {
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    if let Some(ids) = in_passwd(&passwd, name) {
        return Some(ids);
    }
    let query = |flag: &str| {
        let out = Command::new("id").args([flag, name]).output().ok()?;
        String::from_utf8(out.stdout).ok()?.trim().parse().ok()
    };
    Some(Ids { uid: query("-u")?, gid: query("-g")? })
}

fn in_passwd(passwd: &str, name: &str) -> Option<Ids> {
    let entry = passwd.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let mut fields = entry.split(':').skip(1);
    Some(Ids { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\npostgres2:x:7:8::/:/x\npostgres:x:101:104:,,,:/var:/bin/sh\n";

    #[test]
    fn an_account_is_found_by_its_full_name() {
        assert_eq!(in_passwd(PASSWD, "postgres"), Some(Ids { uid: 101, gid: 104 }));
        assert_eq!(in_passwd(PASSWD, "postgre"), None);
    }

    #[test]
    fn root_and_unknown_names_are_rejected_with_a_remedy() {
        for name in ["root", "no-such-account-here"] {
            let error = Account::unprivileged(Some(name.into())).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("BUTLER_POSTGRES_USER"), "{error}");
        }
    }
}
