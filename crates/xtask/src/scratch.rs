//! Where tests put their files: in memory if there is room. A test creates and deletes hundreds of small files, which takes
//! a file system on a disk a fifth of the whole time.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{root, target_dir};

const MEMORY: &str = "/dev/shm";

/// The databases and servers of all tests that run at the same time need less than half of it.
const NEEDED_KB: u64 = 6 << 20;

/// A directory for the tests. What is in memory is removed with the value.
pub struct Scratch(Option<PathBuf>);

impl Scratch {
    pub fn new() -> Scratch {
        let in_memory = || {
            let free = Command::new("df").args(["-kP", MEMORY]).output().ok()?;
            let free = String::from_utf8_lossy(&free.stdout).lines().nth(1).and_then(|line| number(line, 3))?;
            let memory = fs::read_to_string("/proc/meminfo").ok()?;
            let available = memory.lines().find(|line| line.starts_with("MemAvailable:"))?;
            (runs_programs()? && free.min(number(available, 1)?) >= NEEDED_KB).then(own_directory)?
        };
        let directory = in_memory();
        match &directory {
            Some(path) => eprintln!("\n── files of the tests: in memory ({})", path.display()),
            None => {
                eprintln!("\n── files of the tests: on disk, because {MEMORY} has less than 6 GiB or runs no programs")
            }
        }
        Scratch(directory)
    }

    /// The data directory of the PostgreSQL that tests share.
    pub fn postgres(&self) -> PathBuf {
        self.0.as_ref().map_or_else(|| target_dir().join("test-postgres"), |scratch| scratch.join("postgres"))
    }

    /// Makes a program put its temporary files there, and find that PostgreSQL.
    pub fn apply<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if let Some(scratch) = &self.0 {
            command.env("TMPDIR", scratch).env("BUTLER_TEST_DIR", self.postgres());
        }
        command
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(scratch) = &self.0 {
            let _ = fs::remove_dir_all(scratch);
        }
    }
}

/// A number in a line of columns.
fn number(line: &str, column: usize) -> Option<u64> {
    line.split_whitespace().nth(column)?.parse().ok()
}

/// Whether programs can be run from there. Some tests write the programs that they run.
fn runs_programs() -> Option<bool> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    Some(mounts.lines().any(|mount| {
        let fields: Vec<&str> = mount.split(' ').collect();
        matches!(fields[..], [_, MEMORY, "tmpfs", options, ..] if options.split(',').all(|option| option != "noexec"))
    }))
}

/// A directory with the same name in every run of this checkout, so that a killed run does not occupy memory for good.
#[cfg(unix)]
fn own_directory() -> Option<PathBuf> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let mut hasher = DefaultHasher::new();
    root().hash(&mut hasher);
    let path = Path::new(MEMORY).join(format!("butler-test-{:08x}", hasher.finish() as u32));
    let own = fs::metadata("/proc/self").ok()?.uid();
    if let Ok(found) = fs::symlink_metadata(&path) {
        // Somebody else may have created it.
        (found.is_dir() && found.uid() == own).then(|| fs::remove_dir_all(&path).ok())??;
    }
    fs::create_dir(&path).ok()?;
    // Like /tmp: as root, PostgreSQL runs as another user.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o1777)).ok()?;
    Some(path)
}

#[cfg(not(unix))]
fn own_directory() -> Option<PathBuf> {
    None
}
