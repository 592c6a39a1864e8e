//! What a process that stays does beside serving: it lets the workers begin, and watches the private PostgreSQL: one that was killed under us is started again without a restart of butler.

use std::sync::Arc;
use std::time::Duration;

use crate::host::Host;

/// Between two looks when nobody complains; a look is one connection to a unix socket.
const LOOK: Duration = Duration::from_secs(2);
/// After a failed start, so that a server that cannot start does not fill the log.
const REST: Duration = Duration::from_secs(5);

/// Between two looks at the demo's marker: `butler demo` should seem to be at once; a look is one `stat`.
const DEMO_LOOK: Duration = Duration::from_millis(300);

/// Runs until it is dropped.
pub async fn watch(host: Arc<Host>) {
    host.start_workers().await;
    tokio::join!(keep_alive(&host), follow_demo(&host), look_after(&host));
}

/// Butlers that could not start, connections that nobody uses, and replicas that fell behind.
async fn look_after(host: &Host) {
    loop {
        tokio::time::sleep(REST).await;
        host.retry_failed().await;
        host.close_idle_connections().await;
        host.look_at_replicas().await;
    }
}

/// What `butler demo` made or removed meanwhile.
async fn follow_demo(host: &Host) {
    loop {
        host.follow_demo().await;
        tokio::time::sleep(DEMO_LOOK).await;
    }
}

async fn keep_alive(host: &Host) {
    loop {
        let _ = tokio::time::timeout(LOOK, host.trouble_reported()).await;
        if let Err(error) = host.revive().await {
            tracing::error!(%error, "the private PostgreSQL cannot be started again");
            tokio::time::sleep(REST).await;
        }
    }
}
