//! The server's listening sockets: the configured address and, with TLS, a second one for plain HTTP on loopback.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::Router;
use butler_host::error::HostError;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::accept::{ClientConnection, LimitedListener, track_request};
use super::connections::Connections;
use super::head_timeout::{HeadTimeoutListener, Timeouts};
use super::listen;
use super::tls::{CertificateFiles, TlsListener};

pub struct Listeners {
    address: SocketAddr,
    /// Plain HTTP, reachable from this machine.
    local: SocketAddr,
    plain: TcpListener,
    tls: Option<(TcpListener, TlsAcceptor)>,
}

impl Listeners {
    pub async fn open(address: SocketAddr, files: Option<&CertificateFiles>) -> Result<Self, HostError> {
        let acceptor = files.map(CertificateFiles::load).transpose()?;
        let listener = listen::bind(address).await?;
        let address = listener.local_addr().map_err(HostError::Serve)?;
        match acceptor {
            None => Ok(Self { address, local: local_address(address), plain: listener, tls: None }),
            // Commands on this machine authenticate with the server's secret and may not trust its certificate.
            Some(acceptor) => {
                let plain = listen::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
                let local = plain.local_addr().map_err(HostError::Serve)?;
                Ok(Self { address, local, plain, tls: Some((listener, acceptor)) })
            }
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address at which commands on this machine reach the server over plain HTTP.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Serves until the token is cancelled, then finishes the requests in flight.
    pub async fn serve(
        self,
        router: Router,
        connections: Connections,
        timeouts: Timeouts,
        stop: CancellationToken,
    ) -> Result<(), HostError> {
        let stopped = stop.clone().cancelled_owned();
        let service = router
            .layer(axum::middleware::from_fn(track_request))
            .into_make_service_with_connect_info::<ClientConnection>();
        let plain = LimitedListener::new(self.plain, connections.clone(), true);
        let plain =
            axum::serve(HeadTimeoutListener::new(plain, timeouts), service.clone()).with_graceful_shutdown(stopped);
        let Some((listener, acceptor)) = self.tls else { return plain.await.map_err(HostError::Serve) };
        let listener = LimitedListener::new(listener, connections, false);
        let listener = TlsListener::new(listener, acceptor).map_err(HostError::Serve)?;
        let secure = axum::serve(HeadTimeoutListener::new(listener, timeouts), service)
            .with_graceful_shutdown(stop.cancelled_owned());
        tokio::try_join!(async { plain.await }, async { secure.await }).map_err(HostError::Serve)?;
        Ok(())
    }
}

/// Replaces the unspecified address (all interfaces) by loopback.
fn local_address(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(it) if it.ip().is_unspecified() => (Ipv4Addr::LOCALHOST, it.port()).into(),
        SocketAddr::V6(it) if it.ip().is_unspecified() => (Ipv6Addr::LOCALHOST, it.port()).into(),
        address => address,
    }
}
