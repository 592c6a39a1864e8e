//! `[server]`: settings of the process, not of a single butler. One butler.toml of a roster may contain this section.

use std::path::PathBuf;
use std::time::Duration;

use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::diagnostic::ConfigError;
use super::file::File;
use super::roster::ButlerConfig;
use crate::duration::duration;
use crate::loopback::is_loopback;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSection {
    /// Host names under which clients and web pages may address the server, in addition to the listen address.
    pub allowed_hosts: Vec<String>,
    /// Whether a reverse proxy forwards the requests of other machines to this server. Requests from loopback are then
    /// treated like those from the network: they need a token, also for `/metrics` and the details of `/readyz`.
    pub behind_proxy: bool,
    /// The address under which clients on the internet reach this server, such as `https://memory.example.com`. With it,
    /// clients can log in by OAuth, and every caller needs a token, also on this machine.
    pub public_url: Option<String>,
    /// PEM file with the certificate and its chain. With `tls_key`, the server uses HTTPS.
    pub tls_cert: Option<PathBuf>,
    /// PEM file with the private key of the certificate.
    pub tls_key: Option<PathBuf>,
    /// Maximum number of requests per second for each token, averaged over ten seconds. 0 means no limit.
    pub rate_limit: u32,
    /// How long the head and then the body of a request may take to arrive, in seconds.
    pub request_timeout_s: f64,
    /// Maximum number of open connections of clients. When it is reached, a new connection replaces the one that has
    /// been idle for the longest time. Default: what the limit of open files allows, at most 10000.
    pub client_connections: Option<usize>,
    /// Maximum number of open connections from one address (for IPv6: one network of 64 bits). It does not apply to
    /// loopback. Default: half of `client_connections`. Raise it if a proxy on another machine forwards all requests.
    pub client_connections_per_address: Option<usize>,
    /// Maximum number of open event streams (`GET /api/events`) for each token.
    pub streams_per_token: usize,
    /// After how many seconds without a request the server closes a connection.
    pub idle_timeout_s: f64,
    /// Maximum number of connections of the process to one PostgreSQL server, for all butlers. Default: three quarters
    /// of the server's limit.
    pub connections: Option<usize>,
    /// Lifetime of new tokens that are created without an expiry: a number followed by s, m, h, d, w or y, such as `90d`.
    /// Default: they do not expire.
    pub default_token_lifetime: Option<String>,
}

impl ServerSection {
    /// Stops a runaway client only: an agent makes a few calls per second.
    pub const RATE_LIMIT: u32 = 1000;
    /// The largest body takes some seconds over a slow connection.
    pub const REQUEST_TIMEOUT_S: f64 = 30.0;
    pub const MAX_REQUEST_TIMEOUT_S: f64 = 3600.0;
    /// One that listens for token changes, one that holds the lock of a job, one for the job's work, and one for
    /// requests.
    pub const MIN_CONNECTIONS: usize = 4;
    /// A browser opens up to six connections.
    pub const MIN_CLIENT_CONNECTIONS: usize = 8;
    /// A dashboard has one stream per tab.
    pub const STREAMS_PER_TOKEN: usize = 64;
    /// Longer than the clients themselves keep an idle connection, usually 90 seconds at most: if both sides close at
    /// the same time, a request can be lost.
    pub const IDLE_TIMEOUT_S: f64 = 300.0;
    pub const MAX_IDLE_TIMEOUT_S: f64 = 86_400.0;

    pub fn request_timeout(&self) -> Duration {
        Duration::try_from_secs_f64(self.request_timeout_s).unwrap_or(Duration::from_secs(30))
    }

    pub fn idle_timeout(&self) -> Duration {
        Duration::try_from_secs_f64(self.idle_timeout_s).unwrap_or(Duration::from_secs(300))
    }

    /// The public URL without a slash at its end.
    pub fn public_url(&self) -> Option<&str> {
        self.public_url.as_deref().map(|url| url.trim_end_matches('/'))
    }

    /// The host name in the public URL.
    pub fn public_host(&self) -> Option<String> {
        Url::parse(self.public_url()?).ok()?.host_str().map(str::to_owned)
    }

    /// The key and the problem of the first invalid value.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        for host in &self.allowed_hosts {
            check_host(host).map_err(|problem| ("allowed_hosts", problem))?;
        }
        if let Some(url) = &self.public_url {
            check_public_url(url).map_err(|problem| ("public_url", problem))?;
        }
        let seconds = |key, given: f64, max: f64| match given > 0.0 && given <= max {
            true => Ok(()),
            false => Err((key, format!("must be more than 0 and at most {max} seconds"))),
        };
        seconds("request_timeout_s", self.request_timeout_s, Self::MAX_REQUEST_TIMEOUT_S)?;
        seconds("idle_timeout_s", self.idle_timeout_s, Self::MAX_IDLE_TIMEOUT_S)?;
        for (key, given, min) in [
            ("connections", self.connections, Self::MIN_CONNECTIONS),
            ("client_connections", self.client_connections, Self::MIN_CLIENT_CONNECTIONS),
            ("client_connections_per_address", self.client_connections_per_address, 1),
            ("streams_per_token", Some(self.streams_per_token), 1),
        ] {
            if let Some(given) = given.filter(|given| *given < min) {
                return Err((key, format!("must be at least {min}, not {given}")));
            }
        }
        Ok(())
    }

    /// The lifetime of a token that is created without an expiry; `None` if it does not expire.
    pub fn default_token_lifetime(&self) -> Option<TimeDelta> {
        self.default_token_lifetime.as_deref().and_then(|text| duration(text).ok())
    }
}

impl Default for ServerSection {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            behind_proxy: false,
            public_url: None,
            tls_cert: None,
            tls_key: None,
            rate_limit: Self::RATE_LIMIT,
            request_timeout_s: Self::REQUEST_TIMEOUT_S,
            client_connections: None,
            client_connections_per_address: None,
            streams_per_token: Self::STREAMS_PER_TOKEN,
            idle_timeout_s: Self::IDLE_TIMEOUT_S,
            connections: None,
            default_token_lifetime: None,
        }
    }
}

/// The `[server]` section of the butler that has one, or the defaults.
pub fn server(butlers: &[ButlerConfig]) -> Result<ServerSection, ConfigError> {
    process_section(butlers, "server", |file| &file.server)
}

/// A section that applies to the whole process: from the file that contains it, or the defaults. Fails if two files
/// differ.
pub(super) fn process_section<T: Clone + Default + PartialEq>(
    butlers: &[ButlerConfig],
    name: &str,
    section: impl Fn(&File) -> &T,
) -> Result<T, ConfigError> {
    let prefix = format!("{name}.");
    let mut with_section = butlers.iter().filter(|butler| butler.set.iter().any(|key| key.starts_with(&prefix)));
    let Some(first) = with_section.next() else { return Ok(T::default()) };
    let values = section(&first.file);
    match (with_section.find(|butler| section(&butler.file) != values), &first.path) {
        (Some(second), Some(path)) => {
            let message =
                format!("[{name}] differs from that of butler {:?}, but it applies to the whole process", second.name);
            Err(ConfigError::whole_file(path, message, Some(format!("keep [{name}] in one of the two files"))))
        }
        _ => Ok(values.clone()),
    }
}

/// Requires a host name or address without scheme and port.
fn check_host(host: &str) -> Result<(), String> {
    let plain = |c: char| !c.is_whitespace() && !matches!(c, '/' | '@' | '?' | '#' | '*' | ',');
    let port = host.rsplit_once(':').is_some_and(|(name, _)| !name.contains(':'));
    if host.is_empty() || !host.chars().all(plain) || port {
        return Err(format!(
            "contains {host:?}; expected a host without scheme and port, for example \"memory.example.com\""
        ));
    }
    Ok(())
}

/// Requires scheme and host alone. Tokens travel to this address, so plain HTTP is for loopback only.
fn check_public_url(text: &str) -> Result<(), String> {
    let expected =
        |problem: &str| format!("is {text:?}, {problem}; expected a URL such as \"https://memory.example.com\"");
    let url = Url::parse(text).map_err(|error| expected(&format!("which is not a URL ({error})")))?;
    if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback(&url)) {
        return Err(expected("which is not https"));
    }
    let plain =
        url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    if url.path() != "/" || !plain {
        return Err(expected("which has more than a host and a port"));
    }
    // Clients send addresses in normal form, and they are compared character by character.
    let normal = url.as_str().trim_end_matches('/');
    if text.trim_end_matches('/') != normal {
        return Err(format!("is {text:?}, which is not in normal form; write {normal:?}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_public_url;

    #[test]
    fn a_public_url_is_https_or_on_loopback_and_has_no_path() {
        for url in [
            "https://memory.example.com",
            "https://memory.example.com:8443/",
            "http://127.0.0.1:8150",
            "http://[::1]:1",
        ] {
            assert_eq!(check_public_url(url), Ok(()), "{url}");
        }
        for url in [
            "memory.example.com",
            "http://memory.example.com",
            "https://example.com/memory",
            "https://a@example.com",
            "https://example.com/?x",
            "https://example.com/#x",
            "ftp://127.0.0.1",
        ] {
            assert!(check_public_url(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_public_url_must_be_in_normal_form() {
        for url in ["https://Memory.example.com", "HTTPS://memory.example.com", "https://memory.example.com:443/"] {
            let problem = check_public_url(url).unwrap_err();
            assert!(problem.contains("write \"https://memory.example.com\""), "{problem}");
        }
    }
}
