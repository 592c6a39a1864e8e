//! The dashboard: its sources in `web/` build to the files committed in `crates/server/dashboard`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::run::{cargo, exists, root, step, target_dir};

#[derive(Default, clap::Args)]
pub struct Args {
    /// Renews the generated client and the committed files instead of comparing them.
    #[arg(long)]
    build: bool,
    /// Leaves the tests in a browser out.
    #[arg(long)]
    no_browser: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    if !exists("node", &["--version"]) || !exists("npm", &["--version"]) {
        eprintln!("\n── node or npm is not installed: the dashboard was neither rebuilt nor tested");
        return Ok(());
    }
    install()?;
    if args.build {
        step("dashboard: client", npm().args(["run", "--silent", "generate"]))?;
        return build(&root().join("crates/server/dashboard"));
    }
    let fresh = target_dir().join("web-build");
    build(&fresh)?;
    let committed = root().join("crates/server/dashboard");
    step("dashboard: compare", node().arg("scripts/compare.mjs").args([&fresh, &committed]))?;
    let schema = target_dir().join("web-schema.d.ts");
    step("dashboard: client", npm().args(["run", "--silent", "generate"]).env("BUTLER_WEB_SCHEMA", &schema))?;
    same(&schema, &web().join("src/api/schema.d.ts"))?;
    step("dashboard: unit tests", npm().args(["run", "--silent", "test"]))?;
    if args.no_browser { Ok(()) } else { browser() }
}

fn web() -> PathBuf {
    root().join("web")
}

fn npm() -> Command {
    let mut command = Command::new("npm");
    command.current_dir(web());
    command
}

fn node() -> Command {
    let mut command = Command::new("node");
    command.current_dir(web());
    command
}

/// Only when the lock file is another than at the last installation.
fn install() -> anyhow::Result<()> {
    let lock = fs::read(web().join("package-lock.json")).context("cannot read web/package-lock.json")?;
    let mark = web().join("node_modules/.installed-lock.json");
    if fs::read(&mark).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    // not `ci`: it refuses a lock file without the optional packages of other platforms, which npm itself writes so
    step("dashboard: packages", npm().args(["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    fs::write(&mark, lock).context("cannot write into web/node_modules")
}

fn build(out: &Path) -> anyhow::Result<()> {
    step("dashboard: lint", npm().args(["run", "--silent", "lint"]))?;
    step("dashboard: types", npm().args(["run", "--silent", "types"]))?;
    step("dashboard: build", npm().args(["run", "--silent", "build"]).env("BUTLER_WEB_OUT", out))
}

fn same(fresh: &Path, committed: &Path) -> anyhow::Result<()> {
    let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    anyhow::ensure!(
        read(fresh)? == read(committed)?,
        "web/src/api/schema.d.ts is not what docs/openapi.json generates; `cargo xtask web --build` renews it"
    );
    Ok(())
}

/// Debian's Chromium drives the tests; a machine without it gets it where that is possible.
fn browser() -> anyhow::Result<()> {
    if !exists("chromium", &["--version"]) {
        let apt =
            |arguments: &[&str]| Command::new("apt-get").args(arguments).status().is_ok_and(|status| status.success());
        let install = ["install", "--yes", "--quiet", "--no-install-recommends", "chromium"];
        // a new machine may know no packages yet
        anyhow::ensure!(
            apt(&install) || (apt(&["update", "--quiet"]) && apt(&install)),
            "Chromium is missing and could not be installed; install it (Debian: apt-get install chromium)"
        );
    }
    // with the workspace, as the tests build it: alone it would be built with other features, and all of it anew
    step("dashboard: server", cargo().args(["build", "--workspace", "--bin", "butler"]))?;
    let butler = target_dir().join("debug").join("butler");
    step("dashboard: browser tests", npm().args(["run", "--silent", "e2e"]).env("BUTLER_BIN", butler))
}
