//! The dashboard: its sources in `web/` build to the files committed in `crates/server/dashboard`.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use anyhow::Context;

use crate::run::{cargo, download, exists, root, step, target_dir};
use crate::scratch::Scratch;

#[derive(clap::Args)]
pub struct Args {
    /// Rewrite the generated client and the committed files instead of comparing them.
    #[arg(long)]
    pub build: bool,
    /// Leave out the browser tests, which need Chromium.
    #[arg(long)]
    pub skip_browser: bool,
}

/// Between the attempts to install packages, four minutes in all.
const PAUSES: [Duration; 4] =
    [Duration::from_secs(10), Duration::from_secs(30), Duration::from_secs(60), Duration::from_secs(140)];

/// Installs the packages, and Chromium if `apt-get` can. Fails if Node.js, npm or Chromium is missing.
pub fn install_tools(browser: bool) -> anyhow::Result<()> {
    for tool in ["node", "npm"] {
        anyhow::ensure!(
            exists(tool, &["--version"]),
            "`{tool}` is missing, which the dashboard's checks need\nhint: install Node.js with npm, or leave these \
             checks out with `cargo xtask test --skip-dashboard`"
        );
    }
    install()?;
    if browser { require_chromium() } else { Ok(()) }
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    install_tools(!args.build && !args.skip_browser)?;
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
    if args.skip_browser {
        eprintln!("\n── dashboard: no browser tests (--skip-browser)");
        return Ok(());
    }
    browser()
}

/// The checks of the dashboard while the tests run. Both wait for other programs a third of the time.
pub struct Beside {
    child: Child,
    output: PathBuf,
}

impl Beside {
    pub fn start(skip_browser: bool, scratch: &Scratch) -> anyhow::Result<Self> {
        let output = target_dir().join("dashboard-checks.log");
        eprintln!("\n── dashboard: checked while the tests run ({})", output.display());
        let file = File::create(&output).with_context(|| format!("cannot write {}", output.display()))?;
        // not `current_exe`: the build of the whole workspace has replaced the file of this process
        let mut command = Command::new(target_dir().join("debug").join("xtask"));
        command.arg("web").args(skip_browser.then_some("--skip-browser"));
        command.stdout(file.try_clone()?).stderr(file);
        let child = scratch.apply(&mut command).spawn().with_context(|| format!("cannot run {command:?}"))?;
        Ok(Self { child, output })
    }

    /// Waits for the checks and prints their output. Fails if one of them failed.
    pub fn finish(mut self) -> anyhow::Result<()> {
        let status = self.child.wait()?;
        let output = fs::read(&self.output).with_context(|| format!("cannot read {}", self.output.display()))?;
        std::io::stderr().write_all(&output)?;
        anyhow::ensure!(status.success(), "the checks of the dashboard failed; repeat them with: cargo xtask web");
        Ok(())
    }
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

/// Installs the packages if the lock file changed since the last installation.
fn install() -> anyhow::Result<()> {
    let lock = fs::read(web().join("package-lock.json")).context("cannot read web/package-lock.json")?;
    let installed = web().join("node_modules/.installed-lock.json");
    if fs::read(&installed).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    // not `npm ci`: it rejects lock files without the optional packages of other platforms, which npm itself writes
    let arguments = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
    download("dashboard: packages", npm().args(arguments), &PAUSES)?;
    fs::write(&installed, lock).context("cannot write into web/node_modules")
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
        "web/src/api/schema.d.ts does not match docs/openapi.json\nhint: run `cargo xtask web --build`"
    );
    Ok(())
}

/// Finds a browser for the tests, or installs one. The tests prefer the headless shell, which takes less processor time than
/// Chromium.
fn require_chromium() -> anyhow::Result<()> {
    const SHELL: &str = "chromium-headless-shell";
    let install = |package| ["install", "--yes", "--quiet", "--no-install-recommends", package];
    // Why apt-get failed the last time. It is told only if there is no browser at all.
    let mut reason = String::new();
    let mut apt = |arguments: &[&str]| match Command::new("apt-get").args(arguments).output() {
        Ok(run) => {
            reason = String::from_utf8_lossy(&run.stderr).trim().to_owned();
            run.status.success()
        }
        Err(error) => {
            reason = error.to_string();
            false
        }
    };
    let found = exists(SHELL, &["--version"])
        || apt(&install(SHELL))
        || exists("chromium", &["--version"])
        // a new machine has no package lists yet
        || apt(&["update", "--quiet", "-o", "Acquire::Retries=5"]) && (apt(&install(SHELL)) || apt(&install("chromium")));
    anyhow::ensure!(
        found,
        "Chromium is missing, which the dashboard's browser tests need, and apt-get could not install it: {reason}\nhint: \
         install it (Debian: `apt-get install chromium-headless-shell` or `chromium`), or leave these tests out with \
         `--skip-browser`"
    );
    Ok(())
}

fn browser() -> anyhow::Result<()> {
    // the whole workspace, as the tests build it: a package alone gets other features and is compiled again
    step("dashboard: server", cargo().args(["build", "--workspace", "--bin", "butler"]))?;
    let butler = target_dir().join("debug").join("butler");
    let scratch = Scratch::new();
    step("dashboard: browser tests", scratch.apply(npm().args(["run", "--silent", "e2e"]).env("BUTLER_BIN", butler)))
}
