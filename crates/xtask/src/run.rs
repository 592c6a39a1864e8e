//! Running other programs, and saying which one failed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};

/// The workspace's root: this crate lies two folders below it.
pub fn root() -> PathBuf {
    let crate_dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    crate_dir.ancestors().nth(2).map_or(crate_dir.clone(), PathBuf::from)
}

/// Absolute: the programs of bench/ run elsewhere.
pub fn target_dir() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    // `cargo run` tells this program which package it is. Passed on, it would be another environment for the build scripts
    // that look at it (ring's), and everything above them would be built anew, each time.
    let told = std::env::vars_os().map(|(name, _)| name);
    for name in told.filter(|name| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|own| starts(name, own))) {
        command.env_remove(name);
    }
    command
}

fn starts(name: &OsStr, with: &str) -> bool {
    name.as_encoded_bytes().starts_with(with.as_bytes())
}

/// What is measured, optimised. Always all of it, as the workspace: a package alone would be built with other features, anew.
pub fn build_release() -> anyhow::Result<()> {
    let mut build = cargo();
    build.args(["build", "--release", "--workspace", "--bin", "butler", "--bin", "bench", "--bin", "postgres-hold"]);
    step("build", &mut build)
}

/// A program of bench/ in Python, with the interpreter the user has. It runs there: whoever names a file names it in full.
pub fn python(module: &str) -> Command {
    let mut command = Command::new(std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()));
    command.current_dir(root().join("bench")).args(["-B", "-m", module]);
    command
}

/// Arguments for a program that runs elsewhere: a file is named in full.
pub fn in_full(arguments: &[String]) -> impl Iterator<Item = OsString> {
    arguments.iter().map(|argument| match Path::new(argument).canonicalize() {
        Ok(path) => path.into_os_string(),
        Err(_) => argument.into(),
    })
}

pub fn exists(program: &str, arguments: &[&str]) -> bool {
    let quiet = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

/// Runs a step with its name and duration on stderr; a failure names the step and the command to repeat it.
pub fn step(name: &str, command: &mut Command) -> anyhow::Result<()> {
    eprintln!("\n── {name}");
    let started = Instant::now();
    let shown = format!("{command:?}");
    let status = command.status().with_context(|| format!("{name}: cannot run {shown}"))?;
    if !status.success() {
        bail!("{name} failed ({status}); repeat it with: {shown}");
    }
    eprintln!("── {name}: {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_within_cargo_hears_of_no_package() {
        // a test of cargo's is told as a program of cargo's is
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        let command = cargo();
        let removed = command.get_envs().any(|(name, value)| name == "CARGO_MANIFEST_DIR" && value.is_none());
        assert!(removed, "{command:?}");
    }
}
