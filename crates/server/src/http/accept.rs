//! Accepts the connections of clients within the limits of [`Connections`].

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use butler_host::descriptors;
use butler_memory::tool::ErrorCode;
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::connections::{Connection, Connections, Place, RequestInProgress};
use super::head_timeout::HeadTimeoutListener;
use super::reject::error_body;

/// Wait after a failed `accept`, so that a lasting problem does not use up a core.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);
/// A refused client has this long to read the response before the connection is closed.
const REFUSAL_GRACE: Duration = Duration::from_secs(1);
/// Refused clients beyond this number are closed at once, without a response.
const MAX_REFUSALS: usize = 32;

/// A listener whose connections have a [`Place`].
pub struct LimitedListener {
    listener: TcpListener,
    connections: Connections,
    refusals: Arc<Semaphore>,
    /// Whether a refused client can read a response, which it cannot before a TLS handshake.
    speaks_http: bool,
}

impl LimitedListener {
    pub fn new(listener: TcpListener, connections: Connections, speaks_http: bool) -> Self {
        Self { listener, connections, refusals: Arc::new(Semaphore::new(MAX_REFUSALS)), speaks_http }
    }

    async fn accept_one(&self) -> io::Result<Option<(LimitedStream, SocketAddr)>> {
        let (stream, from) = self.listener.accept().await?;
        let Some(place) = self.connections.admit(from.ip()).await else {
            self.connections.refused();
            self.refuse(stream);
            return Ok(None);
        };
        // A response is one small write; Nagle's algorithm would only delay it.
        let _ = stream.set_nodelay(true);
        Ok(Some((LimitedStream { stream, place }, from)))
    }

    fn refuse(&self, mut stream: TcpStream) {
        let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
        if !self.speaks_http {
            return;
        }
        tokio::spawn(async move {
            let _permit = permit;
            // Closing with unread data would reset the connection before the client has read the response.
            let answer = async {
                stream.write_all(refusal().as_bytes()).await?;
                stream.shutdown().await?;
                while stream.read(&mut [0; 1024]).await? > 0 {}
                io::Result::Ok(())
            };
            let _ = tokio::time::timeout(REFUSAL_GRACE, answer).await;
        });
    }
}

/// The response to a client that there is no place for.
fn refusal() -> String {
    let hint = "wait a second, then try again";
    let body = error_body(ErrorCode::Unavailable.into(), "all connections are in use", Some(hint));
    format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Retry-After: 1\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\r\n{body}",
        body.len()
    )
}

impl Listener for LimitedListener {
    type Io = LimitedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            match self.accept_one().await {
                Ok(Some(accepted)) => return accepted,
                Ok(None) => {}
                Err(error) if descriptors::is_out_of_descriptors(&error) => {
                    self.connections.out_of_descriptors();
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that ends when another one takes its place.
pub struct LimitedStream {
    stream: TcpStream,
    place: Place,
}

/// A stream over a connection with a [`Place`].
pub trait HasPlace {
    fn place(&self) -> &Place;
}

impl HasPlace for LimitedStream {
    fn place(&self) -> &Place {
        &self.place
    }
}

impl AsyncRead for LimitedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let connection = this.place.connection();
        connection.read_by(cx.waker());
        if connection.must_close() {
            // The end of the stream, as if the client had closed it.
            return Poll::Ready(Ok(()));
        }
        ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for LimitedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The connection of a request.
#[derive(Clone)]
pub struct ClientConnection {
    connections: Connections,
    connection: Arc<Connection>,
}

impl ClientConnection {
    /// The network that the connection comes from.
    pub fn network(&self) -> IpAddr {
        self.connection.peer
    }

    /// Records that the client presented a valid token.
    pub fn authenticated(&self) {
        self.connection.authenticated();
    }
}

impl<L> Connected<IncomingStream<'_, HeadTimeoutListener<L>>> for ClientConnection
where
    L: Listener<Addr = SocketAddr, Io: HasPlace>,
{
    fn connect_info(stream: IncomingStream<'_, HeadTimeoutListener<L>>) -> Self {
        let place = stream.io().place();
        Self { connections: place.connections().clone(), connection: Arc::clone(place.connection()) }
    }
}

/// Marks the connection as busy until the response is sent.
pub async fn track_request(
    ConnectInfo(client): ConnectInfo<ClientConnection>,
    request: Request,
    next: Next,
) -> Response {
    let in_progress = RequestInProgress::begin(&client.connections, &client.connection);
    next.run(request).await.map(|body| Body::new(TrackedBody { body, _in_progress: in_progress }))
}

struct TrackedBody {
    body: Body,
    _in_progress: RequestInProgress,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
