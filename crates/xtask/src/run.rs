//! Runs other programs and reports which one failed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

/// The root of the workspace, two folders above this crate.
pub fn root() -> PathBuf {
    let crate_dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    crate_dir.ancestors().nth(2).map_or(crate_dir.clone(), PathBuf::from)
}

/// The target directory as an absolute path, because the programs of bench/ run in another directory.
pub fn target_dir() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    // `cargo run` sets variables about this package. A build script that reads them (ring's) would run again each time, and
    // everything that depends on it would be compiled again.
    let variables = std::env::vars_os().map(|(name, _)| name);
    for name in variables.filter(|name| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|own| starts(name, own))) {
        command.env_remove(name);
    }
    command
}

fn starts(name: &OsStr, with: &str) -> bool {
    name.as_encoded_bytes().starts_with(with.as_bytes())
}

/// Builds everything that is measured. Always with the whole workspace: a package alone gets other features and is
/// compiled again.
pub fn build_release() -> anyhow::Result<()> {
    let mut build = cargo();
    build.args(["build", "--release", "--workspace", "--bin", "butler", "--bin", "bench", "--bin", "postgres-hold"]);
    step("build", &mut build)
}

/// A Python program of bench/, run in that folder with the user's interpreter. Paths passed to it must be absolute.
pub fn python(module: &str) -> Command {
    let mut command = Command::new(std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()));
    command.current_dir(root().join("bench")).args(["-B", "-m", module]);
    command
}

/// Makes the paths of existing files absolute, for a program that runs in another directory.
pub fn with_absolute_paths(arguments: &[String]) -> impl Iterator<Item = OsString> {
    arguments.iter().map(|argument| match Path::new(argument).canonicalize() {
        Ok(path) => path.into_os_string(),
        Err(_) => argument.into(),
    })
}

pub fn exists(program: &str, arguments: &[&str]) -> bool {
    let quiet = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

/// Runs a step and prints its name and duration. An error names the step and the command to repeat it.
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

/// Runs a step that downloads, and repeats it after each of the pauses while it fails: a registry may be unavailable for
/// minutes, and the checks that need the download would all be lost.
pub fn download(name: &str, command: &mut Command, pauses: &[Duration]) -> anyhow::Result<()> {
    for pause in pauses {
        match step(name, command) {
            Ok(()) => return Ok(()),
            Err(error) => eprintln!("{error}\n── {name}: again in {} s", pause.as_secs()),
        }
        thread::sleep(*pause);
    }
    step(name, command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_is_repeated_until_it_succeeds() {
        let dir = std::env::temp_dir().join(format!("xtask-download-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        // fails as long as fewer than two attempts left a line
        let script = "echo attempt >> attempts; test $(wc -l < attempts) -ge $0";
        let attempts = |needed: &str| {
            let mut command = Command::new("sh");
            command.current_dir(&dir).args(["-c", script, needed]);
            let result = download("download", &mut command, &[Duration::ZERO, Duration::ZERO]);
            let made = std::fs::read_to_string(dir.join("attempts")).unwrap().lines().count();
            std::fs::remove_file(dir.join("attempts")).unwrap();
            (result.is_ok(), made)
        };
        let outcome = [attempts("1"), attempts("2"), attempts("9")];
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(outcome, [(true, 1), (true, 2), (false, 3)]);
    }

    #[test]
    fn cargo_is_called_without_the_variables_of_this_package() {
        // cargo sets them for tests as well
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        let command = cargo();
        let removed = command.get_envs().any(|(name, value)| name == "CARGO_MANIFEST_DIR" && value.is_none());
        assert!(removed, "{command:?}");
    }
}
