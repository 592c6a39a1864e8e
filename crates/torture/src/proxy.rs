//! A wire with scissors: between clients and server it is a TCP port, between server and PostgreSQL a unix socket.
//!
//! While it is whole it passes everything on. While it cuts, every connection breaks after some bytes, in one direction
//! or the other, so that a request, a commit or an answer is lost half-way.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::dice::Dice;

/// A connection that is to be cut breaks within this many bytes of one direction: a request is some hundred.
const LONGEST_LIFE: u64 = 6_000;

#[derive(Clone)]
pub struct Scissors {
    cutting: Arc<watch::Sender<bool>>,
    dice: Arc<Mutex<Dice>>,
}

impl Scissors {
    pub fn new(dice: Dice) -> Self {
        Self { cutting: Arc::new(watch::Sender::new(false)), dice: Arc::new(Mutex::new(dice)) }
    }

    /// What is open breaks soon, and so does what is opened meanwhile.
    pub async fn cut_for(&self, time: Duration) {
        self.cutting.send_replace(true);
        tokio::time::sleep(time).await;
        self.cutting.send_replace(false);
    }

    /// How many bytes each direction still carries.
    fn life(&self) -> (u64, u64) {
        let mut dice = self.dice.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let life = dice.between(0, LONGEST_LIFE);
        if dice.one_in(2) { (life, u64::MAX) } else { (u64::MAX, life) }
    }
}

/// Between clients and the server, wherever the server is at the moment.
pub struct Wire {
    pub address: String,
    task: JoinHandle<()>,
}

impl Wire {
    pub async fn lay(server: watch::Receiver<String>, scissors: Scissors) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let task = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let (server, scissors) = (server.borrow().clone(), scissors.clone());
                tokio::spawn(async move {
                    let Ok(far) = TcpStream::connect(server).await else { return };
                    let _ = (near.set_nodelay(true), far.set_nodelay(true));
                    carry(near.into_split(), far.into_split(), scissors).await;
                });
            }
        });
        Ok(Self { address, task })
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Steps between a server and PostgreSQL for a while: PostgreSQL's socket is moved aside and ours takes its place.
pub struct Tap {
    socket: PathBuf,
    aside: PathBuf,
    task: JoinHandle<()>,
}

impl Tap {
    pub fn place(socket: &Path, scissors: Scissors) -> anyhow::Result<Self> {
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
                let (far_end, scissors) = (far_end.clone(), scissors.clone());
                tokio::spawn(async move {
                    let Ok(far) = UnixStream::connect(far_end).await else { return };
                    carry(near.into_split(), far.into_split(), scissors).await;
                });
            }
        });
        Ok(Self { socket: socket.to_owned(), aside, task })
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.task.abort();
        // one that PostgreSQL made anew meanwhile would be overwritten: it makes none while it lives
        let _ = std::fs::rename(&self.aside, &self.socket);
    }
}

async fn carry<R1, W1, R2, W2>(near: (R1, W1), far: (R2, W2), scissors: Scissors)
where
    R1: AsyncRead + Unpin,
    W1: AsyncWrite + Unpin,
    R2: AsyncRead + Unpin,
    W2: AsyncWrite + Unpin,
{
    let (there, back) = scissors.life();
    let there = pass(near.0, far.1, scissors.cutting.subscribe(), there);
    let back = pass(far.0, near.1, scissors.cutting.subscribe(), back);
    // whichever ends first takes the other with it: both ends are dropped
    tokio::select! {
        () = there => {}
        () = back => {}
    }
}

/// Until the end, or until `life` bytes have passed since the wire began to be cut.
async fn pass<R, W>(mut from: R, mut to: W, mut cutting: watch::Receiver<bool>, mut life: u64)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut buffer = vec![0; 16 << 10];
    loop {
        let Ok(read @ 1..) = from.read(&mut buffer).await else { return };
        let whole = !*cutting.borrow_and_update();
        let passed = if whole { read } else { read.min(usize::try_from(life).unwrap_or(usize::MAX)) };
        if to.write_all(&buffer[..passed]).await.is_err() || passed < read {
            return;
        }
        if !whole {
            life -= passed as u64;
        }
    }
}
