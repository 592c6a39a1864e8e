//! `cargo xtask test`: the one command that says whether the house stands.

use anyhow::Context;

use crate::run::{cargo, exists, step};
use crate::server::TestServer;
use crate::{tidy, web};

#[derive(clap::Args)]
pub struct Args {
    /// Only the tests whose name contains this.
    filter: Option<String>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    step("format", cargo().args(["fmt", "--all", "--check"])).context("`cargo fmt --all` mends it")?;
    tidy::run()?;
    step("clippy", cargo().args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
    let server = TestServer::start(&["--workspace"])?;
    let mut tests = cargo();
    tests.args(["test", "--workspace"]).args(&args.filter);
    step("tests", &mut tests)?;
    drop(server);
    if args.filter.is_none() {
        web::run(&web::Args::default())?;
    }
    if exists("cargo-deny", &["--version"]) {
        step("licences, bans, sources", cargo().args(["deny", "check", "licenses", "bans", "sources"]))?;
    } else {
        eprintln!("\n── cargo-deny is not installed: licences, bans and sources were not checked");
    }
    Ok(())
}
