//! The state that all API requests share.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRef;
use butler_host::host::Host;
use tokio::sync::Semaphore;

use super::live::LiveEvents;

#[derive(Clone)]
pub struct Api(Arc<Shared>);

pub struct Shared {
    pub host: Arc<Host>,
    /// The open event streams.
    pub live: LiveEvents,
    /// An export or import holds one of the few connections with which jobs and tokens work, so there is one at a time.
    pub transfers: Semaphore,
}

impl Api {
    pub fn new(host: Arc<Host>) -> Self {
        Self(Arc::new(Shared { host, live: LiveEvents::default(), transfers: Semaphore::new(1) }))
    }
}

impl FromRef<Api> for Arc<Host> {
    fn from_ref(api: &Api) -> Self {
        Self::clone(&api.host)
    }
}

impl FromRef<Api> for LiveEvents {
    fn from_ref(api: &Api) -> Self {
        api.live.clone()
    }
}

impl Deref for Api {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
