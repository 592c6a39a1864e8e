//! Whoever begins a request sends it to its end. hyper's own limit of a head's time would also end connections that wait
//! for their next request, and clients keep those for long.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Connections whose request heads must arrive in time.
pub struct Patient<L> {
    listener: L,
    patience: Duration,
}

impl<L> Patient<L> {
    pub fn new(listener: L, patience: Duration) -> Self {
        Self { listener, patience }
    }
}

impl<L: Listener<Addr = SocketAddr>> Listener for Patient<L> {
    type Io = Watched<L::Io>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, from) = self.listener.accept().await;
        (Watched::new(stream, self.patience), from)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

pub struct Watched<S> {
    stream: S,
    patience: Duration,
    phase: Phase,
    head: HeadEnd,
    end: Pin<Box<Sleep>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing is asked: for as long as the client likes.
    Idle,
    /// A head is on its way. So it is on a connection that was just made: nobody connects to say nothing.
    Head,
    /// The server has the word; a body's time is limited by whoever reads it.
    Answer,
}

impl<S> Watched<S> {
    fn new(stream: S, patience: Duration) -> Self {
        let end = Box::pin(tokio::time::sleep(patience));
        Self { stream, patience, phase: Phase::Head, head: HeadEnd::default(), end }
    }

    fn arrived(&mut self, bytes: &[u8]) {
        if self.phase == Phase::Idle {
            self.phase = Phase::Head;
            self.head = HeadEnd::default();
            self.end.as_mut().reset(Instant::now() + self.patience);
        }
        if self.phase == Phase::Head && self.head.is_in(bytes) {
            self.phase = Phase::Answer;
        }
    }

    /// An answer has begun, unless it is the one that asks for the body.
    fn answered(&mut self, bytes: &[u8]) {
        if self.phase == Phase::Answer && !bytes.is_empty() && !bytes.starts_with(b"HTTP/1.1 1") {
            self.phase = Phase::Idle;
        }
    }
}

/// Looks for the empty line after a head.
#[derive(Debug, Default)]
struct HeadEnd {
    /// Empty lines before a head are none of it.
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

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.phase == Phase::Head && this.end.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the request did not arrive in time")));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
        this.arrived(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.answered(bytes);
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(first) = parts.iter().find(|part| !part.is_empty()) {
            self.answered(first);
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
