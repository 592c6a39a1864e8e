//! A disk of our own that can be full: a tmpfs, made as small as what is on it, and large again.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

const MIB: u64 = 1 << 20;
/// Room for a run of an hour; memory is used for what is written only.
const ROOM: u64 = 6 * 1024 * MIB;
/// What may still be written to a full disk: nearly nothing, but not so little that the kernel refuses to shrink it.
const SCRAPS: [u64; 4] = [64 << 10, 512 << 10, 2 * MIB, 16 * MIB];

pub struct Disk {
    at: PathBuf,
}

impl Disk {
    /// Needs the right to mount; without it there is no honest way to fill a disk without filling everybody's.
    pub fn mount(at: &Path) -> anyhow::Result<Self> {
        run(Command::new("mount").args(["-t", "tmpfs", "-o", &options(ROOM), "tmpfs"]).arg(at))?;
        Ok(Self { at: at.to_owned() })
    }

    /// No room from now on.
    pub fn fill(&self) -> anyhow::Result<()> {
        let used = self.used()?;
        let mut refused = None;
        for scraps in SCRAPS {
            match self.resize(used + scraps) {
                Ok(()) => return Ok(()),
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or_else(|| anyhow::anyhow!("no size was tried")))
    }

    /// Room again.
    pub fn free(&self) -> anyhow::Result<()> {
        self.resize(ROOM)
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
        // what still uses it keeps it until it ends
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
    fn a_full_disk_takes_nothing_and_takes_it_again_once_there_is_room() {
        let dir = tempfile::tempdir().unwrap();
        let Ok(disk) = Disk::mount(dir.path()) else {
            eprintln!("skipped: this machine does not let us mount a tmpfs");
            return;
        };
        let megabytes = vec![7; 20 << 20];
        let file = dir.path().join("file");
        std::fs::write(&file, &megabytes).unwrap();
        disk.fill().unwrap();
        let refused = std::fs::write(dir.path().join("more"), &megabytes).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(std::fs::read(&file).unwrap(), megabytes, "what was there stays");
        disk.free().unwrap();
        std::fs::write(dir.path().join("more"), &megabytes).unwrap();
    }
}
