//! `[server]`: what concerns the process and not one butler. It may stand in any butler.toml of a roster, once.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnostic::ConfigError;
use super::file::File;
use super::roster::ButlerConfig;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSection {
    /// Names beside the listen address under which clients and pages may address the server.
    pub allowed_hosts: Vec<String>,
    /// The certificate with its chain, PEM; with `tls_key` the server speaks HTTPS.
    pub tls_cert: Option<PathBuf>,
    /// Its private key, PEM.
    pub tls_key: Option<PathBuf>,
    /// Requests a second of one token, over ten seconds; 0: no limit.
    pub rate_limit: u32,
    /// How long a request may take to arrive, its head and then its body.
    pub request_timeout_s: f64,
    /// The most connections the process opens to one PostgreSQL, all butlers together; omitted: three quarters of what
    /// that server takes.
    pub connections: Option<usize>,
}

impl ServerSection {
    /// Stops a client that runs wild, and no honest one: an agent makes a few calls a second.
    pub const RATE_LIMIT: u32 = 1000;
    /// The largest body over a bad line takes seconds.
    pub const REQUEST_TIMEOUT_S: f64 = 30.0;
    pub const MAX_REQUEST_TIMEOUT_S: f64 = 3600.0;
    /// One that follows tokens, one that holds the lock of a job, one the job works with, and one for requests.
    pub const LEAST_CONNECTIONS: usize = 4;

    pub fn request_timeout(&self) -> Duration {
        Duration::try_from_secs_f64(self.request_timeout_s).unwrap_or(Duration::from_secs(30))
    }
}

impl Default for ServerSection {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            tls_cert: None,
            tls_key: None,
            rate_limit: Self::RATE_LIMIT,
            request_timeout_s: Self::REQUEST_TIMEOUT_S,
            connections: None,
        }
    }
}

/// The section of whichever butler has it.
pub fn server(butlers: &[ButlerConfig]) -> Result<ServerSection, ConfigError> {
    only(butlers, "server", |file| &file.server)
}

/// A section of the process: of the file that has it, or the defaults. Two that differ are a mistake.
pub(super) fn only<T: Clone + Default + PartialEq>(
    butlers: &[ButlerConfig],
    name: &str,
    section: impl Fn(&File) -> &T,
) -> Result<T, ConfigError> {
    let below = format!("{name}.");
    let mut with = butlers.iter().filter(|butler| butler.set.iter().any(|key| key.starts_with(&below)));
    let Some(first) = with.next() else { return Ok(T::default()) };
    let theirs = section(&first.file);
    match (with.find(|butler| section(&butler.file) != theirs), &first.path) {
        (Some(second), Some(path)) => {
            let message = format!("[{name}] differs from that of butler {:?}: there is one server", second.name);
            Err(ConfigError::whole_file(path, message, Some(format!("keep [{name}] in one of the two files"))))
        }
        _ => Ok(theirs.clone()),
    }
}

/// A host name or address, without scheme and port.
pub(super) fn check_host(host: &str) -> Result<(), String> {
    let plain = |c: char| !c.is_whitespace() && !matches!(c, '/' | '@' | '?' | '#' | '*' | ',');
    let port = host.rsplit_once(':').is_some_and(|(name, _)| !name.contains(':'));
    if host.is_empty() || !host.chars().all(plain) || port {
        return Err(format!("holds {host:?}; a host is a name or an address alone, as in \"memory.example.com\""));
    }
    Ok(())
}
