//! Proxies that break connections: a TCP port between clients and server, a unix socket between server and PostgreSQL.
//!
//! Normally a proxy forwards everything. During a fault each connection breaks after some bytes in one direction, so that
//! a request, a commit or an answer is lost half-way.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::dice::Dice;

/// A connection breaks within this many bytes of one direction. A request has some hundred.
const MAX_BYTES_BEFORE_BREAK: u64 = 6_000;

/// Decides when the connections of a proxy break.
#[derive(Clone)]
pub struct ConnectionBreaker {
    breaking: Arc<watch::Sender<bool>>,
    dice: Arc<Mutex<Dice>>,
}

impl ConnectionBreaker {
    pub fn new(dice: Dice) -> Self {
        Self { breaking: Arc::new(watch::Sender::new(false)), dice: Arc::new(Mutex::new(dice)) }
    }

    /// Breaks all connections for a while, including new ones.
    pub async fn break_for(&self, time: Duration) {
        self.breaking.send_replace(true);
        tokio::time::sleep(time).await;
        self.breaking.send_replace(false);
    }

    /// The number of bytes that each direction of a connection forwards before it breaks.
    fn budgets(&self) -> (u64, u64) {
        let mut dice = self.dice.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let budget = dice.between(0, MAX_BYTES_BEFORE_BREAK);
        if dice.one_in(2) { (budget, u64::MAX) } else { (u64::MAX, budget) }
    }
}

/// The proxy between clients and the server. The server's address may change.
pub struct ClientProxy {
    pub address: String,
    task: JoinHandle<()>,
}

impl ClientProxy {
    pub async fn start(server: watch::Receiver<String>, breaker: ConnectionBreaker) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let task = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let (server, breaker) = (server.borrow().clone(), breaker.clone());
                tokio::spawn(async move {
                    let Ok(far) = TcpStream::connect(server).await else { return };
                    let _ = (near.set_nodelay(true), far.set_nodelay(true));
                    forward(near.into_split(), far.into_split(), breaker).await;
                });
            }
        });
        Ok(Self { address, task })
    }
}

impl Drop for ClientProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The proxy between server and PostgreSQL: while it exists, PostgreSQL's socket is moved aside and replaced by its own.
pub struct DatabaseProxy {
    socket: PathBuf,
    aside: PathBuf,
    task: JoinHandle<()>,
}

impl DatabaseProxy {
    pub fn start(socket: &Path, breaker: ConnectionBreaker) -> anyhow::Result<Self> {
        let aside = socket.with_extension("aside");
        std::fs::rename(socket, &aside)?;
        let listener = match UnixListener::bind(socket) {
            Ok(listener) => listener,
            Err(error) => {
                std::fs::rename(&aside, socket)?;
                return Err(error.into());
            }
        };
        let far_end = aside.clone();
        let task = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let (far_end, breaker) = (far_end.clone(), breaker.clone());
                tokio::spawn(async move {
                    let Ok(far) = UnixStream::connect(far_end).await else { return };
                    forward(near.into_split(), far.into_split(), breaker).await;
                });
            }
        });
        Ok(Self { socket: socket.to_owned(), aside, task })
    }
}

impl Drop for DatabaseProxy {
    fn drop(&mut self) {
        self.task.abort();
        // PostgreSQL creates its socket only when it starts, so this overwrites ours and not a newer one of its own
        let _ = std::fs::rename(&self.aside, &self.socket);
    }
}

async fn forward<R1, W1, R2, W2>(near: (R1, W1), far: (R2, W2), breaker: ConnectionBreaker)
where
    R1: AsyncRead + Unpin,
    W1: AsyncWrite + Unpin,
    R2: AsyncRead + Unpin,
    W2: AsyncWrite + Unpin,
{
    let (there, back) = breaker.budgets();
    let there = forward_one_way(near.0, far.1, breaker.breaking.subscribe(), there);
    let back = forward_one_way(far.0, near.1, breaker.breaking.subscribe(), back);
    // when one direction ends, the connection ends
    tokio::select! {
        () = there => {}
        () = back => {}
    }
}

/// Forwards one direction until its end, or until `budget` bytes have passed while breaking.
async fn forward_one_way<R, W>(mut from: R, mut to: W, mut breaking: watch::Receiver<bool>, mut budget: u64)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut buffer = vec![0; 16 << 10];
    loop {
        let Ok(read @ 1..) = from.read(&mut buffer).await else { return };
        let forwarding = !*breaking.borrow_and_update();
        let passed = if forwarding { read } else { read.min(usize::try_from(budget).unwrap_or(usize::MAX)) };
        if to.write_all(&buffer[..passed]).await.is_err() || passed < read {
            return;
        }
        if !forwarding {
            budget -= passed as u64;
        }
    }
}
