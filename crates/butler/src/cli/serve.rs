//! `butler serve` binds the address, starts the butlers, reports that it is ready, and stops in reverse order.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use butler_host::access::{Secret, TokenState};
use butler_host::config::ServerSection;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::host::tokens;
use butler_host::instance::{Instance, Lock};
use butler_host::{descriptors, env, supervisor};
use butler_server::http::Authenticator;
use butler_server::http::tls::CertificateFiles;
use butler_server::http::{AllowedHosts, ConnectionLimits, Connections, Listeners, Timeouts};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Settings;
use crate::printer::Printer;
use crate::progress;

/// Host the butlers: MCP, REST API, dashboard and scheduled jobs
///
/// Prints `ready http://ADDR` to stdout once it accepts requests. On SIGTERM or Ctrl-C it completes the requests in
/// flight and stops the private PostgreSQL; a second Ctrl-C does not wait for them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler serve\n  \
    butler serve --config butler.toml --listen 127.0.0.1:9000\n  \
    butler serve --database-url postgres://user:password@db.example/memory\n  \
    butler serve --listen 0.0.0.0:8150 --tls-cert cert.pem --tls-key key.pem\n\n\
    Then connect an agent:\n  \
    claude mcp add --transport http butler http://127.0.0.1:8150/mcp")]
pub struct Args {
    /// Additional host name that clients may use, besides the listen address and localhost; repeatable
    #[arg(long = "allowed-host", value_name = "NAME", env = env::ALLOWED_HOSTS, hide_env_values = true, value_delimiter = ',')]
    allowed_hosts: Vec<String>,
    /// Serve HTTPS with this certificate chain (PEM)
    #[arg(long, value_name = "FILE", env = env::TLS_CERT, hide_env_values = true)]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", env = env::TLS_KEY, hide_env_values = true)]
    tls_key: Option<PathBuf>,
    /// Requests per second allowed for each token, averaged over ten seconds; 0 disables the limit [default: 1000]
    #[arg(long, value_name = "N", env = env::RATE_LIMIT, hide_env_values = true)]
    rate_limit: Option<u32>,
}

impl Args {
    /// Applies the flags on top of the configuration.
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

/// Time for requests in flight to complete at shutdown. The slowest legitimate call waits for a database restart.
const DRAIN: Duration = Duration::from_secs(20);

/// Time for a start in progress to complete at shutdown. `initdb` takes several seconds.
const SETTLE: Duration = Duration::from_secs(8);

/// Time limit for writing the last-used times of tokens at shutdown.
const LAST_WRITES: Duration = Duration::from_secs(1);

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let mut signals = Signals::new()?;
    let host = Host::new(settings.host.clone())?;
    if let Some(name) = &settings.butler {
        host.butler(Some(name))?;
    }
    let mut server = args.over(host.server());
    server.allowed_hosts.extend(server.public_host());
    let exposure = Exposure::new(settings, &server);
    if host.is_new() {
        exposure.check(&host)?;
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
    if !exposure.address.ip().is_loopback() && tls.is_none() {
        tracing::warn!("tokens are sent in plain text: add --tls-cert and --tls-key, or use a TLS proxy");
    }
    let stop = host.closing().clone();
    let authenticator = Authenticator::new(Arc::clone(&host), secret, exposure.is_local(), server.rate_limit);
    let router = butler_server::router(
        Arc::clone(&host),
        AllowedHosts::on(listeners.address(), &server.allowed_hosts),
        authenticator,
    );
    let limits = ConnectionLimits::of(&server, descriptors::raise_limit());
    let connections = Connections::new(limits, host.client_metrics());
    let timeouts = Timeouts { head: server.request_timeout(), idle: server.idle_timeout() };
    let mut serving = tokio::spawn(listeners.serve(router, connections, timeouts, stop.clone()));
    let mut outcome = tokio::select! {
        ended = start_and_watch(&host, settings, printer, &exposure, &url) => ended,
        ended = &mut serving => flatten(ended),
        () = signals.any() => Ok(()),
    };
    tracing::info!("stopping");
    tokio::select! {
        () = async { tokio::join!(drain(serving, stop), settle(&host)); } => {}
        () = signals.any() => tracing::warn!("second signal: not waiting for requests in flight"),
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

/// The listen address, and the check that it is safe to serve.
struct Exposure {
    address: SocketAddr,
    behind_proxy: bool,
    /// Clients can log in by OAuth, so nobody needs to be trusted.
    has_logins: bool,
    /// The command that creates a first token.
    command: String,
}

impl Exposure {
    fn new(settings: &Settings, server: &ServerSection) -> Self {
        let command = format!("butler token create --tenant default{}", settings.flags());
        let has_logins = server.public_url.is_some();
        Self { address: settings.listen, behind_proxy: server.behind_proxy, has_logins, command }
    }

    /// Whether only programs of this machine can reach the server. A public URL leads others to it.
    fn is_local(&self) -> bool {
        self.address.ip().is_loopback() && !self.behind_proxy && !self.has_logins
    }

    /// Refuses to serve other machines while there are no tokens, because nobody could use it.
    fn check(&self, host: &Host) -> Result<(), HostError> {
        if self.is_local() || self.has_logins || host.token_state() == TokenState::Exist {
            return Ok(());
        }
        Err(HostError::NoTokens { address: self.address, command: self.command.clone() })
    }
}

/// Starts the host and reports that it is ready. After that it supervises the private PostgreSQL and keeps the tokens
/// up to date.
async fn start_and_watch(
    host: &Arc<Host>,
    settings: &Settings,
    printer: Printer,
    exposure: &Exposure,
    url: &str,
) -> Result<(), HostError> {
    host.start_traces();
    let (starting, progress) = (Arc::clone(host), progress::on_stderr(settings.quiet));
    // A separate task, so that a signal during the start does not leave it half done.
    flatten(tokio::spawn(async move { starting.start(progress).await }).await)?;
    exposure.check(host)?;
    printer.line(format_args!("ready {url}"));
    tokio::join!(supervisor::watch(Arc::clone(host)), tokens::keep_in_sync(Arc::clone(host)));
    Ok(())
}

/// Waits briefly for a start in progress, so that shutdown can stop what it started. It does not wait for a download,
/// which may take minutes.
pub async fn settle(host: &Host) {
    let _ = tokio::time::timeout(SETTLE, host.settled()).await;
}

/// Stops accepting requests and waits for those in flight.
async fn drain(server: JoinHandle<Result<(), HostError>>, stop: CancellationToken) {
    stop.cancel();
    if server.is_finished() {
        return;
    }
    let abort = server.abort_handle();
    if tokio::time::timeout(DRAIN, server).await.is_err() {
        tracing::warn!("aborted requests that were still running after {} s", DRAIN.as_secs());
        abort.abort();
    }
}

fn flatten(ended: Result<Result<(), HostError>, tokio::task::JoinError>) -> Result<(), HostError> {
    ended.unwrap_or_else(|error| Err(HostError::Failed(format!("the server stopped unexpectedly: {error}"))))
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

    /// Waits for Ctrl-C or SIGTERM.
    pub async fn any(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
