//! HTTPS by certificate files.

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
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Whoever has not shaken hands by then does not want to.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// A handshake costs a signature; more of them at once would only all be slower.
const HANDSHAKES: usize = 256;
/// After an error of the system, such as too many open files.
const REST: Duration = Duration::from_millis(200);

/// The certificate with its chain and the private key, both PEM.
#[derive(Debug, Clone)]
pub struct Files {
    pub cert: PathBuf,
    pub key: PathBuf,
}

impl Files {
    /// Both, or none.
    pub fn of(cert: Option<PathBuf>, key: Option<PathBuf>) -> Result<Option<Self>, HostError> {
        match (cert, key) {
            (Some(cert), Some(key)) => Ok(Some(Self { cert, key })),
            (None, None) => Ok(None),
            (Some(file), None) => Err(bad(&file, "a certificate needs its private key: name it with --tls-key")),
            (None, Some(file)) => Err(bad(&file, "a private key needs its certificate: name it with --tls-cert")),
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
            return Err(bad(&self.cert, "holds no certificate"));
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

/// Connections whose handshake is done; one that dawdles holds up nobody else.
pub struct TlsListener {
    address: SocketAddr,
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    accepting: JoinHandle<()>,
}

impl TlsListener {
    pub fn new(listener: TcpListener, acceptor: TlsAcceptor) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (sender, ready) = mpsc::channel(HANDSHAKES);
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
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            // Only when the task above was ended, and we with it.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, ready: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>) {
    let handshakes = Arc::new(Semaphore::new(HANDSHAKES));
    loop {
        let Ok(permit) = Arc::clone(&handshakes).acquire_owned().await else { return };
        let (stream, from) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(REST).await;
                continue;
            }
        };
        let (acceptor, ready) = (acceptor.clone(), ready.clone());
        tokio::spawn(async move {
            let _permit = permit;
            // An answer is one small write: waiting to fill a packet would only delay it.
            let _ = stream.set_nodelay(true);
            match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
                Ok(Ok(stream)) => {
                    let _ = ready.send((stream, from)).await;
                }
                Ok(Err(error)) => tracing::debug!(%error, %from, "no TLS handshake"),
                Err(_) => tracing::debug!(%from, "no TLS handshake in time"),
            }
        });
    }
}
