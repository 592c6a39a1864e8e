//! What `cargo metadata` says about the packages of the workspace and their dependencies.

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::run::cargo;

#[derive(Deserialize)]
pub struct Metadata {
    pub packages: Vec<Package>,
    /// Ids of the workspace's own packages.
    pub workspace_members: Vec<String>,
}

#[derive(Deserialize)]
pub struct Package {
    pub id: String,
    pub name: String,
    pub version: String,
    /// An SPDX expression.
    pub license: Option<String>,
    /// The registry or repository; `None` for a path on this machine.
    pub source: Option<String>,
    pub dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
pub struct Dependency {
    /// The package's own name, also where the manifest renames it.
    pub name: String,
    /// The version requirement; `*` for a path without a version.
    pub req: String,
    /// `dev`, `build`, or `None` for a normal dependency.
    pub kind: Option<String>,
    /// The folder, for a dependency by path.
    pub path: Option<String>,
}

impl Metadata {
    /// The packages of the workspace only: this needs no network.
    pub fn of_workspace() -> anyhow::Result<Self> {
        Self::read(&["--no-deps"])
    }

    /// All packages in the lock file, for every platform. Cargo downloads those it does not have yet.
    pub fn with_dependencies() -> anyhow::Result<Self> {
        Self::read(&["--locked"])
    }

    fn read(arguments: &[&str]) -> anyhow::Result<Self> {
        let output = cargo().args(["metadata", "--format-version", "1"]).args(arguments).output();
        let output = output.context("cannot run cargo metadata")?;
        ensure!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        Self::parse(&output.stdout)
    }

    pub fn parse(json: &[u8]) -> anyhow::Result<Self> {
        serde_json::from_slice(json).context("cannot read the output of cargo metadata")
    }

    pub fn is_member(&self, package: &Package) -> bool {
        self.workspace_members.contains(&package.id)
    }
}
