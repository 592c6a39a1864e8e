//! Runs the user's pip, or the pip that uv brings, to locate or to download a wheel.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde::Deserialize;

use crate::error::FetchError;
use crate::{Build, Wheel};

pub(crate) struct Pip {
    program: PathBuf,
    /// The arguments before pip's own, such as `-m pip`.
    prefix: &'static [&'static str],
    /// The Python for the resumable download. Without one only `pip download` is possible.
    pub python: Option<PathBuf>,
}

/// The part of pip's configuration that a download with plain Python must be told.
#[derive(Default, Debug, PartialEq)]
pub(crate) struct Settings {
    pub cert: String,
    pub proxy: String,
}

/// Why pip or a download failed. A network error is worth a retry, others are not.
pub(crate) enum PipError {
    Network(String),
    Other(String),
}

#[derive(Deserialize)]
struct Report {
    install: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    download_info: DownloadInfo,
}

#[derive(Deserialize)]
struct DownloadInfo {
    url: String,
}

impl Pip {
    pub fn find(search_path: &OsStr, wheel: &Wheel, build: &Build) -> Result<Self, FetchError> {
        let which = |name: &str| std::env::split_paths(search_path).map(|d| d.join(name)).find(|p| p.is_file());
        let pythons: Vec<PathBuf> = ["python3", "python"].into_iter().filter_map(which).collect();
        let modules = pythons.iter().map(|p| (p.clone(), &["-m", "pip"][..], Some(p.clone())));
        let scripts = ["pip3", "pip"].into_iter().filter_map(which).map(|p| (p, &[][..], pythons.first().cloned()));
        // uv has no download command of its own, but it runs pip in an environment that it keeps in its cache.
        let uv = which("uv").map(|uv| (uv, &["tool", "run", "--quiet", "pip"][..], None));
        modules
            .chain(scripts)
            .chain(uv)
            .map(|(program, prefix, python)| Pip { program, prefix, python })
            .find(|pip| pip.run(&["--version"]).is_ok_and(|out| out.status.success()))
            .ok_or(FetchError::NoPip { package: wheel.package, file: build.file })
    }

    /// The URL of the wheel on the index that pip is configured with (http, https or file).
    pub fn locate(&self, wheel: &Wheel, build: &Build, scratch: &Path) -> Result<String, PipError> {
        let target = scratch.to_string_lossy();
        let command = ["install", "--dry-run", "--ignore-installed", "--report", "-", "--quiet", "--target", &target];
        let out = self.ask(&command, wheel, build)?;
        let report: Report = serde_json::from_slice(&out.stdout).map_err(|e| PipError::Other(e.to_string()))?;
        let url = report.install.into_iter().map(|item| item.download_info.url).next();
        // The user's constraints or index may select another build, but only the pinned file can pass the checksum.
        url.filter(|url| url.ends_with(build.file))
            .ok_or_else(|| PipError::Other(format!("pip does not offer {}", build.file)))
    }

    /// Downloads the wheel into `dir` with pip alone. This is not resumable, but it supports every index and every kind
    /// of authentication.
    pub fn download(&self, wheel: &Wheel, build: &Build, dir: &Path) -> Result<PathBuf, PipError> {
        let target = dir.to_string_lossy();
        self.ask(&["download", "--quiet", "-d", &target], wheel, build)?;
        let file = dir.join(build.file);
        if file.is_file() { Ok(file) } else { Err(PipError::Other(format!("pip does not offer {}", build.file))) }
    }

    pub fn settings(&self) -> Settings {
        let out = self.run(&["config", "list"]).map(|out| String::from_utf8_lossy(&out.stdout).into_owned());
        Settings::parse(&out.unwrap_or_default())
    }

    fn ask(&self, command: &[&str], wheel: &Wheel, build: &Build) -> Result<Output, PipError> {
        let requirement = format!("{}=={}", wheel.package, wheel.version);
        let mut args = command.to_vec();
        args.extend(["--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--disable-pip-version-check"]);
        args.extend(["--no-input", "--retries", "2"]);
        if let Some(platform) = build.pip_platform {
            args.extend(["--platform", platform]);
        }
        args.push(&requirement);
        let out = self.run(&args).map_err(|e| PipError::Other(e.to_string()))?;
        if out.status.success() { Ok(out) } else { Err(PipError::from_stderr(&String::from_utf8_lossy(&out.stderr))) }
    }

    fn run(&self, args: &[&str]) -> std::io::Result<Output> {
        let mut command = Command::new(&self.program);
        // Whoever has only uv has told only uv which index to use.
        let uv_index = ["UV_DEFAULT_INDEX", "UV_INDEX_URL"].iter().find_map(std::env::var_os);
        if let Some(index) = uv_index.filter(|_| self.python.is_none() && std::env::var_os("PIP_INDEX_URL").is_none()) {
            command.env("PIP_INDEX_URL", index);
        }
        command.args(self.prefix).args(args).stdin(Stdio::null()).output()
    }
}

impl Settings {
    /// Reads `pip config list`: lines such as `global.cert='/path'` and `:env:.proxy='http://host:1'`.
    fn parse(list: &str) -> Self {
        let value = |key: &str| {
            let found = list.lines().rev().find_map(|line| {
                let (name, value) = line.split_once('=')?;
                let (section, name) = name.rsplit_once('.')?;
                let counts = matches!(section, "global" | "install" | "download" | ":env:");
                (counts && name == key).then(|| value.trim().trim_matches(['\'', '"']).to_owned())
            });
            found.unwrap_or_default()
        };
        Self { cert: value("cert"), proxy: value("proxy") }
    }
}

impl PipError {
    /// Finds the cause in pip's warnings, because the last line of every failure is "no matching distribution".
    fn from_stderr(stderr: &str) -> Self {
        const NETWORK: [&str; 9] = [
            "NewConnectionError",
            "ConnectTimeoutError",
            "ReadTimeoutError",
            "ConnectionResetError",
            "ProxyError",
            "SSLError",
            "Max retries exceeded",
            "connection broken",
            "Temporary failure in name resolution",
        ];
        let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        match lines.iter().rfind(|line| NETWORK.iter().any(|sign| line.contains(sign))) {
            Some(line) => PipError::Network((*line).to_owned()),
            None => PipError::Other(lines.last().copied().unwrap_or("without a message").to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pip_settings_are_read_from_file_and_environment() {
        let list = "global.index-url='https://mirror/simple'\nglobal.cert='/etc/a.pem'\n:env:.cert='/etc/b.pem'\n\
                    global.proxy='http://proxy:3128'\nfreeze.proxy='http://other'\n";
        let settings = Settings { cert: "/etc/b.pem".into(), proxy: "http://proxy:3128".into() };
        assert_eq!(Settings::parse(list), settings);
    }

    #[test]
    fn an_unreachable_index_is_distinguished_from_a_missing_package() {
        let offline = "WARNING: Retrying after connection broken by 'NewConnectionError(...)': /simple/x/\n\
                       ERROR: No matching distribution found for x";
        assert!(
            matches!(PipError::from_stderr(offline), PipError::Network(line) if line.contains("NewConnectionError"))
        );
        let missing = "ERROR: No matching distribution found for x\n";
        assert!(matches!(PipError::from_stderr(missing), PipError::Other(line) if line.contains("No matching")));
    }
}
