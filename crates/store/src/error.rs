//! Errors between the program and PostgreSQL, with hints that a user can act on.

use sqlx::postgres::PgDatabaseError;

/// Why the database did not do what it was asked. After `Unavailable`, a write may have been done.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the database URL cannot be used: {reason}")]
    InvalidUrl { reason: String },
    #[error("cannot reach PostgreSQL at {place}: {reason}")]
    Unreachable { place: String, reason: String },
    #[error("PostgreSQL at {place} refused the login of {user}: {reason}")]
    LoginRefused { place: String, user: String, reason: String },
    #[error("there is no database {database:?} on PostgreSQL at {place}")]
    NoDatabase { place: String, database: String },
    #[error("PostgreSQL {found} is too old: version 14 or newer is required")]
    TooOld { found: String },
    #[error("the extension pgvector is missing: {reason}")]
    VectorMissing { reason: String },
    #[error("this role may not create the extension pgvector, and the database lacks it: {reason}")]
    VectorDenied { reason: String },
    #[error("Citus distributes this database, which butler does not support: {reason}")]
    Distributed { reason: String },
    #[error("the database is at migration {version}; this butler can upgrade databases from {oldest} on")]
    OldDatabase { version: String, oldest: &'static str },
    #[error("a newer butler migrated the database to {version}; this one knows migrations up to {latest}")]
    NewerDatabase { version: String, latest: &'static str },
    #[error("migration {version} differs from the one that was applied to this database")]
    ChangedMigration { version: String },
    #[error("migration {version} failed: {source}")]
    Migration { version: &'static str, source: Box<StoreError> },
    #[error("cannot create the SQL function {name}: {source}")]
    Function { name: String, source: Box<StoreError> },
    /// A newer program shares the database and changed functions that this one calls.
    #[error(
        "a newer butler replaced the SQL functions (revision {found}, this butler has {known}); missing: {missing}"
    )]
    NewerFunctions { found: i32, known: i32, missing: String },
    #[error("the database is not migrated: {reason}")]
    NotMigrated { reason: String },
    /// The server is lost, restarting or out of connections, or a migration outdated a prepared statement. The next call may
    /// succeed.
    #[error("the database is unavailable: {reason}")]
    Unavailable { reason: String },
    /// The private server, which this program restarts, is down. Nothing was written.
    #[error("the private PostgreSQL is restarting: {reason}")]
    Restarting { reason: String },
    /// The server is reachable but cannot run this statement now. Nothing was written, and the connection stays usable.
    #[error("the database cannot run this statement now: {reason}")]
    NotNow { obstacle: Obstacle, reason: String, source: sqlx::Error },
    /// All connections that the server accepts are in use, by this program or by others.
    #[error("PostgreSQL at {place} accepts no more connections: {reason}")]
    Full { place: String, reason: String },
    /// This process, not PostgreSQL, has reached its limit. Nothing was written.
    #[error("no file descriptor is left to connect to PostgreSQL: {reason}")]
    NoDescriptors { reason: String },
    /// One session sees the settings of another, so tenants could not be kept apart.
    #[error("the connection goes through a pooler in transaction mode, which is not supported")]
    Pooled,
    /// The server is a standby, or a primary that became one. Nothing was written.
    #[error("the database is read-only: {reason}")]
    ReadOnly { reason: String },
    #[error("{message}")]
    Violation { constraint: Constraint, message: String },
    #[error("bad data in {table}.{column} of {id}: {reason}")]
    BadData { table: &'static str, column: &'static str, id: String, reason: String },
    #[error("{0}")]
    Database(#[source] sqlx::Error),
}

/// Why a reachable server could not run a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    DiskFull,
    OutOfMemory,
    /// It took longer than a call may take.
    TimeOut,
    /// PostgreSQL aborted this transaction to resolve a deadlock.
    Deadlock,
}

impl Obstacle {
    fn coded(code: &str) -> Option<Self> {
        Some(match code {
            "53100" => Self::DiskFull,
            "53200" => Self::OutOfMemory,
            "57014" => Self::TimeOut,
            "40001" | "40P01" => Self::Deadlock,
            _ => return None,
        })
    }

    fn hint(self) -> &'static str {
        match self {
            Self::DiskFull => {
                "free some space on the database's disk (`butler doctor` shows where it is), then try again; no stored \
                 memory is lost, and no restart is needed"
            }
            Self::OutOfMemory => "give the database server more memory, or request less at once, then try again",
            Self::TimeOut => "try again in a moment; `butler doctor` shows the state of the server",
            Self::Deadlock => "try again",
        }
    }
}

/// The constraints that a caller can violate, by meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constraint {
    /// An entity of this name and type exists already.
    EntityName,
    /// The entity does not exist in this tenant.
    EntityExists,
    /// Another writer stored an active fact with the same key first.
    OneActiveFact,
    /// Another call with this idempotency key finished first.
    IdempotencyKey,
    /// The source episode, superseded fact or rule does not exist.
    ReferenceExists,
    Other(String),
}

impl Constraint {
    fn named(name: &str) -> Self {
        match name {
            "entities_unique_name" => Self::EntityName,
            "facts_entity_same_tenant" | "facts_entity_id_fkey" => Self::EntityExists,
            "facts_one_active_per_key" | "facts_one_active_per_entity_key" | "facts_one_active_per_subject_key" => {
                Self::OneActiveFact
            }
            "idempotency_keys_pkey" => Self::IdempotencyKey,
            name if name.ends_with("_fkey") => Self::ReferenceExists,
            name => Self::Other(name.to_owned()),
        }
    }
}

/// Whether this SQLSTATE means that the server or the connection is lost, whatever the statement was.
fn server_is_gone(code: &str) -> bool {
    // 08: connection exceptions; 57P0x: shutdown, crash, start, idle timeout; 53300: too many connections.
    code.starts_with("08") || matches!(code, "57P01" | "57P02" | "57P03" | "57P05" | "53300")
}

/// A statement that writes reached a standby: the connection leads to the wrong server.
const READ_ONLY: &str = "25006";
/// The function of PostgreSQL that refuses a prepared statement because a newer program's migration changed a type in its
/// result. A new connection prepares it again. The error's message may be translated, this name is not.
const RESULT_CHANGED: &str = "RevalidateCachedQuery";
/// A replica cancels a read that needs rows the primary has already removed.
const RECOVERY_CONFLICT: &str = "conflict with recovery";

impl StoreError {
    /// Whether the database is down or overloaded. The request itself is correct and can be repeated later.
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self,
            Self::Unavailable { .. }
                | Self::Restarting { .. }
                | Self::Unreachable { .. }
                | Self::NotNow { .. }
                | Self::Full { .. }
                | Self::NoDescriptors { .. }
                | Self::ReadOnly { .. }
        )
    }

    /// Whether PostgreSQL aborted this transaction in favour of another one. It changed nothing and can be repeated.
    pub fn was_aborted(&self) -> bool {
        matches!(self.code().as_deref(), Some("40P01" | "40001"))
    }

    /// The constraint that the statement violated.
    pub fn constraint(&self) -> Option<&Constraint> {
        match self {
            Self::Violation { constraint, .. } => Some(constraint),
            _ => None,
        }
    }

    /// The SQLSTATE, if the server sent one.
    pub fn code(&self) -> Option<String> {
        match self {
            Self::Database(error) | Self::NotNow { source: error, .. } => {
                error.as_database_error().and_then(|e| e.code()).map(|code| code.into_owned())
            }
            Self::Migration { source, .. } | Self::Function { source, .. } => source.code(),
            _ => None,
        }
    }

    /// What the user can do about the error.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::InvalidUrl { .. } => "write it as postgres://user:password@host:5432/database",
            Self::Unreachable { .. } => {
                "check that the server is running and that host and port (or the socket's directory) are right; \
                 without --database-url, butler runs a private PostgreSQL"
            }
            Self::LoginRefused { .. } => {
                "check the user and the password in the database URL, and the server's pg_hba.conf"
            }
            Self::NoDatabase { database, .. } => return Some(format!("create it: createdb {database}")),
            Self::TooOld { .. } => "upgrade the server, or omit --database-url to use the private PostgreSQL",
            Self::VectorMissing { .. } => {
                "install pgvector on the server, then as a superuser: CREATE EXTENSION vector WITH SCHEMA public; \
                 or omit --database-url to use the private PostgreSQL"
            }
            Self::VectorDenied { .. } => "as a superuser, in this database: CREATE EXTENSION vector WITH SCHEMA public",
            Self::Distributed { .. } => {
                "use a database without Citus, or a schema that Citus does not distribute \
                 (SET citus.enable_schema_based_sharding = off); docs/scaling.md describes other ways to scale"
            }
            Self::OldDatabase { .. } => {
                "start a version in between once, which upgrades the database, then start this one"
            }
            Self::NewerFunctions { .. } => "start the newer butler on this machine as well",
            Self::NewerDatabase { .. } => "start the newer butler, or restore a backup made before the upgrade",
            Self::ChangedMigration { .. } => "this is not the program that created the database: use an official build",
            Self::NotMigrated { .. } => "start `butler serve` once: it migrates the database",
            Self::Migration { source, .. } | Self::Function { source, .. } => return source.hint(),
            Self::Unavailable { .. } => {
                "try again in a moment; a write may have been done, so repeat it with the same idempotency_key; \
                 `butler doctor` shows the state of the server"
            }
            Self::Restarting { .. } => {
                "nothing was written; try again in a moment, because `butler serve` restarts it; if it stays down, \
                 `butler doctor` and the server's log show the cause"
            }
            Self::Full { .. } => {
                "raise max_connections of the server, or lower [server] connections of the butlers that share it"
            }
            Self::NoDescriptors { .. } => {
                "raise the limit of open files of this process: `ulimit -n`, or LimitNOFILE= in the systemd unit"
            }
            Self::Pooled => "set the pooler to session mode, or connect to the server directly",
            Self::ReadOnly { .. } => {
                "nothing was written; name the primary in the URL, or list all servers, as in postgres://user@a,b/name: \
                 butler finds the one that accepts writes"
            }
            Self::NotNow { obstacle, .. } => obstacle.hint(),
            Self::Database(error) => {
                let error = error.as_database_error()?.try_downcast_ref::<PgDatabaseError>()?;
                return error.hint().map(str::to_owned);
            }
            Self::Violation { .. } | Self::BadData { .. } => return None,
        };
        Some(hint.to_owned())
    }

    /// Whether the connection on which it happened must be closed.
    pub(crate) fn breaks_connection(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::ReadOnly { .. })
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::Tls(_) | sqlx::Error::WorkerCrashed => {
                Self::Unavailable { reason: error.to_string() }
            }
            sqlx::Error::Database(database) => {
                let code = database.code().unwrap_or_default();
                let routine = database.try_downcast_ref::<PgDatabaseError>().and_then(|e| e.routine());
                if server_is_gone(&code)
                    || database.message().contains(RECOVERY_CONFLICT)
                    || routine == Some(RESULT_CHANGED)
                {
                    return Self::Unavailable { reason: database.message().to_owned() };
                }
                if code == READ_ONLY {
                    return Self::ReadOnly { reason: database.message().to_owned() };
                }
                if let Some(obstacle) = Obstacle::coded(&code) {
                    return Self::NotNow { obstacle, reason: database.message().to_owned(), source: error };
                }
                match database.constraint() {
                    Some(name) => {
                        let detail = database.try_downcast_ref::<PgDatabaseError>().and_then(|e| e.detail());
                        let message = match detail {
                            Some(detail) => format!("{}: {detail}", database.message()),
                            None => database.message().to_owned(),
                        };
                        Self::Violation { constraint: Constraint::named(name), message }
                    }
                    None => Self::Database(error),
                }
            }
            _ => Self::Database(error),
        }
    }
}

/// Whether an operation failed because the process (EMFILE) or the machine (ENFILE) has no file descriptor left.
pub fn is_out_of_descriptors(error: &std::io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

/// A function returned an outcome that this program does not know, because the function is newer than the program.
pub(crate) fn unknown_outcome(function: &'static str, outcome: &str) -> StoreError {
    StoreError::BadData {
        table: function,
        column: "outcome",
        id: outcome.to_owned(),
        reason: "not a known outcome".to_owned(),
    }
}
