//! Where tests put their files: in memory if there is room. A test creates and deletes hundreds of small files, which takes
//! a file system on a disk a fifth of the whole time.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{root, target_dir};

const MEMORY: &str = "/dev/shm";

/// Far more than the files of the tests, which took 200 MB in the middle of a run, since a server's log may grow to 1 GiB.
const NEEDED_KB: u64 = 6 << 20;

/// Selects another data directory for the PostgreSQL that tests share, instead of one in memory.
const POSTGRES_DIR: &str = "BUTLER_TEST_DIR";

/// A directory for the tests. What is in memory is removed with the value.
pub struct Scratch(Option<InMemory>);

struct InMemory {
    directory: PathBuf,
    /// Held while the directory is in use.
    _lock: File,
}

impl Scratch {
    pub fn new() -> Scratch {
        let in_memory = if std::env::var_os(POSTGRES_DIR).is_none() && has_room().unwrap_or(false) {
            own_directory()
        } else {
            None
        };
        match &in_memory {
            Some(used) => eprintln!("\n── files of the tests: in memory ({})", used.directory.display()),
            None => eprintln!("\n── files of the tests: {}", std::env::temp_dir().display()),
        }
        Scratch(in_memory)
    }

    /// The data directory of the PostgreSQL that tests share.
    pub fn postgres(&self) -> PathBuf {
        match (&self.0, std::env::var_os(POSTGRES_DIR)) {
            (Some(used), _) => used.directory.join("postgres"),
            (None, Some(other)) => other.into(),
            (None, None) => target_dir().join("test-postgres"),
        }
    }

    /// Makes a program put its temporary files there, and find that PostgreSQL.
    pub fn apply<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if let Some(used) = &self.0 {
            command.env("TMPDIR", &used.directory).env(POSTGRES_DIR, self.postgres());
        }
        command
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(used) = &self.0
            && let Err(error) = fs::remove_dir_all(&used.directory)
        {
            eprintln!("── {} was not removed and occupies memory: {error}", used.directory.display());
        }
    }
}

/// Whether there is room in memory, and programs can be run from there: some tests write the programs that they run.
fn has_room() -> Option<bool> {
    let number = |line: &str, column: usize| line.split_whitespace().nth(column)?.parse::<u64>().ok();
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    let runs_programs = mounts.lines().any(|mount| {
        let fields: Vec<&str> = mount.split(' ').collect();
        matches!(fields[..], [_, MEMORY, "tmpfs", options, ..] if options.split(',').all(|option| option != "noexec"))
    });
    let free = Command::new("df").args(["-kP", MEMORY]).output().ok()?;
    let free = String::from_utf8_lossy(&free.stdout).lines().nth(1).and_then(|line| number(line, 3))?;
    let memory = fs::read_to_string("/proc/meminfo").ok()?;
    let available = number(memory.lines().find(|line| line.starts_with("MemAvailable:"))?, 1)?;
    // A container may have less than the machine. Without a limit, the file says `max`.
    let limit = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|limit| number(&limit, 0));
    Some(runs_programs && free.min(available).min(limit.unwrap_or(u64::MAX) / 1024) >= NEEDED_KB)
}

/// A directory with the same name in every run of this checkout, so that a killed run does not occupy memory for good.
/// `None` if another run uses it. A PostgreSQL that a killed run left behind is used again.
#[cfg(unix)]
fn own_directory() -> Option<InMemory> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let mut hasher = DefaultHasher::new();
    root().hash(&mut hasher);
    let directory = Path::new(MEMORY).join(format!("butler-test-{:08x}", hasher.finish() as u32));
    let lock = File::options().create(true).truncate(false).write(true).open(directory.with_extension("lock")).ok()?;
    lock.try_lock().ok()?;
    if let Err(error) = fs::create_dir(&directory) {
        // Another user may have created it, or a link.
        let found = fs::symlink_metadata(&directory).ok()?;
        let is_own = found.is_dir() && found.uid() == fs::metadata("/proc/self").ok()?.uid();
        (error.kind() == std::io::ErrorKind::AlreadyExists && is_own).then_some(())?;
        let left_behind = fs::read_dir(&directory).ok()?.flatten().map(|entry| entry.path());
        for path in left_behind.filter(|path| !path.ends_with("postgres")) {
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
    // As for /tmp: as root, PostgreSQL runs as another user, who writes there, too.
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o1777)).ok()?;
    Some(InMemory { directory, _lock: lock })
}

#[cfg(not(unix))]
fn own_directory() -> Option<InMemory> {
    None
}
