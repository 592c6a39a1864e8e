//! Which server to connect to: the only one, or the current primary of several.
//!
//! The URL may list several servers as libpq does:
//! `postgres://user@a:5432,b:5432/name?target_session_attrs=read-write`, or `host=/one,/other` for sockets. The driver
//! connects to one server only, so this file splits the list.

use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sqlx::postgres::PgConnectOptions;

use crate::error::StoreError;

/// A statement per tool and worker, each prepared once per connection.
const PREPARED_STATEMENTS: usize = 256;

/// The role of the server to connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerRole {
    /// A server that accepts writes.
    Primary,
    Standby,
    Any,
}

pub(crate) struct Target {
    servers: Vec<PgConnectOptions>,
    pub role: ServerRole,
    /// The server that was used last.
    last: AtomicUsize,
    reached: AtomicBool,
}

impl Target {
    /// The servers of a URL, of which the primary is used.
    pub fn primary(url: &str) -> Result<Self, StoreError> {
        let target = Self::parse(url, ServerRole::Primary)?;
        match target.role {
            ServerRole::Standby => Err(invalid("target_session_attrs asks for a standby, which accepts no writes")),
            // Whatever the URL says, this needs a server that accepts writes.
            _ => Ok(Self { role: ServerRole::Primary, ..target }),
        }
    }

    /// The servers of a `read_url`. Any of them will do unless the URL asks for a kind.
    pub fn replica(url: &str) -> Result<Self, StoreError> {
        Self::parse(url, ServerRole::Any)
    }

    fn parse(url: &str, usual: ServerRole) -> Result<Self, StoreError> {
        let (urls, role) = split(url)?;
        let servers = urls.iter().map(|url| {
            let options = PgConnectOptions::from_str(url).map_err(|error| invalid(error.to_string()))?;
            Ok(options.application_name("butler").statement_cache_capacity(PREPARED_STATEMENTS))
        });
        let servers = servers.collect::<Result<Vec<_>, StoreError>>()?;
        Ok(Self { servers, role: role.unwrap_or(usual), last: AtomicUsize::new(0), reached: AtomicBool::new(false) })
    }

    /// The order in which to try the servers: the last one used first.
    pub fn order(&self) -> impl Iterator<Item = usize> + use<> {
        let (first, count) = (self.last.load(Ordering::Relaxed), self.servers.len());
        (0..count).map(move |step| (first + step) % count)
    }

    pub fn server(&self, at: usize) -> &PgConnectOptions {
        &self.servers[at]
    }

    pub fn count(&self) -> usize {
        self.servers.len()
    }

    pub fn found(&self, at: usize) {
        self.last.store(at, Ordering::Relaxed);
        self.reached.store(true, Ordering::Relaxed);
    }

    /// Whether a connection ever succeeded. If so, the server is likely to come back.
    pub fn was_reached(&self) -> bool {
        self.reached.load(Ordering::Relaxed)
    }

    pub fn current(&self) -> &PgConnectOptions {
        self.server(self.last.load(Ordering::Relaxed))
    }

    /// All servers of the list, without the password.
    pub fn place(&self) -> String {
        self.servers.iter().map(place).collect::<Vec<_>>().join(", ")
    }
}

pub(crate) fn place(server: &PgConnectOptions) -> String {
    match server.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", server.get_host(), server.get_port()),
    }
}

fn invalid(reason: impl Into<String>) -> StoreError {
    StoreError::InvalidUrl { reason: reason.into() }
}

/// Splits the URL into one per server, and reads `target_session_attrs`.
fn split(url: &str) -> Result<(Vec<String>, Option<ServerRole>), StoreError> {
    let Some((scheme, rest)) = url.split_once("://") else { return Ok((vec![url.to_owned()], None)) };
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = address.find('/').map_or((address, ""), |at| address.split_at(at));
    let (user, hosts) = authority.rfind('@').map_or(("", authority), |at| authority.split_at(at + 1));
    let mut role = None;
    let (mut socket_hosts, mut ports, mut others) = (None, None, Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("target_session_attrs", value)) => role = Some(attribute(value)?),
            Some(("host", value)) => socket_hosts = Some(value),
            Some(("port", value)) => ports = Some(value),
            _ => others.push(pair),
        }
    }
    let listed: Vec<&str> = socket_hosts.map(list).unwrap_or_default();
    let hosts: Vec<&str> = if hosts.is_empty() { Vec::new() } else { hosts.split(',').collect() };
    let ports: Vec<&str> = ports.map(list).unwrap_or_default();
    let count = listed.len().max(hosts.len()).max(1);
    if ports.len() > 1 && ports.len() != count {
        return Err(invalid(format!("it lists {count} hosts and {} ports", ports.len())));
    }
    if hosts.len() > 1 && !listed.is_empty() {
        return Err(invalid("it lists hosts twice: before the path and with host="));
    }
    let urls = (0..count).map(|at| {
        let mut pairs: Vec<String> = others.iter().map(|pair| (*pair).to_owned()).collect();
        pairs.extend(listed.get(at).map(|host| format!("host={host}")));
        pairs.extend(ports.get(at).or(ports.first()).map(|port| format!("port={port}")));
        let host = hosts.get(at).or(hosts.first()).copied().unwrap_or_default();
        let query = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
        format!("{scheme}://{user}{host}{path}{query}")
    });
    Ok((urls.collect(), role))
}

/// Splits a list at its commas, which may be percent-encoded.
fn list(value: &str) -> Vec<&str> {
    value.split(',').flat_map(|part| part.split("%2C")).collect()
}

fn attribute(value: &str) -> Result<ServerRole, StoreError> {
    match value {
        "any" => Ok(ServerRole::Any),
        "read-write" | "primary" => Ok(ServerRole::Primary),
        // Without a standby, reads go to the primary anyway.
        "read-only" | "standby" | "prefer-standby" => Ok(ServerRole::Standby),
        other => Err(invalid(format!(
            "target_session_attrs is {other:?}; valid values are any, read-write, primary, read-only, standby, prefer-standby"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(url: &str) -> Vec<String> {
        split(url).unwrap().0
    }

    #[test]
    fn a_list_of_hosts_becomes_one_url_each() {
        assert_eq!(
            urls("postgres://ann:x@a:5432,b:5433/memory?sslmode=require&target_session_attrs=read-write"),
            ["postgres://ann:x@a:5432/memory?sslmode=require", "postgres://ann:x@b:5433/memory?sslmode=require"]
        );
        assert_eq!(urls("postgres://a,b/m?port=1,2"), ["postgres://a/m?port=1", "postgres://b/m?port=2"]);
        assert_eq!(urls("postgres://[::1]:5432,b/m"), ["postgres://[::1]:5432/m", "postgres://b/m"]);
    }

    #[test]
    fn sockets_are_listed_in_the_query() {
        assert_eq!(
            urls("postgres://u:p@localhost/m?host=/a,/b"),
            ["postgres://u:p@localhost/m?host=/a", "postgres://u:p@localhost/m?host=/b"]
        );
        assert_eq!(urls("postgres://u@%2Frun%2Fpg/m"), ["postgres://u@%2Frun%2Fpg/m"]);
        let target = Target::primary("postgres://u:p@localhost/m?host=/a,/b").unwrap();
        assert_eq!(target.place(), "/a, /b");
    }

    #[test]
    fn a_url_of_one_server_stays_as_it_is() {
        for url in ["postgres://ann:x@db.example:5432/memory?sslmode=require", "postgres://db/m", "postgres:///m"] {
            assert_eq!(urls(url), [url]);
        }
    }

    #[test]
    fn writes_never_go_to_a_standby_and_a_misspelt_wish_is_told() {
        assert_eq!(Target::primary("postgres://a,b/m?target_session_attrs=any").unwrap().role, ServerRole::Primary);
        assert_eq!(Target::replica("postgres://a,b/m?target_session_attrs=standby").unwrap().role, ServerRole::Standby);
        assert_eq!(Target::replica("postgres://a/m").unwrap().role, ServerRole::Any);
        for url in ["postgres://a/m?target_session_attrs=standby", "postgres://a/m?target_session_attrs=master"] {
            assert!(matches!(Target::primary(url), Err(StoreError::InvalidUrl { .. })), "{url}");
        }
        assert!(matches!(Target::primary("postgres://a,b,c/m?port=1,2"), Err(StoreError::InvalidUrl { .. })));
    }

    #[test]
    fn the_one_found_last_is_tried_first() {
        let target = Target::primary("postgres://a,b,c/m").unwrap();
        assert_eq!(target.order().collect::<Vec<_>>(), [0, 1, 2]);
        assert!(!target.was_reached());
        target.found(1);
        assert_eq!(target.order().collect::<Vec<_>>(), [1, 2, 0]);
        assert!(target.was_reached());
        assert_eq!(target.current().get_host(), "b");
    }
}
