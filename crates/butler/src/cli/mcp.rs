//! `butler mcp` serves the tools over stdio, for agents that start their MCP servers themselves.

use std::sync::Arc;

use butler_host::access::Access;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::instance::create_data_dir;
use butler_host::profile::Profile;
use butler_host::supervisor;
use butler_memory::{Caller, CallerTenant};
use butler_server::mcp;

use super::Settings;
use super::serve::Signals;
use crate::printer::Printer;
use crate::progress;

/// Serve one butler's tools over stdin and stdout
///
/// stdout carries only the protocol; logs go to stderr. Exits at the end of stdin. Can run at the same time as `serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    claude mcp add butler -- butler mcp\n  \
    butler mcp --roster butlers --butler health\n  \
    butler mcp --tenant ann                 limit this session to Ann's memory")]
pub struct Args {
    /// Set of tools to offer [default: the profile in butler.toml, or full]
    #[arg(long, value_enum)]
    profile: Option<Profile>,
}

pub async fn run(args: Args, settings: &Settings, _: Printer) -> Result<(), HostError> {
    let mut signals = Signals::new()?;
    let host = Host::new(settings.host.clone())?;
    let butler = host.butler(settings.butler.as_deref())?;
    let profile = args.profile.unwrap_or(butler.config.file.butler.profile);
    create_data_dir(&settings.host.data_dir)?;
    // The process that starts this command is trusted. A tenant on the command line is fixed for the session.
    let tenant = settings.tenant.clone().map_or(CallerTenant::Trusted, CallerTenant::Token);
    let access = Access { caller: Caller { tenant, ..Caller::trusted() }, ..Access::trusted() };
    let progress = progress::on_stderr(settings.quiet);
    host.start_traces();
    // The handshake does not wait for the database to start; the first tool call does. If the start fails, every call
    // reports why, because agents look at call results first.
    let starting = {
        let host = Arc::clone(&host);
        tokio::spawn(async move {
            let started = host.start(progress).await;
            match &started {
                Ok(()) => supervisor::watch(host).await,
                Err(error) => tracing::error!(%error, "start failed"),
            }
            started
        })
    };
    let served = tokio::select! {
        served = mcp::stdio::serve(Arc::clone(&host), butler, access, profile) => served,
        () = signals.any() => Ok(()),
    };
    let started = finish(starting, &host).await;
    let stopped = host.stop().await;
    served.and(started).and(stopped)
}

/// Waits briefly for a start in progress, so that the private PostgreSQL it started can be stopped.
async fn finish(starting: tokio::task::JoinHandle<Result<(), HostError>>, host: &Host) -> Result<(), HostError> {
    super::serve::settle(host).await;
    if !matches!(host.status(), butler_host::host::Status::Failed(_)) {
        starting.abort();
    }
    starting.await.unwrap_or(Ok(()))
}
