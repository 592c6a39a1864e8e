//! What all requests share.

use std::ops::Deref;
use std::sync::Arc;

use butler_host::host::Host;

use super::live::Live;

#[derive(Clone)]
pub struct Api(Arc<Shared>);

pub struct Shared {
    pub host: Arc<Host>,
    /// Who listens for events.
    pub live: Live,
}

impl Api {
    pub fn new(host: Arc<Host>) -> Self {
        Self(Arc::new(Shared { host, live: Live::default() }))
    }
}

impl Deref for Api {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
