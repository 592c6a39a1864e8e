//! `butler serve`: bind, start, tell, serve, and stop in the reverse order.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use butler_host::access::Secret;
use butler_host::config::ServerSection;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::host::tokens;
use butler_host::instance::{Instance, Lock};
use butler_host::{env, supervisor};
use butler_server::http::Authenticator;
use butler_server::http::tls::CertificateFiles;
use butler_server::http::{AllowedHosts, Listeners};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Settings;
use crate::printer::Printer;
use crate::progress;

/// Host the butlers: MCP over HTTP, health, metrics
///
/// Prints `ready http://ADDR` on stdout once it serves. SIGTERM and ctrl-c finish what is in flight and stop the
/// private PostgreSQL; a second ctrl-c does not wait.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler serve\n  \
    butler serve --config butler.toml --listen 127.0.0.1:9000\n  \
    butler serve --database-url postgres://user:password@db.example/memory\n  \
    butler serve --listen 0.0.0.0:8150 --tls-cert cert.pem --tls-key key.pem --allowed-host memory.example.com\n\n\
    Then connect an agent:\n  \
    claude mcp add --transport http butler http://127.0.0.1:8150/mcp")]
pub struct Args {
    /// A name under which clients may address the server, beside the listen address and localhost; may be repeated
    #[arg(long = "allowed-host", value_name = "NAME", env = env::ALLOWED_HOSTS, hide_env_values = true, value_delimiter = ',')]
    allowed_hosts: Vec<String>,
    /// The certificate with its chain (PEM): serve HTTPS
    #[arg(long, value_name = "FILE", env = env::TLS_CERT, hide_env_values = true)]
    tls_cert: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(long, value_name = "FILE", env = env::TLS_KEY, hide_env_values = true)]
    tls_key: Option<PathBuf>,
    /// Requests a second of one token, over ten seconds; 0: no limit [default: 1000]
    #[arg(long, value_name = "N", env = env::RATE_LIMIT, hide_env_values = true)]
    rate_limit: Option<u32>,
}

impl Args {
    /// A flag wins over the configuration.
    fn over(self, configured: &ServerSection) -> ServerSection {
        let configured = configured.clone();
        let hosts = if self.allowed_hosts.is_empty() { configured.allowed_hosts } else { self.allowed_hosts };
        ServerSection {
            allowed_hosts: hosts,
            tls_cert: self.tls_cert.or(configured.tls_cert),
            tls_key: self.tls_key.or(configured.tls_key),
            rate_limit: self.rate_limit.unwrap_or(configured.rate_limit),
            ..configured
        }
    }
}

/// What is in flight gets this long at shutdown; the longest honest call waits for a restart of the database.
const DRAIN: Duration = Duration::from_secs(20);

/// An initdb takes some seconds.
const SETTLE: Duration = Duration::from_secs(8);

/// The last uses of tokens are worth a moment, not a hang.
const LAST_WRITES: Duration = Duration::from_secs(1);

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let mut signals = Signals::new()?;
    let host = Host::new(settings.host.clone())?;
    if let Some(name) = &settings.butler {
        host.butler(Some(name))?;
    }
    let server = args.over(host.server());
    let open = Open::to(settings);
    if host.is_new() {
        open.check(&host)?;
    }
    let tls = CertificateFiles::of(server.tls_cert.clone(), server.tls_key.clone())?;
    let lock = Lock::acquire(&settings.host.data_dir)?;
    let listeners = Listeners::open(settings.listen, tls.as_ref()).await?;
    let (url, secret) = (listeners.url(), Secret::new()?);
    lock.announce(&Instance {
        pid: std::process::id(),
        address: listeners.local(),
        url: url.clone(),
        started: host.clock().now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        butlers: host.butlers().iter().map(|butler| butler.name.to_string()).collect(),
        source: settings.host.source.clone().absolute(),
        database_url: settings.host.database_url.clone(),
        secret: Some(secret.expose().to_owned()),
    })?;
    if !open.loopback() && tls.is_none() {
        tracing::warn!("tokens travel in plain text: add --tls-cert and --tls-key, or put a proxy with TLS in front");
    }
    let stop = host.closing().clone();
    let authenticator = Authenticator::new(Arc::clone(&host), secret, open.loopback(), server.rate_limit);
    let router = butler_server::router(
        Arc::clone(&host),
        AllowedHosts::on(listeners.address(), &server.allowed_hosts),
        authenticator,
    );
    let mut serving = tokio::spawn(listeners.serve(router, server.request_timeout(), stop.clone()));
    let mut outcome = tokio::select! {
        ended = start_and_watch(&host, settings, printer, &open, &url) => ended,
        ended = &mut serving => flatten(ended),
        () = signals.any() => Ok(()),
    };
    tracing::info!("stopping");
    tokio::select! {
        () = async { tokio::join!(drain(serving, stop), settle(&host)); } => {}
        () = signals.any() => tracing::warn!("asked again: not waiting for what is in flight"),
    }
    let _ = tokio::time::timeout(LAST_WRITES, tokens::write_uses(&host)).await;
    if let Err(error) = host.stop().await
        && outcome.is_ok()
    {
        outcome = Err(error);
    }
    drop(lock);
    outcome
}

/// To whom the server is open, and what makes that safe.
struct Open {
    address: SocketAddr,
    command: String,
}

impl Open {
    fn to(settings: &Settings) -> Self {
        Self { address: settings.listen, command: format!("butler token create --tenant default{}", settings.flags()) }
    }

    fn loopback(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// Whoever reaches a server without tokens is trusted: other machines must not.
    fn check(&self, host: &Host) -> Result<(), HostError> {
        if self.loopback() || host.keyring().any() {
            return Ok(());
        }
        Err(HostError::NoTokens { address: self.address, command: self.command.clone() })
    }
}

/// Tells that it is ready when it is, and from then on keeps the private PostgreSQL alive and the tokens up to date.
async fn start_and_watch(
    host: &Arc<Host>,
    settings: &Settings,
    printer: Printer,
    open: &Open,
    url: &str,
) -> Result<(), HostError> {
    host.start_traces();
    let (starting, progress) = (Arc::clone(host), progress::on_stderr(settings.quiet));
    // A task of its own: a signal in the middle of a start must not leave half a server behind.
    flatten(tokio::spawn(async move { starting.start(progress).await }).await)?;
    open.check(host)?;
    printer.line(format_args!("ready {url}"));
    tokio::join!(supervisor::watch(Arc::clone(host)), tokens::keep_in_sync(Arc::clone(host)));
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
