//! A butler's database: its schema, its pools of sessions, and the work that responses leave behind.

mod reader;

use std::sync::Arc;
use std::time::Duration;

use butler_domain::{TenantId, Timestamp};
use sqlx::postgres::PgConnectOptions;

use crate::connection::limit::ListenerSlot;
use crate::connection::manager::{Kind, Manager};
use crate::connection::options::DatabaseOptions;
use crate::connection::pending::{PendingAtCall, PendingCounts};
use crate::connection::pool::{Conn, Pool, acquire, close, close_idle, of_tenant};
use crate::connection::replica::Replica;
use crate::connection::server;
use crate::connection::target::Target;
use crate::connection::unreplicated::UnreplicatedWrites;
use crate::error::StoreError;
use crate::functions::FunctionSet;
use crate::injections::Served;
use crate::reference_counts::{Referenced, count};
use crate::{extensions, health, migrate};

/// Migrations, jobs and tokens share these connections. Recall and store never wait for one.
const OWNER_CONNECTIONS: usize = 4;
/// A replica that takes longer to accept a connection is not used: the primary has the same data.
const REPLICA_CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the disk counts as full after a write failed for lack of space.
const DISK_FULL_PERIOD: Duration = Duration::from_secs(60);

/// The schema that holds a butler's data, and the pools of sessions that work on it.
#[derive(Clone)]
pub struct Database(Arc<Inner>);

struct Inner {
    schema: String,
    connect_timeout: Duration,
    writers: Pool,
    relaxed: Pool,
    /// `None` without a `read_url`.
    replica: Option<Replica>,
    owners: Pool,
    pending: PendingCounts,
    /// Background work, which the tenant's next call does not wait for.
    background: PendingCounts,
}

/// The connections of all pools together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolStats {
    pub open: usize,
    pub in_use: usize,
    pub waiting: usize,
    pub max: usize,
}

impl Database {
    /// Connects once to check that the server is reachable, accepts the role, is new enough and has pgvector.
    pub async fn connect(options: DatabaseOptions) -> Result<Self, StoreError> {
        let database = Self::open(options)?;
        let mut conn = database.owner().await?;
        extensions::check_vector(&mut conn).await?;
        let limit = Arc::clone(&database.0.owners.manager().limit);
        if !limit.is_checked() {
            server::check_sessions(&mut conn, &mut *database.owner().await?).await?;
            limit.set_server_limit(server::connections(&mut conn).await?);
        }
        drop(conn);
        Ok(database)
    }

    /// Prepares the pools without connecting, for what must work while the database is unreachable.
    pub fn open(options: DatabaseOptions) -> Result<Self, StoreError> {
        let target = Arc::new(Target::primary(&options.url)?);
        let unreplicated = options.read_url.is_some().then(Arc::<UnreplicatedWrites>::default);
        let limit = options.connections.at(&target.place());
        let manager = |kind| Manager {
            target: Arc::clone(&target),
            kind,
            schema: options.schema.clone(),
            state: Arc::default(),
            limit: Arc::clone(&limit),
            unreplicated: unreplicated.clone(),
            timeout: options.connect_timeout,
            kept_alive: options.kept_alive,
        };
        // All pools share the server's state: the first that finds it unreachable informs the others.
        let owner = manager(Kind::Owner);
        let of_kind = |kind| Manager { kind, ..owner.clone() };
        let replica = match (options.read_url.as_deref(), &unreplicated) {
            (Some(url), Some(unreplicated)) => {
                let target = Arc::new(Target::replica(url)?);
                let limit = options.connections.at(&target.place());
                let timeout = options.connect_timeout.min(REPLICA_CONNECT_TIMEOUT);
                let copy = Manager { target, limit, timeout, unreplicated: None, ..manager(Kind::Relaxed) };
                Some(Replica::new(copy.pool(readers(&options))?, Arc::clone(unreplicated)))
            }
            _ => None,
        };
        Ok(Self(Arc::new(Inner {
            schema: options.schema.clone(),
            connect_timeout: options.connect_timeout,
            writers: of_kind(Kind::Writer).pool(options.pool_size)?,
            relaxed: of_kind(Kind::Relaxed).pool(readers(&options))?,
            replica,
            owners: owner.pool(OWNER_CONNECTIONS)?,
            pending: PendingCounts::default(),
            background: PendingCounts::default(),
        })))
    }

    /// Brings the schema to this program's version. Two servers may do so at the same time.
    pub async fn migrate(&self) -> Result<migrate::Migrated, StoreError> {
        self.migrate_with(&FunctionSet::current()).await
    }

    /// Migrates as a program with these SQL functions does, for tests of upgrades.
    pub async fn migrate_with(&self, functions: &FunctionSet) -> Result<migrate::Migrated, StoreError> {
        let mut conn = self.owner().await?;
        let migrated = migrate::run(&mut conn, &self.0.schema, functions).await?;
        drop(conn);
        self.wrote_all();
        self.check_replica().await;
        Ok(migrated)
    }

    /// Whether a write failed within the last minute because the server's disk was full.
    pub fn disk_is_full(&self) -> bool {
        self.0.owners.manager().state.disk_was_full(DISK_FULL_PERIOD)
    }

    /// Reads the versions, extensions and migrations of the database.
    pub async fn health(&self) -> Result<health::Health, StoreError> {
        let mut conn = self.owner().await?;
        health::read(&mut conn, &self.0.schema).await
    }

    /// A session for writes of one tenant.
    pub async fn tenant(&self, tenant: &TenantId) -> Result<Conn, StoreError> {
        self.pending_counts(tenant).finished().await;
        of_tenant(&self.0.writers, tenant, acquire).await
    }

    /// A session for statements that read and at most count references. Its commits do not wait for the disk.
    pub async fn relaxed(&self, tenant: &TenantId) -> Result<Conn, StoreError> {
        self.relaxed_after(tenant, self.pending_counts(tenant)).await
    }

    pub(crate) async fn relaxed_after(&self, tenant: &TenantId, before: PendingAtCall) -> Result<Conn, StoreError> {
        before.finished().await;
        of_tenant(&self.0.relaxed, tenant, acquire).await
    }

    /// The tenant's pending reference counts at this moment. A call takes them when it arrives and waits for no more: they
    /// include those of every earlier response to the same caller, and none that others start meanwhile.
    pub fn pending_counts(&self, tenant: &TenantId) -> PendingAtCall {
        self.0.pending.of(tenant)
    }

    /// Counts references and records what was served, without making the caller wait. Every later session of the tenant
    /// sees the counts. A failure is only logged: the memories are worth more to the caller than an error.
    pub fn count_later(&self, tenant: &TenantId, rows: Referenced, served: Option<Served>, now: Timestamp) {
        if rows.is_empty() && served.is_none() {
            return;
        }
        let (database, of) = (self.clone(), tenant.clone());
        self.0.pending.start(tenant, async move {
            let counted = async {
                let mut conn = of_tenant(&database.0.relaxed, &of, acquire).await?;
                count(&mut conn, &of, &rows, served.as_ref(), now).await
            };
            if let Err(error) = counted.await {
                tracing::warn!(%error, "references were not counted");
            }
        });
    }

    /// Runs work that only [`Self::background_done`] waits for, so that the tenant's next call does not.
    pub fn in_background(&self, tenant: &TenantId, work: impl Future<Output = ()> + Send + 'static) {
        self.0.background.start(tenant, work);
    }

    /// Waits for the background work of this tenant that was started before now.
    pub async fn background_done(&self, tenant: &TenantId) {
        self.0.background.of(tenant).finished().await;
    }

    /// Waits for all pending counts and background work.
    pub async fn settled(&self) {
        self.0.background.all_settled().await;
        self.0.pending.all_settled().await;
    }

    /// A session that sees all tenants, for jobs, tokens and migrations.
    pub async fn owner(&self) -> Result<Conn, StoreError> {
        acquire(&self.0.owners).await
    }

    pub(crate) fn replica(&self) -> Option<&Replica> {
        self.0.replica.as_ref()
    }

    /// The schema that holds all objects of the butler, without quotes.
    pub fn schema(&self) -> &str {
        &self.0.schema
    }

    /// Names the server, database and role, without the password. It is the same for all schemas of one database.
    pub fn place(&self) -> String {
        let connect = self.connect_options();
        let database = connect.get_database().unwrap_or_default();
        format!("{}@{}/{database}", connect.get_username(), self.0.owners.manager().target.place())
    }

    /// Names the server, the same for all its databases.
    pub fn server(&self) -> String {
        self.0.owners.manager().target.place()
    }

    /// The options for connecting to the server that was the primary at the last use.
    pub(crate) fn connect_options(&self) -> PgConnectOptions {
        self.0.owners.manager().target.current().clone()
    }

    /// A slot for a listening connection outside the pools; `None` if this process has too many of them already.
    pub(crate) async fn listening(&self) -> Result<Option<ListenerSlot>, StoreError> {
        self.0.owners.manager().limit.listener(self.0.connect_timeout).await
    }

    pub(crate) fn connect_timeout(&self) -> Duration {
        self.0.connect_timeout
    }

    /// Adds up the connections of all pools.
    pub fn pool_stats(&self) -> PoolStats {
        self.pools().fold(PoolStats::default(), |sum, pool| {
            let status = pool.status();
            PoolStats {
                open: sum.open + status.size,
                in_use: sum.in_use + status.size.saturating_sub(status.available),
                waiting: sum.waiting + status.waiting,
                max: sum.max + status.max_size,
            }
        })
    }

    /// Closes connections that were idle for this long. New ones are opened on demand.
    pub async fn close_idle(&self, idle: Duration) {
        for pool in self.pools() {
            close_idle(pool, idle).await;
        }
    }

    /// Waits for pending work, then closes all connections.
    pub async fn close(&self) {
        self.settled().await;
        for pool in self.pools() {
            close(pool).await;
        }
    }

    fn pools(&self) -> impl Iterator<Item = &Pool> {
        let replica = self.0.replica.as_ref().map(|replica| &replica.pool);
        [&self.0.writers, &self.0.relaxed, &self.0.owners].into_iter().chain(replica)
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("schema", &self.0.schema).field("pools", &self.pool_stats()).finish()
    }
}

/// Reads keep the processor busy while writes wait for the disk, so half as many concurrent reads use the processor as
/// well, and each one finishes sooner.
fn readers(options: &DatabaseOptions) -> usize {
    options.pool_size.div_ceil(2)
}
