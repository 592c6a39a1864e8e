//! HTTPS with a certificate and a private key from files.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use butler_host::error::HostError;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::accept::{HasPlace, LimitedListener, LimitedStream};
use super::connections::Place;

/// Closes connections that do not complete the handshake within this time.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// A handshake costs a signature, so more at once would only slow down all of them.
const MAX_HANDSHAKES: usize = 256;

/// The certificate with its chain and the private key, both PEM.
#[derive(Debug, Clone)]
pub struct CertificateFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
}

impl CertificateFiles {
    /// Requires both files or neither.
    pub fn of(cert: Option<PathBuf>, key: Option<PathBuf>) -> Result<Option<Self>, HostError> {
        match (cert, key) {
            (Some(cert), Some(key)) => Ok(Some(Self { cert, key })),
            (None, None) => Ok(None),
            (Some(file), None) => Err(bad(&file, "the certificate needs its private key: pass it with --tls-key")),
            (None, Some(file)) => Err(bad(&file, "the private key needs its certificate: pass it with --tls-cert")),
        }
    }

    pub fn load(&self) -> Result<TlsAcceptor, HostError> {
        let cannot = |path: &Path| {
            let path = path.to_path_buf();
            move |error: rustls::pki_types::pem::Error| bad(&path, &format!("cannot be read as PEM: {error}"))
        };
        let chain: Vec<CertificateDer<'static>> =
            CertificateDer::pem_file_iter(&self.cert).and_then(Iterator::collect).map_err(cannot(&self.cert))?;
        if chain.is_empty() {
            return Err(bad(&self.cert, "contains no certificate"));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(cannot(&self.key))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| {
                bad(&self.cert, &format!("cannot be used with the key {}: {error}", self.key.display()))
            })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

fn bad(path: &Path, reason: &str) -> HostError {
    HostError::Tls { path: path.to_path_buf(), reason: reason.to_owned() }
}

/// Accepts connections and hands them out after their handshake, so that a slow handshake does not delay others.
pub struct TlsListener {
    address: SocketAddr,
    ready: mpsc::Receiver<(TlsStream<LimitedStream>, SocketAddr)>,
    accepting: JoinHandle<()>,
}

impl TlsListener {
    pub fn new(listener: LimitedListener, acceptor: TlsAcceptor) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (sender, ready) = mpsc::channel(MAX_HANDSHAKES);
        let accepting = tokio::spawn(accept(listener, acceptor, sender));
        Ok(Self { address, ready, accepting })
    }
}

impl Drop for TlsListener {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<LimitedStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            // The channel closes only when the accept task is aborted, together with this listener.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

impl HasPlace for TlsStream<LimitedStream> {
    fn place(&self) -> &Place {
        self.get_ref().0.place()
    }
}

async fn accept(
    mut listener: LimitedListener,
    acceptor: TlsAcceptor,
    ready: mpsc::Sender<(TlsStream<LimitedStream>, SocketAddr)>,
) {
    let handshakes = Arc::new(Semaphore::new(MAX_HANDSHAKES));
    loop {
        let Ok(permit) = Arc::clone(&handshakes).acquire_owned().await else { return };
        let (stream, from) = listener.accept().await;
        let (acceptor, ready) = (acceptor.clone(), ready.clone());
        tokio::spawn(async move {
            let _permit = permit;
            match tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await {
                Ok(Ok(stream)) => {
                    let _ = ready.send((stream, from)).await;
                }
                Ok(Err(error)) => tracing::debug!(%error, %from, "TLS handshake failed"),
                Err(_) => tracing::debug!(%from, "TLS handshake timed out"),
            }
        });
    }
}
