//! The background work of a long-running process: it prepares the tokenizer, starts the workers, restarts the private
//! PostgreSQL if it dies, retries butlers that could not start, delivers spooled calls, and follows `butler demo`.

use std::sync::Arc;
use std::time::Duration;

use butler_domain::tokens;

use crate::host::Host;
use crate::spool;

/// How often to check the private PostgreSQL. A check is one connection to a unix socket.
const POSTGRES_CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// Delay after a failed restart, so that a server that cannot start does not fill the log.
const RESTART_DELAY: Duration = Duration::from_secs(5);
/// How often to retry failed butlers, deliver spooled calls, close idle connections and check replicas.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(5);
/// How often to check the demo's configuration file. A check reads one small file.
const DEMO_CHECK_INTERVAL: Duration = Duration::from_millis(300);

/// Supervises the host until the future is dropped.
pub async fn watch(host: Arc<Host>) {
    // In the background now, so that the first context need not build the tables.
    drop(tokio::task::spawn_blocking(tokens::prepare));
    // Before the workers, because they remove old idempotency keys.
    spool::deliver(&host).await;
    host.start_workers().await;
    tokio::join!(keep_postgres_running(&host), follow_demo(&host), maintain(&host));
}

/// Retries butlers that could not start, delivers spooled calls, closes idle connections and checks how far replicas lag.
async fn maintain(host: &Host) {
    loop {
        tokio::time::sleep(MAINTENANCE_INTERVAL).await;
        host.retry_failed().await;
        spool::deliver(host).await;
        host.close_idle_connections().await;
        host.check_replicas().await;
    }
}

/// Starts and stops the demo butler as `butler demo` creates and removes it.
async fn follow_demo(host: &Host) {
    loop {
        host.follow_demo().await;
        tokio::time::sleep(DEMO_CHECK_INTERVAL).await;
    }
}

async fn keep_postgres_running(host: &Host) {
    loop {
        let _ = tokio::time::timeout(POSTGRES_CHECK_INTERVAL, host.trouble_reported()).await;
        if let Err(error) = host.ensure_postgres_running().await {
            tracing::error!(%error, "cannot restart the private PostgreSQL");
            tokio::time::sleep(RESTART_DELAY).await;
        }
    }
}
