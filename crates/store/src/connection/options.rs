use std::time::Duration;

use crate::Connections;

/// Where a butler's home is and how many connections may serve it.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    pub url: String,
    /// A streaming replica for retrieval; what retrieval writes (reference counts) still goes to `url`.
    pub read_url: Option<String>,
    /// Every object of a butler lives in this schema, so that many butlers can share one database.
    pub schema: String,
    /// The most connections that serve writes; half as many serve reads.
    pub pool_size: usize,
    /// How long to wait for the server to answer, and how long for a connection to become free.
    pub connect_timeout: Duration,
    /// A server that the program itself keeps alive: one that is away is about to come back.
    pub kept_alive: bool,
    /// Shared by all databases of a process: it limits what is open to one server.
    pub connections: Connections,
}

/// A statement takes about a millisecond, so eight connections serve some thousands of calls a second. What all butlers
/// of a process open together is limited by [`Connections`].
const POOL_SIZE: usize = 8;
/// Longer than a restart of the private server (0.2 s) or its recovery after a crash, short enough to be an answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

impl DatabaseOptions {
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            read_url: None,
            schema: "public".to_owned(),
            pool_size: POOL_SIZE,
            connect_timeout: CONNECT_TIMEOUT,
            kept_alive: false,
            connections: Connections::default(),
        }
    }
}
