//! The files in the data directory, and the creation of a cluster.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::account::Account;
use crate::error::{PathContext, PostgresError};
use crate::runtime::Runtime;
use crate::settings::{self, Instance, Machine};
use crate::{OWNER, access, socket};

/// The paths of a private PostgreSQL in one data directory.
#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    pub data_dir: PathBuf,
    /// PostgreSQL's own directory.
    pub dir: PathBuf,
    pub log_dir: PathBuf,
}

/// The free space required for a new cluster, which takes 40 MB; its write-ahead log grows in steps of 16 MB.
const REQUIRED_SPACE: u64 = 128 << 20;

const INCLUDES: [&str; 2] = ["include_if_exists 'butler.conf'", "include_if_exists 'custom.conf'"];

impl Cluster {
    /// Creates the data directory if necessary and resolves its canonical path.
    pub fn prepare(data_dir: &Path) -> Result<Self, PostgresError> {
        if !data_dir.is_dir() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(data_dir).path_context("create", data_dir)?;
        }
        let real = data_dir.canonicalize().path_context("read", data_dir)?;
        match real.to_str() {
            None => Err(PostgresError::BadPath { path: real, why: "its name is not UTF-8" }),
            Some(text) if text.chars().any(char::is_control) => {
                Err(PostgresError::BadPath { path: real, why: "its name contains control characters" })
            }
            Some(_) => Ok(Self::at(real)),
        }
    }

    pub fn at(data_dir: PathBuf) -> Self {
        Self { dir: data_dir.join("postgres"), log_dir: data_dir.join("logs"), data_dir }
    }

    /// Opens a lock file that all processes using the data directory share.
    pub fn lock_file(&self, name: &str) -> Result<File, PostgresError> {
        let path = self.data_dir.join(name);
        OpenOptions::new().create(true).append(true).mode(0o600).open(&path).path_context("open", &path)
    }

    /// The major version of the existing data, or `None` if there is no cluster yet.
    pub fn major(&self) -> Result<Option<u32>, PostgresError> {
        let file = self.dir.join("PG_VERSION");
        if let Ok(text) = fs::read_to_string(&file) {
            return Ok(text.trim().parse().ok());
        }
        let mut content = fs::read_dir(&self.dir).into_iter().flatten();
        if content.next().is_some() {
            return Err(PostgresError::NotACluster { dir: self.dir.clone() });
        }
        Ok(None)
    }

    /// Runs initdb in a temporary directory and renames it, so that a killed initdb leaves nothing that looks complete.
    pub fn create(&self, runtime: &Runtime, account: &Account) -> Result<(), PostgresError> {
        let stats = rustix::fs::statvfs(&self.data_dir).path_context("read", &self.data_dir)?;
        let free = stats.f_bavail.saturating_mul(stats.f_frsize);
        if free < REQUIRED_SPACE {
            let detail = format!("{} MiB are free, {} MiB are needed", free >> 20, REQUIRED_SPACE >> 20);
            return Err(PostgresError::DiskFull { path: self.data_dir.clone(), detail });
        }
        let fresh = self.data_dir.join("postgres.new");
        let password = match self.password() {
            Ok(password) => password,
            Err(PostgresError::PasswordMissing { .. }) => self.new_password()?,
            Err(error) => return Err(error),
        };
        let password_file = self.data_dir.join("postgres.pwfile");
        account.write(&password_file, &password)?;
        let created = initdb(runtime, account, &fresh, &password_file);
        fs::remove_file(&password_file).path_context("remove", &password_file)?;
        created?;
        if self.dir.is_dir() {
            // It is empty: `major` has found no version and no other files.
            fs::remove_dir(&self.dir).path_context("replace", &self.dir)?;
        }
        fs::rename(&fresh, &self.dir).path_context("rename", &fresh)
    }

    fn password_file(&self) -> PathBuf {
        self.data_dir.join("postgres.password")
    }

    pub fn password(&self) -> Result<String, PostgresError> {
        let file = self.password_file();
        match fs::read_to_string(&file) {
            Ok(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).path_context("read", &file),
            _ => Err(PostgresError::PasswordMissing { file, cluster: self.dir.clone() }),
        }
    }

    fn new_password(&self) -> Result<String, PostgresError> {
        let source = Path::new("/dev/urandom");
        let mut bytes = [0; 24];
        File::open(source).and_then(|mut file| file.read_exact(&mut bytes)).path_context("read", source)?;
        let password: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = self.password_file();
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&path);
        let written = file.as_mut().map_err(|e| std::io::Error::from(e.kind())).and_then(|file| {
            file.write_all(password.as_bytes())?;
            file.sync_all()
        });
        written.path_context("write", &path)?;
        Ok(password)
    }

    /// Prepares directories, permissions and settings for a start. Returns the socket directory.
    pub fn prepare_start(&self, runtime: &Runtime, account: &Account) -> Result<PathBuf, PostgresError> {
        account.own_tree(&self.dir)?;
        account.private_dir(&self.log_dir)?;
        let socket_dir = socket::directory(&self.data_dir, account)?;
        for path in [&self.dir, &self.log_dir, &socket_dir, &runtime.root] {
            access::grant_search(account, path)?;
        }
        let main = self.dir.join("postgresql.conf");
        let text = fs::read_to_string(&main).path_context("read", &main)?;
        if !INCLUDES.iter().all(|include| text.lines().any(|line| line.trim() == *include)) {
            account.write(&main, &format!("{}\n\n{}\n", text.trim_end(), INCLUDES.join("\n")))?;
        }
        let custom = self.dir.join("custom.conf");
        if custom.is_file() {
            // Root may have written it in such a way that only root can read it.
            account.own(&custom)?;
        }
        let instance = Instance {
            socket_dir: &socket_dir,
            log_dir: &self.log_dir,
            major: runtime.major,
            prewarm: runtime.has_library("pg_prewarm"),
        };
        account.write(&self.dir.join("butler.conf"), &settings::render(&Machine::detect(), &instance))?;
        Ok(socket_dir)
    }
}

fn initdb(runtime: &Runtime, account: &Account, dir: &Path, password_file: &Path) -> Result<(), PostgresError> {
    for path in [&runtime.root, password_file] {
        access::grant_search(account, path)?;
    }
    let mut output = String::new();
    for locale in locales(runtime.major) {
        if dir.exists() {
            fs::remove_dir_all(dir).path_context("remove", dir)?;
        }
        account.private_dir(dir)?;
        let mut command = account.command(&runtime.bin_dir.join("initdb"));
        command.args(["--auth=scram-sha-256", "--data-checksums", "--encoding=UTF8", "--no-instructions"]);
        command.args(["--text-search-config=english", &format!("--username={OWNER}")]).args(locale);
        command.arg("--pwfile").arg(password_file).arg("-D").arg(dir);
        if runtime.major >= 16 {
            // Repeated hashing protects a password that can be guessed. This one is 24 random bytes, and each connection would
            // hash it 4096 times.
            command.args(["-c", "scram_iterations=1"]);
        }
        let out = command.output().map_err(|error| PostgresError::Runtime {
            // "Not found" for an existing file means that its loader is missing, for example on a system without glibc.
            why: format!("initdb does not run on this system ({error})"),
            dir: runtime.root.clone(),
        })?;
        if out.status.success() {
            tracing::debug!(?locale, "cluster created");
            return Ok(());
        }
        output = String::from_utf8_lossy(&out.stderr).trim().to_owned();
        if output.contains("No space left on device") || output.contains("Disk quota exceeded") {
            return Err(PostgresError::DiskFull { path: dir.to_path_buf(), detail: "initdb ran out of space".into() });
        }
        if !output.contains("locale") {
            break;
        }
    }
    Err(PostgresError::Initdb { dir: dir.to_path_buf(), output })
}

/// The locale options to try, best first: ordering by code point, with lower() and text search for non-ASCII letters.
fn locales(major: u32) -> Vec<&'static [&'static str]> {
    let mut locales: Vec<&[&str]> = Vec::new();
    if major >= 17 {
        let builtin: [&[&str]; 2] = [
            &["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--lc-ctype=C.UTF-8"],
            &["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"],
        ];
        locales.extend(builtin);
    }
    let of_system: [&[&str]; 3] =
        [&["--locale=C", "--lc-ctype=C.UTF-8"], &["--locale=C", "--lc-ctype=en_US.UTF-8"], &["--locale=C"]];
    locales.extend(of_system);
    locales
}
