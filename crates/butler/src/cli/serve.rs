//! `butler serve`: bind, start, tell, serve, and stop in the reverse order.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Settings;
use crate::error::HostError;
use crate::host::Host;
use crate::http::{self, Allowed};
use crate::instance::{Instance, Lock};
use crate::printer::Printer;
use crate::{progress, supervisor};

/// Host the butlers: MCP over HTTP, health, metrics
///
/// Prints `ready http://ADDR` on stdout once it serves. SIGTERM and ctrl-c finish what is in flight and stop the
/// private PostgreSQL; a second ctrl-c does not wait.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler serve\n  \
    butler serve --config butler.toml --listen 127.0.0.1:9000\n  \
    butler serve --database-url postgres://user:password@db.example/memory\n\n\
    Then connect an agent:\n  \
    claude mcp add --transport http butler http://127.0.0.1:8150/mcp")]
pub struct Args {}

/// What is in flight gets this long at shutdown; the longest honest call waits for a restart of the database.
const DRAIN: Duration = Duration::from_secs(20);

/// An initdb takes some seconds.
const SETTLE: Duration = Duration::from_secs(8);

pub async fn run(_: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let mut signals = Signals::new()?;
    let host = Host::new(settings.host.clone())?;
    if let Some(name) = &settings.butler {
        host.butler(Some(name))?;
    }
    let lock = Lock::acquire(&settings.host.data_dir)?;
    let listener = http::listen::bind(settings.listen).await?;
    let address = listener.local_addr().map_err(HostError::Serve)?;
    lock.announce(&Instance {
        pid: std::process::id(),
        address,
        started: host.clock().now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        butlers: host.butlers().iter().map(|butler| butler.name.to_string()).collect(),
        source: settings.host.source.clone().absolute(),
    })?;
    let stop = host.closing().clone();
    let router = http::router(host.clone(), Allowed::on(address));
    let mut server = tokio::spawn(http::serve(listener, router, stop.clone()));
    let mut outcome = tokio::select! {
        ended = start_and_watch(&host, settings, printer, address) => ended,
        ended = &mut server => flatten(ended),
        () = signals.any() => Ok(()),
    };
    tracing::info!("stopping");
    tokio::select! {
        () = async { tokio::join!(drain(server, stop), settle(&host)); } => {}
        () = signals.any() => tracing::warn!("asked again: not waiting for what is in flight"),
    }
    if let Err(error) = host.stop().await
        && outcome.is_ok()
    {
        outcome = Err(error);
    }
    drop(lock);
    outcome
}

/// Tells that it is ready when it is, and from then on keeps the private PostgreSQL alive.
async fn start_and_watch(
    host: &Arc<Host>,
    settings: &Settings,
    printer: Printer,
    address: SocketAddr,
) -> Result<(), HostError> {
    let (starting, progress) = (Arc::clone(host), progress::on_stderr(settings.quiet));
    // A task of its own: a signal in the middle of a start must not leave half a server behind.
    flatten(tokio::spawn(async move { starting.start(progress).await }).await)?;
    printer.line(format_args!("ready http://{address}"));
    supervisor::watch(Arc::clone(host)).await;
    Ok(())
}

/// Waits for a start that is under way, so that what it started is stopped; not for a fetch that may take minutes.
pub async fn settle(host: &Host) {
    let _ = tokio::time::timeout(SETTLE, host.settled()).await;
}

/// Accepts nothing new, and waits for the answers that are still owed.
async fn drain(server: JoinHandle<Result<(), HostError>>, stop: CancellationToken) {
    stop.cancel();
    if server.is_finished() {
        return;
    }
    let abort = server.abort_handle();
    if tokio::time::timeout(DRAIN, server).await.is_err() {
        tracing::warn!("gave up on calls that were still running after {} s", DRAIN.as_secs());
        abort.abort();
    }
}

fn flatten(ended: Result<Result<(), HostError>, tokio::task::JoinError>) -> Result<(), HostError> {
    ended.unwrap_or_else(|error| Err(HostError::Failed(format!("the server ended abruptly: {error}"))))
}

pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub fn new() -> Result<Self, HostError> {
        let listen = |kind| signal(kind).map_err(HostError::Serve);
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    /// ctrl-c or SIGTERM.
    pub async fn any(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
