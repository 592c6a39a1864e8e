//! Fetches a pinned wheel through the user's own pip, so that the mirrors, proxies and certificates
//! pip is configured with are honoured, verifies its sha256 and unpacks it into a cache directory.
//!
//! A fetch that was interrupted continues where it stopped; an unpack that was interrupted is redone;
//! two processes that want the same wheel wait for each other. Everything here blocks: call it from
//! `spawn_blocking`.

mod error;
mod pip;
mod transfer;
mod unpack;

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use error::Blame;
pub use error::FetchError;

/// A package at one version, and the file of it that each platform needs.
#[derive(Debug, Clone, Copy)]
pub struct Wheel {
    pub package: &'static str,
    pub version: &'static str,
    pub builds: &'static [Build],
}

#[derive(Debug, Clone, Copy)]
pub struct Build {
    /// `std::env::consts::OS`, or "any".
    pub os: &'static str,
    /// `std::env::consts::ARCH`, or "any".
    pub arch: &'static str,
    /// What pip calls the platform, so that it picks this file even if its own Python is built for another one.
    pub pip_platform: Option<&'static str>,
    pub file: &'static str,
    pub sha256: &'static str,
    pub size: u64,
}

/// Told what is being fetched, and how many bytes of it are there; of something without a total, how many seconds it took.
pub trait Progress: Send + Sync {
    fn start(&self, what: &str, total: Option<u64>);
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

/// Written last, inside the unpacked directory; holds the sha256 of the wheel it came from.
const MARKER: &str = ".butler-verified";

/// The directory of the unpacked wheel, fetched first if it is not there yet.
pub fn ensure(wheel: &Wheel, cache: &Path, progress: &dyn Progress) -> Result<PathBuf, FetchError> {
    Fetcher::from_env().ensure(wheel, cache, progress)
}

/// The unpacked directory if the wheel is already there, without fetching anything.
pub fn present(wheel: &Wheel, cache: &Path) -> Option<PathBuf> {
    let build = wheel.build()?;
    let dir = cache.join(wheel.label());
    let marker = fs::read_to_string(dir.join(MARKER)).ok()?;
    (marker.trim() == build.sha256).then_some(dir)
}

/// `BUTLER_CACHE_DIR`, else the platform's cache directory.
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
    /// The build for the machine this runs on.
    pub fn build(&self) -> Option<&'static Build> {
        let fits = |have: &str, want: &str| have == "any" || have == want;
        self.builds.iter().find(|b| fits(b.os, std::env::consts::OS) && fits(b.arch, std::env::consts::ARCH))
    }

    fn label(&self) -> String {
        format!("{}-{}", self.package, self.version)
    }
}

/// Fetches with the pip found on a given search path; `ensure` uses the process's own `PATH`.
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
        fs::create_dir_all(cache).blame("create", cache)?;
        let lock = cache.join(format!("{}.lock", wheel.label()));
        let lock = File::create(&lock).and_then(|file| file.lock().map(|()| file)).blame("lock", &lock)?;
        // Another process may have fetched it while this one waited for the lock.
        if let Some(dir) = present(wheel, cache) {
            return Ok(dir);
        }
        let archive = transfer::archive(&self.search_path, wheel, build, cache, progress)?;
        let dir = cache.join(wheel.label());
        unpack::into(&archive, &dir, MARKER, build.sha256)?;
        fs::remove_file(&archive).blame("remove", &archive)?;
        drop(lock);
        Ok(dir)
    }
}
