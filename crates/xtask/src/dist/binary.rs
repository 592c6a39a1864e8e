//! The program that the packages contain: built for old systems, small, and checked for both.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use super::platform::Platform;
use super::symbols;
use crate::run::{cargo, step, target_dir};

/// Debian 11 has glibc 2.31 and Ubuntu 20.04 too; 2.28 is also what the private PostgreSQL needs.
const GLIBC: (u32, u32) = (2, 28);

/// An upper limit of the size, so that a dependency that doubles it is noticed.
const MAX_BYTES: u64 = 30_000_000;

/// Versions that are known to work together.
const TOOLS: [&str; 2] = ["ziglang==0.17.0", "cargo-zigbuild==0.24.0"];

pub fn build(platform: &Platform) -> anyhow::Result<PathBuf> {
    let mut build = cargo();
    if platform.is_linux() {
        // zig brings the headers of old versions of glibc, so that no old machine is needed.
        let tools = tools()?;
        let path = std::env::join_paths(
            [tools].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        )?;
        let target = format!("{}.{}.{}", platform.target, GLIBC.0, GLIBC.1);
        build.env("PATH", path).args(["zigbuild", "--target", &target]);
    } else {
        build.args(["build", "--target", platform.target]).env("MACOSX_DEPLOYMENT_TARGET", "11.0");
    }
    step("program", build.args(["--locked", "--profile", "dist", "--package", "butler"]))?;
    Ok(target_dir().join(platform.target).join("dist/butler"))
}

/// Installs cargo-zigbuild and zig into an environment below target, once.
fn tools() -> anyhow::Result<PathBuf> {
    let dir = target_dir().join(format!("dist-tools-{}", TOOLS.join("-").replace("==", "-")));
    let bin = dir.join("bin");
    if !bin.join("cargo-zigbuild").is_file() {
        step("tools: environment", Command::new("python3").args(["-m", "venv"]).arg(&dir))?;
        step("tools: zig", Command::new(bin.join("pip")).args(["install", "--quiet"]).args(TOOLS))?;
    }
    Ok(bin)
}

/// Fails if the program is too large or needs a newer glibc.
pub fn check(platform: &Platform, program: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    ensure!(
        bytes.len() as u64 <= MAX_BYTES,
        "the program has {} bytes, but at most {MAX_BYTES} are allowed; `cargo tree` shows what it is built from",
        bytes.len()
    );
    if !platform.is_linux() {
        eprintln!("── program: {} bytes", bytes.len());
        return Ok(());
    }
    let needed = symbols::newest_glibc(&bytes)?;
    ensure!(
        needed <= GLIBC,
        "the program needs GLIBC_{}.{}, so it does not start on Debian 11; build it with `cargo xtask dist`",
        needed.0,
        needed.1
    );
    eprintln!("── program: {} bytes, needs GLIBC_{}.{}", bytes.len(), needed.0, needed.1);
    Ok(())
}
