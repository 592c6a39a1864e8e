//! Finds a package in the program's own Python environment, or fetches a pinned wheel through the user's own pip, so that the mirrors, proxies and certificates
//! pip is configured with are honoured, verifies its sha256 and unpacks it into a cache directory.
//!
//! An interrupted download continues where it stopped, and an interrupted unpack is repeated. Two processes that need
//! the same wheel wait for each other. All functions block, so async code calls them through `spawn_blocking`.

mod error;
mod installed;
mod pip;
mod transfer;
mod unpack;

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

pub use error::FetchError;
use error::PathContext;
pub use installed::{Tree, sha256, site_packages, site_packages_of};

/// A package in one version, with the file for each platform.
#[derive(Debug, Clone, Copy)]
pub struct Wheel {
    pub package: &'static str,
    pub version: &'static str,
    pub builds: &'static [Build],
}

/// The file of a wheel for one platform.
#[derive(Debug, Clone, Copy)]
pub struct Build {
    /// `std::env::consts::OS`, or "any".
    pub os: &'static str,
    /// `std::env::consts::ARCH`, or "any".
    pub arch: &'static str,
    /// pip's name of the platform, so that it selects this file even if its Python was built for another one.
    pub pip_platform: Option<&'static str>,
    pub file: &'static str,
    pub sha256: &'static str,
    /// In bytes.
    pub size: u64,
}

/// Receives the progress of a download, in bytes, or of an activity without a total, in seconds.
pub trait Progress: Send + Sync {
    /// `what` starts. `total` is its size in bytes, if it has one.
    fn start(&self, what: &str, total: Option<u64>);
    /// Reports the bytes received or the seconds elapsed so far.
    fn at(&self, done: u64);
    fn finish(&self, what: &str);
}

/// Reports nothing.
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _: &str, _: Option<u64>) {}
    fn at(&self, _: u64) {}
    fn finish(&self, _: &str) {}
}

/// A file in the unpacked directory with the sha256 of the wheel. It is written last, so it proves that the rest is
/// complete.
const MARKER: &str = ".butler-verified";

/// Returns the directory of the unpacked wheel, and fetches the wheel if it is missing.
pub fn ensure(wheel: &Wheel, cache: &Path, progress: &dyn Progress) -> Result<PathBuf, FetchError> {
    Fetcher::from_env().ensure(wheel, cache, progress)
}

/// Returns the directory of the unpacked wheel if it is in the cache, without fetching anything.
pub fn present(wheel: &Wheel, cache: &Path) -> Option<PathBuf> {
    let build = wheel.build()?;
    let dir = cache.join(wheel.label());
    let marker = fs::read_to_string(dir.join(MARKER)).ok()?;
    (marker.trim() == build.sha256).then_some(dir)
}

/// `BUTLER_CACHE_DIR`, or the platform's cache directory if it is not set.
pub fn default_cache_dir() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(dir) = set("BUTLER_CACHE_DIR") {
        return dir;
    }
    let home = std::env::home_dir().unwrap_or_else(std::env::temp_dir);
    if cfg!(target_os = "macos") {
        return home.join("Library/Caches/butler");
    }
    set("XDG_CACHE_HOME").unwrap_or_else(|| home.join(".cache")).join("butler")
}

impl Wheel {
    /// The build for this machine.
    pub fn build(&self) -> Option<&'static Build> {
        let fits = |have: &str, want: &str| have == "any" || have == want;
        self.builds.iter().find(|b| fits(b.os, std::env::consts::OS) && fits(b.arch, std::env::consts::ARCH))
    }

    fn label(&self) -> String {
        format!("{}-{}", self.package, self.version)
    }
}

/// Fetches with the pip found on a given search path. The function [`ensure`] uses the process's `PATH`.
#[derive(Debug, Clone)]
pub struct Fetcher {
    search_path: OsString,
}

impl Fetcher {
    pub fn from_env() -> Self {
        Self { search_path: std::env::var_os("PATH").unwrap_or_default() }
    }

    pub fn with_path(search_path: impl Into<OsString>) -> Self {
        Self { search_path: search_path.into() }
    }

    pub fn ensure(&self, wheel: &Wheel, cache: &Path, progress: &dyn Progress) -> Result<PathBuf, FetchError> {
        let Some(build) = wheel.build() else {
            return Err(FetchError::UnsupportedPlatform {
                package: wheel.package,
                os: std::env::consts::OS,
                arch: std::env::consts::ARCH,
            });
        };
        if let Some(dir) = present(wheel, cache) {
            return Ok(dir);
        }
        fs::create_dir_all(cache).path_context("create", cache)?;
        let lock = cache.join(format!("{}.lock", wheel.label()));
        let lock = File::create(&lock).and_then(|file| file.lock().map(|()| file)).path_context("lock", &lock)?;
        // Another process may have fetched it while this one waited for the lock.
        if let Some(dir) = present(wheel, cache) {
            return Ok(dir);
        }
        let archive = transfer::fetch_archive(&self.search_path, wheel, build, cache, progress)?;
        let dir = cache.join(wheel.label());
        unpack::into(&archive, &dir, MARKER, build.sha256)?;
        fs::remove_file(&archive).path_context("remove", &archive)?;
        drop(lock);
        Ok(dir)
    }
}
