//! Database URLs and names, for operations on whole databases such as backup and restore.

use std::path::PathBuf;

use super::Host;
use crate::butler::Butler;
use crate::error::HostError;

impl Host {
    /// The directory of the private PostgreSQL's programs, once the server has started.
    pub(crate) async fn bin_dir(&self) -> Option<PathBuf> {
        self.private.read().await.as_ref().map(|server| server.bin_dir().to_path_buf())
    }

    /// URLs on the server of a butler's database: of the maintenance database and of `database`.
    pub async fn urls(&self, butler: &Butler, database: &str) -> Result<(String, String), HostError> {
        if let Some(url) = self.external_url(butler) {
            return Ok((with_database(url, "postgres"), with_database(url, database)));
        }
        let private = self.private.read().await;
        let server =
            private.as_ref().ok_or_else(|| HostError::Failed("the private PostgreSQL is not running".to_owned()))?;
        Ok((server.url("postgres"), server.url(database)))
    }

    pub(crate) fn database_name(&self, butler: &Butler) -> Result<String, HostError> {
        let Some(url) = self.external_url(butler) else { return Ok(butler.name.to_string()) };
        database_of(url).map(str::to_owned).ok_or_else(|| {
            HostError::Failed("the database URL has no database name: append it, for example /memory".to_owned())
        })
    }
}

fn database_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let rest = &rest[..rest.find('?').unwrap_or(rest.len())];
    rest.split_once('/').map(|(_, name)| name).filter(|name| !name.is_empty())
}

fn with_database(url: &str, database: &str) -> String {
    let (base, query) = match url.split_once('?') {
        Some((base, query)) => (base, format!("?{query}")),
        None => (url, String::new()),
    };
    let start = base.find("://").map_or(0, |at| at + 3);
    let end = base[start..].find('/').map_or(base.len(), |at| start + at);
    format!("{}/{database}{query}", &base[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_of_a_url_is_replaced() {
        let url = "postgres://ann:x@db.example:5432/memory?sslmode=require";
        assert_eq!(database_of(url), Some("memory"));
        assert_eq!(with_database(url, "other"), "postgres://ann:x@db.example:5432/other?sslmode=require");
        assert_eq!(with_database("postgres://db.example", "other"), "postgres://db.example/other");
    }
}
