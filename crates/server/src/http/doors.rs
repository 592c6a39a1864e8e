//! Where the server is reached: the address it was told, and with TLS a second, plain one for this machine alone.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use butler_host::error::HostError;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::listen;
use super::patience::Patient;
use super::tls::{Files, TlsListener};

pub struct Doors {
    address: SocketAddr,
    local: SocketAddr,
    plain: TcpListener,
    tls: Option<(TcpListener, TlsAcceptor)>,
}

impl Doors {
    pub async fn open(address: SocketAddr, files: Option<&Files>) -> Result<Self, HostError> {
        let acceptor = files.map(Files::load).transpose()?;
        let listener = listen::bind(address).await?;
        let address = listener.local_addr().map_err(HostError::Serve)?;
        match acceptor {
            None => Ok(Self { address, local: from_here(address), plain: listener, tls: None }),
            // The commands of this machine hold the server's secret; they need no certificate they could trust.
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

    /// Where the commands of this machine find it, in plain HTTP.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Serves until the token is cancelled, then finishes what is in flight. A request's head has `patience` to arrive.
    pub async fn serve(self, router: Router, patience: Duration, stop: CancellationToken) -> Result<(), HostError> {
        let stopped = stop.clone().cancelled_owned();
        // An answer is one small write: waiting to fill a packet would only delay it.
        let plain = self.plain.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let plain = axum::serve(Patient::new(plain, patience), router.clone()).with_graceful_shutdown(stopped);
        let Some((listener, acceptor)) = self.tls else { return plain.await.map_err(HostError::Serve) };
        let listener = TlsListener::new(listener, acceptor).map_err(HostError::Serve)?;
        let secure =
            axum::serve(Patient::new(listener, patience), router).with_graceful_shutdown(stop.cancelled_owned());
        tokio::try_join!(async { plain.await }, async { secure.await }).map_err(HostError::Serve)?;
        Ok(())
    }
}

/// A server on all addresses is reached from here by the loopback one.
fn from_here(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(it) if it.ip().is_unspecified() => (Ipv4Addr::LOCALHOST, it.port()).into(),
        SocketAddr::V6(it) if it.ip().is_unspecified() => (Ipv6Addr::LOCALHOST, it.port()).into(),
        address => address,
    }
}
