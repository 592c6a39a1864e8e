//! A directory to collect the files of a package in, and the archives made from it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::run::target_dir;

const ARCHIVE: &str = include_str!("archive.py");

pub struct Stage(PathBuf);

impl Stage {
    /// An empty directory.
    pub fn new(name: &str) -> anyhow::Result<Self> {
        let dir = target_dir().join("dist-stage").join(name);
        if dir.exists() {
            fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
        }
        fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        Ok(Self(dir))
    }

    pub fn dir(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
        self.put(name, content, 0o644)
    }

    pub fn script(&self, name: &str, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
        self.put(name, content, 0o755)
    }

    pub fn program(&self, program: &Path, name: &str) -> anyhow::Result<()> {
        self.put(name, fs::read(program)?, 0o755)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>, mode: u32) -> anyhow::Result<()> {
        let path = self.0.join(name);
        let folder = path.parent().unwrap_or(&self.0);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, content))
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(mode)))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    pub fn tar(&self, out: &Path) -> anyhow::Result<()> {
        archive("tar", out, Some(&self.0))
    }

    pub fn wheel(&self, out: &Path) -> anyhow::Result<()> {
        archive("wheel", out, Some(&self.0))
    }
}

/// Writes SHA256SUMS for all files of a directory.
pub fn sums(dir: &Path) -> anyhow::Result<()> {
    archive("sums", dir, None)
}

fn archive(kind: &str, out: &Path, stage: Option<&Path>) -> anyhow::Result<()> {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let status = Command::new(python).args(["-c", ARCHIVE, kind]).arg(out).args(stage).status();
    let status = status.context("cannot run python3, which writes the archives")?;
    ensure!(status.success(), "cannot write {}", out.display());
    Ok(())
}
