//! A disk that can be filled: a tmpfs that is shrunk to the size of its contents and enlarged again.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

const MIB: u64 = 1 << 20;
/// Enough for a run of an hour. Only written pages use memory.
const CAPACITY: u64 = 6 * 1024 * MIB;
/// Space left on a full disk, tried in this order: the kernel may refuse to shrink it to its exact contents.
const LEFTOVERS: [u64; 4] = [64 << 10, 512 << 10, 2 * MIB, 16 * MIB];

pub struct Disk {
    at: PathBuf,
}

impl Disk {
    /// Needs the privilege to mount. Without it, filling the disk would fill it for every other program.
    pub fn mount(at: &Path) -> anyhow::Result<Self> {
        run(Command::new("mount").args(["-t", "tmpfs", "-o", &options(CAPACITY), "tmpfs"]).arg(at))?;
        Ok(Self { at: at.to_owned() })
    }

    /// Shrinks the disk to its contents.
    pub fn fill(&self) -> anyhow::Result<()> {
        let used = self.used()?;
        let mut refused = None;
        for leftover in LEFTOVERS {
            match self.resize(used + leftover) {
                Ok(()) => return Ok(()),
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or_else(|| anyhow::anyhow!("no size was tried")))
    }

    /// Enlarges the disk again.
    pub fn free(&self) -> anyhow::Result<()> {
        self.resize(CAPACITY)
    }

    pub fn used(&self) -> anyhow::Result<u64> {
        let now = rustix::fs::statvfs(&self.at)?;
        Ok((now.f_blocks - now.f_bfree) * now.f_frsize)
    }

    fn resize(&self, bytes: u64) -> anyhow::Result<()> {
        run(Command::new("mount").args(["-o", &format!("remount,{}", options(bytes))]).arg(&self.at))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // lazily, because a process may still use it
        let _ = run(Command::new("umount").arg("--lazy").arg(&self.at));
    }
}

fn options(bytes: u64) -> String {
    format!("size={bytes},mode=0755")
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Disk;

    #[test]
    fn a_full_disk_refuses_writes_until_it_is_enlarged() {
        let dir = tempfile::tempdir().unwrap();
        let Ok(disk) = Disk::mount(dir.path()) else {
            eprintln!("skipped: this machine does not allow mounting a tmpfs");
            return;
        };
        let megabytes = vec![7; 20 << 20];
        let file = dir.path().join("file");
        std::fs::write(&file, &megabytes).unwrap();
        disk.fill().unwrap();
        let refused = std::fs::write(dir.path().join("more"), &megabytes).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(std::fs::read(&file).unwrap(), megabytes, "existing files are unchanged");
        disk.free().unwrap();
        std::fs::write(dir.path().join("more"), &megabytes).unwrap();
    }
}
