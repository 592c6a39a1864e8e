//! `cargo xtask dist`: builds every package of a release for the platform it runs on, into `target/packages`.

mod archive;
mod binary;
mod deb;
mod npm;
mod platform;
mod sbom;
mod symbols;
mod trial;
mod wheels;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::run::{root, target_dir};
use archive::Stage;
use platform::Platform;

/// The one version of all packages, from Cargo.toml.
const VERSION: &str = env!("CARGO_PKG_VERSION");

const SUMMARY: &str = "Long-term memory for LLM agents, served over MCP";
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

#[derive(clap::Args)]
pub struct Args {
    /// Install each package into an empty environment, start it, store and recall.
    #[arg(long)]
    test: bool,
    /// Package this program instead of building one.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Do not build: only test the packages that are there.
    #[arg(long, requires = "test")]
    no_build: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let platform = Platform::current()?;
    let packages = target_dir().join("packages");
    if !args.no_build {
        build(args, platform, &packages)?;
    }
    if args.test { trial::run(platform, &packages) } else { Ok(()) }
}

fn build(args: &Args, platform: &Platform, packages: &Path) -> anyhow::Result<()> {
    let program = match &args.program {
        Some(program) => program.clone(),
        None => binary::build(platform)?,
    };
    binary::check(platform, &program)?;
    if packages.exists() {
        fs::remove_dir_all(packages).context("cannot remove target/packages")?;
    }
    fs::create_dir_all(packages).context("cannot create target/packages")?;
    tarball(platform, &program, packages)?;
    wheels::program(platform, &program, packages)?;
    wheels::model(&program, packages)?;
    npm::build(platform, &program, packages)?;
    if platform.deb_arch.is_some() {
        deb::build(platform, &program, packages)?;
    }
    sbom::write(platform, packages)?;
    archive::sums(packages)?;
    eprintln!("\n── packages in {}", packages.display());
    for entry in fs::read_dir(packages)?.flatten() {
        eprintln!("{:>12}  {}", entry.metadata()?.len(), entry.file_name().display());
    }
    Ok(())
}

fn tarball(platform: &Platform, program: &Path, packages: &Path) -> anyhow::Result<()> {
    let name = format!("butler-{VERSION}-{}", platform.target);
    let stage = Stage::new("tarball")?;
    stage.program(program, &format!("{name}/butler"))?;
    for (file, text) in documents(program)? {
        stage.write(&format!("{name}/{file}"), text)?;
    }
    for file in LICENCES.iter().chain(&["README.md", "CHANGELOG.md", "packaging/butler.service"]) {
        let leaf = file.rsplit('/').next().unwrap_or(file);
        stage.write(&format!("{name}/{leaf}"), fs::read(root().join(file))?)?;
    }
    stage.tar(&packages.join(format!("{name}.tar.gz")))
}

/// The URL of the repository, which the release workflow sets: a fork publishes under its own.
fn repository() -> Option<String> {
    std::env::var("BUTLER_REPOSITORY").ok().filter(|url| !url.is_empty())
}

/// Completions and manual pages, as the program itself prints them.
fn documents(program: &Path) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut documents = Vec::new();
    for (shell, file) in [("bash", "butler.bash"), ("zsh", "_butler"), ("fish", "butler.fish")] {
        let output = Command::new(program).args(["completions", shell]).output().context("cannot run the program")?;
        anyhow::ensure!(output.status.success(), "`butler completions {shell}` failed");
        documents.push((format!("completions/{file}"), output.stdout));
    }
    let pages = Stage::new("man")?;
    let status = Command::new(program).arg("man").arg("--dir").arg(pages.dir()).status()?;
    anyhow::ensure!(status.success(), "`butler man` failed");
    for page in fs::read_dir(pages.dir())?.flatten() {
        documents.push((format!("man/{}", page.file_name().display()), fs::read(page.path())?));
    }
    Ok(documents)
}
