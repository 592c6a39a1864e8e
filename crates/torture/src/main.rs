//! `cargo xtask torture`: runs a real server under load, injects faults, and checks that nothing acknowledged is lost.
//!
//! 64 clients of several tenants use all tools through a proxy that can break connections. The seed decides how the
//! server, its PostgreSQL and their disk fail. After each round everything acknowledged must exist, the database must be
//! consistent, and no tenant may see another tenant's memory.

mod check;
mod client;
mod database;
mod dice;
mod journal;
mod llm;
mod plan;
mod proxy;
mod report;
mod run;
mod server;
mod tenant;
mod work;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use butler_torture::disk::Disk;
use clap::{Parser, Subcommand};

use crate::client::{Client, Reply};
use crate::run::Runner;
use crate::server::{Server, Setup, command, configuration};
use crate::tenant::Tenant;
use crate::work::World;

#[derive(Parser)]
#[command(name = "torture", about = "Injects faults under load and checks that nothing acknowledged is lost")]
struct Cli {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Run the torture test.
    Run(Args),
    /// Act as the model for consolidation: prompt on stdin, answer on stdout.
    #[command(hide = true)]
    Llm,
}

#[derive(clap::Args)]
struct Args {
    /// Start no further round after this time.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Stop after this many rounds.
    #[arg(long)]
    rounds: Option<u64>,
    /// Determines the faults and their order.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Concurrent clients.
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Tenants that share the clients.
    #[arg(long, default_value_t = 4)]
    tenants: usize,
    /// The program to test. Default: `butler` beside this program.
    #[arg(long)]
    butler: Option<PathBuf>,
    /// Write the results to this file as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Write the server's log to this file.
    #[arg(long)]
    log: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    match Cli::parse().role {
        Role::Llm => llm::run().map(|()| ExitCode::SUCCESS),
        Role::Run(args) => tokio::runtime::Runtime::new()?.block_on(torture(args)),
    }
}

async fn torture(args: Args) -> anyhow::Result<ExitCode> {
    let dir = tempfile::tempdir()?;
    open_to_all(dir.path())?;
    let (disk, why_not) = match Disk::mount(dir.path()) {
        Ok(disk) => {
            open_to_all(dir.path())?;
            (Some(disk), None)
        }
        Err(error) => (None, Some(format!("a full disk: {error:#}"))),
    };
    let setup = setup(&args, dir.path())?;
    let server = Server::start(&setup).await?;
    let world = World::new(tenants(&setup, &server, args.tenants.max(1)).await?);
    let mut runner = Runner::new(setup, server, disk, world, args.seed).await?;
    runner.report.not_possible.extend(why_not);
    let ended = runner.run(args.clients, Duration::from_secs_f64(args.minutes * 60.0), args.rounds).await;
    if let Err(error) = ended {
        runner.world().journal().violation(format!("the run ended early: {error:#}"));
    }
    // dropped last, because the server's data is on it
    let world = std::sync::Arc::clone(runner.world());
    let (report, _disk) = runner.stop().await;
    let journal = world.journal();
    report.print(&journal);
    if let Some(path) = &args.json {
        report.write(&journal, path)?;
    }
    if journal.violation_count() > 0 {
        eprintln!("repeat the same faults with --seed {}", args.seed);
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// As root the private PostgreSQL runs under another account, which must be able to enter the directory.
fn open_to_all(dir: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755))
        .context("cannot set the permissions of the directory")
}

fn setup(args: &Args, dir: &Path) -> anyhow::Result<Setup> {
    let program = std::env::current_exe()?;
    let butler = args.butler.clone().unwrap_or_else(|| program.with_file_name("butler"));
    if !butler.exists() {
        bail!("{} is missing; run `cargo xtask torture`, which builds it", butler.display());
    }
    let config = dir.join("butler.toml");
    std::fs::write(&config, configuration(&program))?;
    let log = args.log.clone().unwrap_or_else(|| program.with_file_name("torture.log"));
    let _ = std::fs::remove_file(&log);
    Ok(Setup { butler, data_dir: dir.join("data"), config, log, clock_offset: dir.join("clock_offset") })
}

/// Creates a token per tenant. From the first token on, the server requires one.
async fn tenants(setup: &Setup, server: &Server, count: usize) -> anyhow::Result<Vec<Tenant>> {
    let mut tenants = Vec::new();
    for index in 0..count {
        let name = tenant::name(index);
        let create = ["token", "create", "--tenant", &name, "--rights", "read,write,admin", "--json"];
        let made: serde_json::Value = serde_json::from_str(&command(setup, &create).await?)?;
        let tenant = Tenant::new(index, made["token"].as_str().context("no token")?.to_owned());
        let mut client = Client::new(server.address.clone(), tenant.token.clone());
        // the server learns of a new token after a moment
        while !matches!(client.call("memory_stats", &serde_json::json!({})).await, Reply::Done { .. }) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        tenants.push(tenant);
    }
    Ok(tenants)
}
