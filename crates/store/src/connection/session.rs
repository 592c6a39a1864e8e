//! One connection to PostgreSQL. It knows its tenant and the depth of its open transactions.

use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use butler_domain::TenantId;
use sqlx::{Connection, PgConnection};

use crate::connection::limit::Permit;
use crate::error::{Obstacle, StoreError};

/// A server that does not answer an empty message within this time counts as lost.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// What the sessions of one server share.
#[derive(Debug, Default)]
pub(crate) struct ServerState {
    /// How often a connection was lost. A session opened before the last loss is not reused: when the server restarts,
    /// the first call to notice spares all others the same error.
    losses: AtomicU64,
    /// When a write last failed because the server's disk was full.
    disk_full: Mutex<Option<Instant>>,
}

impl ServerState {
    fn losses(&self) -> u64 {
        self.losses.load(Ordering::Acquire)
    }

    /// Whether a write failed for lack of space within this period.
    pub(crate) fn disk_was_full(&self, within: Duration) -> bool {
        let failed = *self.disk_full.lock().unwrap_or_else(PoisonError::into_inner);
        failed.is_some_and(|at| at.elapsed() < within)
    }

    fn note(&self, error: &StoreError) {
        if matches!(error, StoreError::NotNow { obstacle: Obstacle::DiskFull, .. }) {
            *self.disk_full.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
    }
}

/// A connection that runs statements as one tenant, or as the owner.
pub struct Session {
    conn: PgConnection,
    state: State,
    /// The session's share of the connections that this process may open.
    permit: Option<Permit>,
}

struct State {
    tenant: Option<TenantId>,
    /// Open transactions and savepoints on the server.
    depth: u32,
    /// Open transactions and savepoints in the program. It is less than `depth` if a [`Tx`] was dropped unfinished; the
    /// difference is rolled back before anything else runs.
    wanted: u32,
    /// A statement was sent, but its response was not read to the end because its future was dropped.
    in_flight: bool,
    broken: bool,
    statements: u64,
    server: Arc<ServerState>,
    born_at: u64,
}

impl Session {
    pub(crate) fn new(conn: PgConnection, server: Arc<ServerState>) -> Self {
        let born_at = server.losses();
        let state = State {
            tenant: None,
            depth: 0,
            wanted: 0,
            in_flight: false,
            broken: false,
            statements: 0,
            server,
            born_at,
        };
        Self { conn, state, permit: None }
    }

    /// Keeps the permit until the session is closed.
    pub(crate) fn hold(&mut self, permit: Permit) {
        self.permit = Some(permit);
    }

    /// Runs one statement: `session.run(|pg| sqlx::query!(…).fetch_one(pg)).await?`.
    ///
    /// If the returned future is dropped early, the connection is closed instead of returned to the pool, so that
    /// nobody reads another caller's response.
    pub async fn run<'a, T, F, Fut>(&'a mut self, statement: F) -> Result<T, StoreError>
    where
        F: FnOnce(&'a mut PgConnection) -> Fut,
        Fut: Future<Output = Result<T, sqlx::Error>>,
    {
        self.settle().await?;
        let Self { conn, state, .. } = self;
        state.begin_statement()?;
        let answer = statement(conn).await;
        state.end_statement(answer)
    }

    /// Begins a transaction, or a savepoint inside one. It is rolled back unless [`Tx::commit`] is called.
    pub async fn begin(&mut self) -> Result<Tx<'_>, StoreError> {
        self.settle().await?;
        let statement = if self.state.depth == 0 { "BEGIN" } else { "SAVEPOINT step" };
        self.control(statement).await?;
        self.state.depth += 1;
        self.state.wanted += 1;
        Ok(Tx { session: self, open: true })
    }

    /// The tenant whose rows the connection sees; `None` for the owner, and before the first request.
    pub fn tenant(&self) -> Option<&TenantId> {
        self.state.tenant.as_ref()
    }

    /// The number of statements sent, for tests that count round trips.
    pub fn statements(&self) -> u64 {
        self.state.statements
    }

    pub(crate) async fn set_tenant(&mut self, tenant: &TenantId) -> Result<(), StoreError> {
        self.run(|pg| sqlx::query!("SELECT set_config('butler.tenant', $1, false)", tenant.as_str()).fetch_one(pg))
            .await?;
        self.state.tenant = Some(tenant.clone());
        Ok(())
    }

    pub(crate) fn is_reusable(&self) -> bool {
        let state = &self.state;
        !state.broken && !state.in_flight && state.depth == 0 && state.born_at == state.server.losses()
    }

    pub(crate) fn needs_rollback(&self) -> bool {
        self.state.depth > self.state.wanted && !self.state.in_flight && !self.state.broken
    }

    /// Marks the connection as unusable, for example because it holds a lock that could not be released.
    pub(crate) fn discard(&mut self) {
        self.state.broken = true;
    }

    /// Closes the connection properly. Only then may another connection take its place.
    pub(crate) async fn close(self) {
        let Self { conn, permit, .. } = self;
        let _ = conn.close().await;
        drop(permit);
    }

    /// Checks that the server still responds after the session was idle.
    pub(crate) async fn probe(&mut self) -> bool {
        let Self { conn, state, .. } = self;
        if state.begin_statement().is_err() {
            return false;
        }
        let answer = match tokio::time::timeout(PROBE_TIMEOUT, conn.ping()).await {
            Ok(answer) => answer,
            Err(_) => Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())),
        };
        state.statements -= 1;
        state.end_statement(answer).is_ok()
    }

    pub(crate) fn server_version(&self) -> u32 {
        self.conn.server_version_num().unwrap_or(0)
    }

    /// Rolls back the transactions that were left open on the server.
    pub(crate) async fn settle(&mut self) -> Result<(), StoreError> {
        while self.state.depth > self.state.wanted {
            let statement = if self.state.depth == 1 { "ROLLBACK" } else { ROLLBACK_STEP };
            self.control(statement).await?;
            self.state.depth -= 1;
        }
        Ok(())
    }

    async fn control(&mut self, statement: &'static str) -> Result<(), StoreError> {
        let Self { conn, state, .. } = self;
        state.begin_statement()?;
        let answer = sqlx::raw_sql(statement).execute(conn).await;
        state.end_statement(answer).map(|_| ())
    }
}

/// Rolling back to a savepoint keeps it. Releasing it makes the outer savepoint of the same name the innermost.
const ROLLBACK_STEP: &str = "ROLLBACK TO SAVEPOINT step; RELEASE SAVEPOINT step";

impl State {
    fn begin_statement(&mut self) -> Result<(), StoreError> {
        if self.in_flight {
            self.broken = true;
            return Err(StoreError::Unavailable { reason: "an earlier statement was abandoned".to_owned() });
        }
        self.in_flight = true;
        self.statements += 1;
        Ok(())
    }

    fn end_statement<T>(&mut self, answer: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        self.in_flight = false;
        answer.map_err(|error| self.note_failure(error))
    }

    fn note_failure(&mut self, error: sqlx::Error) -> StoreError {
        let error = StoreError::from(error);
        self.server.note(&error);
        if error.breaks_connection() {
            self.broken = true;
            // Only the first loss of a generation counts. Otherwise each stale session would invalidate the new ones.
            let (born, losses) = (self.born_at, &self.server.losses);
            let _ = losses.compare_exchange(born, born + 1, Ordering::AcqRel, Ordering::Acquire);
        }
        error
    }
}

/// An open transaction or savepoint.
pub struct Tx<'a> {
    session: &'a mut Session,
    open: bool,
}

impl Tx<'_> {
    /// Commits the transaction, or releases the savepoint.
    pub async fn commit(mut self) -> Result<(), StoreError> {
        self.session.settle().await?;
        let statement = if self.session.state.depth == 1 { "COMMIT" } else { "RELEASE SAVEPOINT step" };
        self.session.control(statement).await?;
        self.open = false;
        self.session.state.depth -= 1;
        self.session.state.wanted -= 1;
        Ok(())
    }

    /// Rolls back now instead of before the next statement.
    pub async fn rollback(mut self) -> Result<(), StoreError> {
        self.session.state.wanted -= 1;
        self.open = false;
        self.session.settle().await
    }
}

impl Drop for Tx<'_> {
    fn drop(&mut self) {
        if self.open {
            self.session.state.wanted -= 1;
        }
    }
}

impl Deref for Tx<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.session
    }
}

impl DerefMut for Tx<'_> {
    fn deref_mut(&mut self) -> &mut Session {
        self.session
    }
}
