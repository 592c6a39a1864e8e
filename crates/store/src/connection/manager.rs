//! Opens the sessions of one pool and checks whether an idle one can be reused.

use std::sync::Arc;
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{self, Metrics, RecycleError, RecycleResult, Timeouts};
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;

use crate::connection::limit::ConnectionLimit;
use crate::connection::pool::Pool;
use crate::connection::server::server_version;
use crate::connection::session::{ServerState, Session};
use crate::connection::target::{ServerRole, Target, place};
use crate::connection::unreplicated::UnreplicatedWrites;
use crate::error::{StoreError, is_out_of_descriptors};

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Serves requests as the role `butler_app`, which sees one tenant.
    Writer,
    /// As `Writer`, but commits do not wait for the disk. For reads, which write reference counts only.
    Relaxed,
    /// Has the role of the URL and sees all tenants. For migrations, jobs and tokens.
    Owner,
}

/// A request that takes longer is stuck, and an error is better than waiting. Jobs have no such limit.
const STATEMENT_TIMEOUT: &str = "30s";
/// An idle transaction holds locks for nothing.
const IDLE_IN_TRANSACTION_TIMEOUT: &str = "60s";
/// A session that was idle for longer is probed before use. A busy butler pays nothing for it, and after a restart or a
/// failover no caller gets an error that leaves the outcome of a write unknown.
const PROBE_AFTER: Duration = Duration::from_secs(1);

/// PostgreSQL 14, whose features the schema uses.
const OLDEST_SERVER: u32 = 140_000;

#[derive(Clone)]
pub(crate) struct Manager {
    pub target: Arc<Target>,
    pub kind: Kind,
    pub schema: String,
    pub state: Arc<ServerState>,
    pub limit: Arc<ConnectionLimit>,
    /// Records which tenants may have written. `None` without a replica.
    pub unreplicated: Option<Arc<UnreplicatedWrites>>,
    pub timeout: Duration,
    pub kept_alive: bool,
}

impl Manager {
    pub(crate) fn pool(self, size: usize) -> Result<Pool, StoreError> {
        let (limit, timeout) = (Arc::clone(&self.limit), self.timeout);
        let pool = Pool::builder(self)
            .max_size(size.max(1))
            .runtime(Runtime::Tokio1)
            // Opening a connection may first have to wait until another one is closed.
            .timeouts(Timeouts { wait: Some(timeout), create: Some(2 * timeout), recycle: None })
            // The session that was used last most likely has the same tenant.
            .queue_mode(managed::QueueMode::Lifo)
            .build()
            .map_err(|error| StoreError::Unavailable { reason: error.to_string() })?;
        limit.register(pool.weak());
        Ok(pool)
    }

    /// Opens a session on the first reachable server of the wanted kind.
    async fn open(&self) -> Result<Session, StoreError> {
        let permit = self.limit.permit(self.timeout).await?;
        let mut failures = Vec::new();
        let timeout = self.timeout / u32::try_from(self.target.count()).unwrap_or(1);
        for at in self.target.order() {
            let server = self.target.server(at);
            let opened = tokio::time::timeout(timeout, self.open_at(server)).await.unwrap_or_else(|_| {
                Err(StoreError::Unreachable { place: place(server), reason: "no answer in time".to_owned() })
            });
            match opened {
                Ok(mut session) => {
                    self.target.found(at);
                    session.hold(permit);
                    return Ok(session);
                }
                // A wrong password or a missing role is the same on every server.
                Err(error) if !error.is_unavailable() => return Err(error),
                Err(error) => failures.push(error),
            }
        }
        Err(match failures.len() {
            1 => failures.remove(0),
            _ => {
                let reasons: Vec<String> = failures.iter().map(ToString::to_string).collect();
                StoreError::Unreachable { place: self.target.place(), reason: reasons.join("; ") }
            }
        })
    }

    async fn open_at(&self, server: &PgConnectOptions) -> Result<Session, StoreError> {
        let conn = server.connect().await.map_err(|error| {
            let error = connect_error(server, error);
            if matches!(error, StoreError::Full { .. }) {
                self.limit.make_room();
            }
            error
        })?;
        let mut session = Session::new(conn, Arc::clone(&self.state));
        // Checked first, because an older server would not understand the statements below.
        if session.server_version() < OLDEST_SERVER {
            let found = server_version(session.server_version());
            session.close().await;
            return Err(StoreError::TooOld { found });
        }
        let read_only = self.configure(&mut session).await?;
        match (self.target.role, read_only) {
            (ServerRole::Primary, true) => {
                session.close().await;
                Err(StoreError::ReadOnly { reason: format!("PostgreSQL at {} accepts no writes", place(server)) })
            }
            (ServerRole::Standby, false) => {
                session.close().await;
                Err(StoreError::Unreachable { place: place(server), reason: "it is not a standby".to_owned() })
            }
            _ => Ok(session),
        }
    }

    /// Applies all settings in one statement, with the names as parameters. Returns whether the server is read-only.
    async fn configure(&self, session: &mut Session) -> Result<bool, StoreError> {
        let role = if self.kind == Kind::Owner { "none" } else { "butler_app" };
        let (statement, idle) = match self.kind {
            Kind::Owner => ("0", "0"),
            Kind::Writer | Kind::Relaxed => (STATEMENT_TIMEOUT, IDLE_IN_TRANSACTION_TIMEOUT),
        };
        let relaxed = self.kind == Kind::Relaxed;
        let row = session
            .run(|pg| sqlx::query!(
                r#"SELECT set_config('search_path', concat_ws(', ', quote_ident($1), 'public',
                              (SELECT quote_ident(nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                               WHERE extname = 'vector' AND nspname NOT IN ($1, 'public'))), false) AS path,
                          set_config('statement_timeout', $2, false) AS statement,
                          set_config('idle_in_transaction_session_timeout', $3, false) AS idle,
                          -- compiling a statement of a millisecond costs more than it saves
                          set_config('jit', 'off', false) AS jit,
                          CASE WHEN $4 THEN set_config('synchronous_commit', 'off', false) END AS relaxed,
                          set_config('role', $5, false) AS role,
                          current_setting('transaction_read_only') = 'on' AS "read_only!""#,
                self.schema, statement, idle, relaxed, role
            ).fetch_one(pg))
            .await
            .map_err(|error| match error.code().as_deref() {
                // The role does not exist, or the user may not switch to it.
                Some("22023" | "42501") => StoreError::NotMigrated { reason: error.to_string() },
                _ => error,
            })?;
        Ok(row.read_only)
    }
}

pub(crate) fn connect_error(server: &PgConnectOptions, error: sqlx::Error) -> StoreError {
    let place = place(server);
    if let sqlx::Error::Io(io) = &error
        && is_out_of_descriptors(io)
    {
        return StoreError::NoDescriptors { reason: io.to_string() };
    }
    let Some(database) = error.as_database_error() else {
        return StoreError::Unreachable { place, reason: error.to_string() };
    };
    let reason = database.message().to_owned();
    match database.code().as_deref() {
        Some("28000" | "28P01") => StoreError::LoginRefused { place, user: server.get_username().to_owned(), reason },
        Some("3D000") => StoreError::NoDatabase {
            place,
            database: server.get_database().unwrap_or(server.get_username()).to_owned(),
        },
        Some("53300") => StoreError::Full { place, reason },
        _ => StoreError::from(error),
    }
}

impl managed::Manager for Manager {
    type Type = Session;
    type Error = StoreError;

    async fn create(&self) -> Result<Session, StoreError> {
        // Who takes an idle session or none (`AT_ONCE`) gives up here, before another connection is closed for this one.
        tokio::task::yield_now().await;
        self.open().await
    }

    async fn recycle(&self, session: &mut Session, metrics: &Metrics) -> RecycleResult<StoreError> {
        let usable = session.is_reusable() && (metrics.last_used() < PROBE_AFTER || session.probe().await);
        if usable { Ok(()) } else { Err(RecycleError::message("it is closed, or a statement was abandoned")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_descriptors_does_not_blame_postgresql() {
        for code in [23, 24] {
            let exhausted = sqlx::Error::Io(std::io::Error::from_raw_os_error(code));
            let error = connect_error(&PgConnectOptions::new_without_pgpass(), exhausted);
            assert!(error.is_unavailable() && matches!(error, StoreError::NoDescriptors { .. }), "{error}");
            assert!(error.hint().is_some_and(|hint| hint.contains("ulimit -n")), "{error}");
        }
        let refused = sqlx::Error::Io(std::io::ErrorKind::ConnectionRefused.into());
        let error = connect_error(&PgConnectOptions::new_without_pgpass(), refused);
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    }
}
