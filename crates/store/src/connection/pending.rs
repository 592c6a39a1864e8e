//! Work that a response does not wait for, but the tenant's next call does.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

use butler_domain::TenantId;
use tokio::sync::watch;

/// Closes when the work has finished or panicked.
type Done = watch::Receiver<()>;

/// How many tenants to remember before those without pending work are dropped.
const REMEMBERED: usize = 256;

#[derive(Default)]
pub(crate) struct PendingCounts(Mutex<HashMap<TenantId, Vec<Done>>>);

impl PendingCounts {
    pub(crate) fn start(&self, tenant: &TenantId, work: impl Future<Output = ()> + Send + 'static) {
        let (running, done) = watch::channel(());
        {
            let mut tenants = self.lock();
            if tenants.len() >= REMEMBERED {
                tenants.retain(|_, under_way| under_way.iter().any(is_running));
            }
            let under_way = tenants.entry(tenant.clone()).or_default();
            under_way.retain(is_running);
            under_way.push(done);
        }
        tokio::spawn(async move {
            work.await;
            drop(running);
        });
    }

    /// The tenant's work that was started before now and has not finished.
    pub(crate) fn of(&self, tenant: &TenantId) -> PendingAtCall {
        let under_way = self.lock().get(tenant).cloned().unwrap_or_default();
        PendingAtCall(under_way.into_iter().filter(is_running).collect())
    }

    /// Waits for all work that was started before now.
    pub(crate) async fn all_settled(&self) {
        let under_way = self.lock().values().flatten().cloned().collect();
        finished(under_way).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TenantId, Vec<Done>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A tenant's work that was pending at some moment.
pub struct PendingAtCall(Vec<Done>);

impl PendingAtCall {
    pub(crate) async fn finished(self) {
        finished(self.0).await;
    }
}

fn is_running(done: &Done) -> bool {
    done.has_changed().is_ok()
}

async fn finished(under_way: Vec<Done>) {
    for mut done in under_way {
        while done.changed().await.is_ok() {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn who_comes_next_waits_for_what_was_started_before_and_for_nothing_later() {
        let behind = Arc::new(PendingCounts::default());
        let tenant = TenantId::new("a").unwrap();
        let ((go, gone), (later, never)) = (oneshot::channel::<()>(), oneshot::channel::<()>());
        let counted = Arc::new(AtomicBool::new(false));
        let count = counted.clone();
        behind.start(&tenant, async move {
            let _ = gone.await;
            count.store(true, Ordering::SeqCst);
        });
        behind.of(&TenantId::new("b").unwrap()).finished().await;
        let waiting = tokio::spawn({
            let (behind, tenant, counted) = (behind.clone(), tenant.clone(), counted.clone());
            async move {
                behind.of(&tenant).finished().await;
                counted.load(Ordering::SeqCst)
            }
        });
        tokio::task::yield_now().await;
        behind.start(&tenant, async move { drop(never.await) });
        go.send(()).unwrap();
        assert!(waiting.await.unwrap(), "the first is done, the second is not waited for");
        later.send(()).unwrap();
        behind.all_settled().await;
        assert!(!behind.lock().values().flatten().any(is_running));
    }

    #[tokio::test]
    async fn tenants_with_nothing_under_way_are_forgotten() {
        let behind = PendingCounts::default();
        for number in 0..2 * REMEMBERED {
            let tenant = TenantId::new(format!("t{number}")).unwrap();
            behind.start(&tenant, async {});
            behind.of(&tenant).finished().await;
        }
        assert!(behind.lock().len() <= REMEMBERED);
    }
}
