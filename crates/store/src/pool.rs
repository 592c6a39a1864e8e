//! Pools of sessions, one for each kind of work.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{self, Metrics, Object, PoolError, RecycleError, RecycleResult, Timeouts};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};

use crate::error::StoreError;
use crate::session::{Losses, Session};

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Serves requests as butler_app: sees one tenant.
    Writer,
    /// The same, but a commit does not wait for the disk: for reads, whose reference counts are all they write.
    Relaxed,
    /// The role of the URL: migrations, workers and tokens; sees all tenants.
    Owner,
}

/// A request that takes longer is stuck; it is better told so than left waiting. Workers have no such limit.
const STATEMENT_TIMEOUT: &str = "30s";
/// A transaction in which nobody speaks holds locks for nothing.
const IDLE_IN_TRANSACTION_TIMEOUT: &str = "60s";

pub(crate) struct Manager {
    pub connect: PgConnectOptions,
    pub kind: Kind,
    pub schema: String,
    pub losses: Losses,
}

impl Manager {
    pub(crate) fn pool(self, size: usize, timeout: Duration) -> Result<Pool, StoreError> {
        Pool::builder(self)
            .max_size(size.max(1))
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts { wait: Some(timeout), create: Some(timeout), recycle: None })
            // the session used last is the likeliest to be of the same tenant
            .queue_mode(managed::QueueMode::Lifo)
            .build()
            .map_err(|error| StoreError::Unavailable { reason: error.to_string() })
    }

    /// Where it connects to, without the password.
    pub(crate) fn place(&self) -> String {
        match self.connect.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", self.connect.get_host(), self.connect.get_port()),
        }
    }

    fn connect_error(&self, error: sqlx::Error) -> StoreError {
        let place = self.place();
        let Some(database) = error.as_database_error() else {
            return StoreError::Unreachable { place, reason: error.to_string() };
        };
        let reason = database.message().to_owned();
        match database.code().as_deref() {
            Some("28000" | "28P01") => {
                StoreError::LoginRefused { place, user: self.connect.get_username().to_owned(), reason }
            }
            Some("3D000") => StoreError::NoDatabase {
                place,
                database: self.connect.get_database().unwrap_or(self.connect.get_username()).to_owned(),
            },
            _ => StoreError::from(error),
        }
    }

    /// All settings in one statement, with the names as parameters.
    async fn configure(&self, session: &mut Session) -> Result<(), StoreError> {
        let role = if self.kind == Kind::Owner { "none" } else { "butler_app" };
        let (statement, idle) = match self.kind {
            Kind::Owner => ("0", "0"),
            Kind::Writer | Kind::Relaxed => (STATEMENT_TIMEOUT, IDLE_IN_TRANSACTION_TIMEOUT),
        };
        let relaxed = self.kind == Kind::Relaxed;
        session
            .run(|pg| sqlx::query!(
                r#"SELECT set_config('search_path', concat_ws(', ', quote_ident($1), 'public',
                              (SELECT quote_ident(nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                               WHERE extname = 'vector' AND nspname NOT IN ($1, 'public'))), false) AS path,
                          set_config('statement_timeout', $2, false) AS statement,
                          set_config('idle_in_transaction_session_timeout', $3, false) AS idle,
                          -- compiling a statement of a millisecond costs more than it saves
                          set_config('jit', 'off', false) AS jit,
                          CASE WHEN $4 THEN set_config('synchronous_commit', 'off', false) END AS relaxed,
                          set_config('role', $5, false) AS role"#,
                self.schema, statement, idle, relaxed, role
            ).fetch_one(pg))
            .await
            .map_err(|error| match error.code().as_deref() {
                // the role does not exist, or may not be taken
                Some("22023" | "42501") => StoreError::NotMigrated { reason: error.to_string() },
                _ => error,
            })?;
        Ok(())
    }
}

impl managed::Manager for Manager {
    type Type = Session;
    type Error = StoreError;

    async fn create(&self) -> Result<Session, StoreError> {
        let conn = self.connect.connect().await.map_err(|error| self.connect_error(error))?;
        let mut session = Session::new(conn, self.losses.clone());
        self.configure(&mut session).await?;
        Ok(session)
    }

    /// Looks at what is known and asks the server nothing: a ping would cost every call a round trip.
    async fn recycle(&self, session: &mut Session, _: &Metrics) -> RecycleResult<StoreError> {
        if session.is_reusable() { Ok(()) } else { Err(RecycleError::message("closed, or abandoned half-way")) }
    }
}

pub(crate) type Pool = managed::Pool<Manager>;

pub(crate) async fn acquire(pool: &Pool) -> Result<Conn, StoreError> {
    match pool.get().await {
        Ok(object) => Ok(Conn { object: Some(object) }),
        Err(PoolError::Backend(error)) => Err(error),
        Err(PoolError::Timeout(managed::TimeoutType::Wait)) => Err(StoreError::Unavailable {
            reason: format!("all {} connections were busy for too long", pool.status().max_size),
        }),
        Err(PoolError::Timeout(_)) => {
            Err(StoreError::Unreachable { place: pool.manager().place(), reason: "no answer in time".to_owned() })
        }
        Err(error) => Err(StoreError::Unavailable { reason: error.to_string() }),
    }
}

/// Only what lies in the pool: whoever holds a session keeps it.
pub(crate) async fn close_idle(pool: &Pool, idle: Duration) {
    for session in pool.retain(|_, metrics| metrics.last_used() < idle).removed {
        let _ = session.into_connection().close().await;
    }
}

/// Closes what is idle and lets nobody in any more; what is in use closes when it comes back.
pub(crate) async fn close(pool: &Pool) {
    let idle = pool.retain(|_, _| false).removed;
    pool.close();
    for session in idle {
        let _ = session.into_connection().close().await;
    }
}

/// A session on loan from its pool.
pub struct Conn {
    object: Option<Object<Manager>>,
}

impl Deref for Conn {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.object.as_ref().expect("taken by drop alone")
    }
}

impl DerefMut for Conn {
    fn deref_mut(&mut self) -> &mut Session {
        self.object.as_mut().expect("taken by drop alone")
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        let Some(mut object) = self.object.take() else { return };
        // The rollback needs the server, which drop cannot wait for. Without a runtime the connection is closed instead.
        if object.needs_rollback()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                if object.settle().await.is_err() {
                    object.discard();
                }
            });
        }
    }
}
