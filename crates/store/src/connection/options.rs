use std::time::Duration;

use crate::Connections;

/// Where a butler's data is, and how many connections may serve it.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    pub url: String,
    /// A streaming replica for retrieval. Retrieval's own writes (reference counts) still go to `url`.
    pub read_url: Option<String>,
    /// The schema that holds all objects of the butler. Many butlers can share one database.
    pub schema: String,
    /// The maximum number of connections for writes. Reads have half as many.
    pub pool_size: usize,
    /// How long to wait for the server, and for a free connection.
    pub connect_timeout: Duration,
    /// Whether this program runs the server itself and restarts it when it is down.
    pub kept_alive: bool,
    /// Limits the connections of all databases of the process to one server.
    pub connections: Connections,
}

/// Longer than a restart of the private server (0.2 s) or its recovery after a crash, and short enough for a caller to
/// wait.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

impl DatabaseOptions {
    /// Two cores run about four statements at once. Twice that covers waits for the disk: a statement takes about a
    /// millisecond, so eight connections serve some thousands of calls a second. A dozen butlers still fit into
    /// PostgreSQL's default of 100 connections, and [`Connections`] limits what all butlers of a process open together.
    pub const POOL_SIZE: usize = 8;

    /// The default options for the database of this URL.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            read_url: None,
            schema: "public".to_owned(),
            pool_size: Self::POOL_SIZE,
            connect_timeout: CONNECT_TIMEOUT,
            kept_alive: false,
            connections: Connections::default(),
        }
    }
}
