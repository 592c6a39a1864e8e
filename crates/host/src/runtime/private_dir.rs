//! The private directory of one call of an LLM program.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// A directory that only its owner can read; removed with its content when dropped.
#[derive(Debug)]
pub struct PrivateDir(PathBuf);

impl PrivateDir {
    pub fn create() -> io::Result<Self> {
        // The path must be absolute, because the program may get another working directory.
        let path = std::path::absolute(std::env::temp_dir())?.join(format!("butler-llm-{}", Uuid::new_v4()));
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Creates an empty working directory.
    pub fn working_directory(&self) -> io::Result<PathBuf> {
        let path = self.path("work");
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(path)
    }

    pub fn write(path: &Path, text: &str) -> io::Result<()> {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
