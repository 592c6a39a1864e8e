//! A listener that closes connections whose request head arrives too slowly, and connections that are idle for long.
//!
//! hyper has only one timeout for both, but clients hold idle connections open for much longer than a request may take.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::accept::HasPlace;
use super::connections::Place;

/// Wraps the connections of a listener in [`HeadTimeoutStream`].
pub struct HeadTimeoutListener<L> {
    listener: L,
    timeouts: Timeouts,
}

#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For a request head.
    pub head: Duration,
    /// Between two requests.
    pub idle: Duration,
}

impl<L> HeadTimeoutListener<L> {
    pub fn new(listener: L, timeouts: Timeouts) -> Self {
        Self { listener, timeouts }
    }
}

impl<L: Listener<Addr = SocketAddr, Io: HasPlace>> Listener for HeadTimeoutListener<L> {
    type Io = HeadTimeoutStream<L::Io>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, from) = self.listener.accept().await;
        (HeadTimeoutStream::new(stream, self.timeouts), from)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A connection that fails with a timeout while a request head is incomplete for too long.
pub struct HeadTimeoutStream<S> {
    stream: S,
    timeouts: Timeouts,
    phase: Phase,
    head: HeadEnd,
    deadline: Pin<Box<Sleep>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A response has begun, or it is complete and no further request has arrived.
    Idle,
    /// A request head is arriving. A new connection starts in this phase.
    Head,
    /// The head is complete. The handler limits the time for the body.
    Response,
}

impl<S> HeadTimeoutStream<S> {
    fn new(stream: S, timeouts: Timeouts) -> Self {
        let deadline = Box::pin(tokio::time::sleep(timeouts.head));
        Self { stream, timeouts, phase: Phase::Head, head: HeadEnd::default(), deadline }
    }

    fn on_read(&mut self, bytes: &[u8]) {
        if self.phase == Phase::Idle {
            self.phase = Phase::Head;
            self.head = HeadEnd::default();
            self.deadline.as_mut().reset(Instant::now() + self.timeouts.head);
        }
        if self.phase == Phase::Head && self.head.is_in(bytes) {
            self.phase = Phase::Response;
        }
    }

    /// The response has begun, unless this is `100 Continue`.
    fn on_write(&mut self, bytes: &[u8]) {
        if self.phase == Phase::Response && !bytes.is_empty() && !bytes.starts_with(b"HTTP/1.1 1") {
            self.phase = Phase::Idle;
            self.deadline.as_mut().reset(Instant::now() + self.timeouts.idle);
        }
    }
}

impl<S: HasPlace> HeadTimeoutStream<S> {
    /// Fails if the deadline of the current phase has passed.
    fn check_deadline(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while self.phase != Phase::Response && self.deadline.as_mut().poll(cx).is_ready() {
            let place = self.stream.place();
            if self.phase == Phase::Idle && place.connection().is_busy() {
                // A long response, such as a stream of events, is not idle.
                self.deadline.as_mut().reset(Instant::now() + self.timeouts.idle);
                continue;
            }
            if self.phase == Phase::Idle {
                place.connections().timed_out();
            }
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no request arrived in time"));
        }
        Ok(())
    }
}

impl<S: HasPlace> HasPlace for HeadTimeoutStream<S> {
    fn place(&self) -> &Place {
        self.stream.place()
    }
}

/// Finds the empty line that ends a request head, across reads.
#[derive(Debug, Default)]
struct HeadEnd {
    /// Empty lines before the head do not end it.
    begun: bool,
    line_is_empty: bool,
}

impl HeadEnd {
    fn is_in(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            match byte {
                b'\r' => {}
                b'\n' if self.begun && self.line_is_empty => return true,
                b'\n' => self.line_is_empty = true,
                _ => (self.begun, self.line_is_empty) = (true, false),
            }
        }
        false
    }
}

impl<S: AsyncRead + HasPlace + Unpin> AsyncRead for HeadTimeoutStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.check_deadline(cx)?;
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
        this.on_read(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HeadTimeoutStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.on_write(bytes);
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(first) = parts.iter().find(|part| !part.is_empty()) {
            self.on_write(first);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_with_its_first_empty_line() {
        for head in
            ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\r\n\r\nGET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n"]
        {
            let bytes = head.as_bytes();
            let mut by_byte = HeadEnd::default();
            let ends: Vec<bool> = bytes.chunks(1).map(|byte| by_byte.is_in(byte)).collect();
            assert_eq!(ends.iter().position(|end| *end), Some(bytes.len() - 1), "{head:?}");
            assert!(
                HeadEnd::default().is_in(bytes) && !HeadEnd::default().is_in(&bytes[..bytes.len() - 1]),
                "{head:?}"
            );
        }
    }
}
