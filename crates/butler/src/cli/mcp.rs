//! `butler mcp`: the tools over stdio, for an agent that starts its servers itself.

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
/// stdout carries the protocol alone; logs go to stderr. Ends when stdin does. Works beside a running `serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    claude mcp add butler -- butler mcp\n  \
    butler mcp --roster butlers --butler health\n  \
    butler mcp --tenant ann                 this session sees Ann's memory only")]
pub struct Args {
    /// Which tools to offer [default: that of butler.toml, else full]
    #[arg(long, value_enum)]
    profile: Option<Profile>,
}

pub async fn run(args: Args, settings: &Settings, _: Printer) -> Result<(), HostError> {
    let mut signals = Signals::new()?;
    let host = Host::new(settings.host.clone())?;
    let butler = host.butler(settings.butler.as_deref())?;
    let profile = args.profile.unwrap_or(butler.config.file.butler.profile);
    create_data_dir(&settings.host.data_dir)?;
    // Whoever starts us is trusted; a tenant named on the command line is fixed for the session.
    let tenant = settings.tenant.clone().map_or(CallerTenant::Trusted, CallerTenant::Token);
    let access = Access { caller: Caller { tenant, actor: None }, ..Access::trusted() };
    let progress = progress::on_stderr(settings.quiet);
    host.start_traces();
    // The client's handshake is answered while the database starts; its first call waits for it. If the start fails,
    // every call says why, which is where an agent looks first.
    let starting = {
        let host = Arc::clone(&host);
        tokio::spawn(async move {
            let started = host.start(progress).await;
            match &started {
                Ok(()) => supervisor::watch(host).await,
                Err(error) => tracing::error!(%error, "the server could not start"),
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

/// A start that is under way is waited for, so that the private server is stopped and not abandoned.
async fn finish(starting: tokio::task::JoinHandle<Result<(), HostError>>, host: &Host) -> Result<(), HostError> {
    super::serve::settle(host).await;
    if !matches!(host.status(), butler_host::host::Status::Failed(_)) {
        starting.abort();
    }
    starting.await.unwrap_or(Ok(()))
}
