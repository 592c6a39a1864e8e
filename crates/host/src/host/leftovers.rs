//! What a killed restore or verification leaves behind: scratch databases, kept schemas and partial dumps.

use std::path::PathBuf;

use butler_store::RestoreLock;

use super::Host;
use crate::backup::{WHOLE_DATABASE, abandoned_parts};
use crate::butler::Butler;
use crate::error::HostError;

/// PostgreSQL truncates longer identifiers: 63 bytes, less the purpose and the time.
const LONGEST_HOME: usize = 37;
/// The previous data, until the restore is complete.
pub(super) const BEFORE: &str = "before";

/// Where a butler's data is: a whole database, or a schema of one.
pub(super) struct Home {
    pub database: String,
    /// `None` for the whole database.
    pub schema: Option<String>,
}

impl Home {
    pub fn of(host: &Host, butler: &Butler) -> Result<Self, HostError> {
        let schema = butler.config.file.butler.database.schema.clone();
        Ok(Self { database: host.database_name(butler)?, schema: (schema != WHOLE_DATABASE).then_some(schema) })
    }

    /// The prefix of all scratch databases and schemas of this home. It is not the butler's name, because others may
    /// use that on the same server.
    fn prefix(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{}_{schema}", self.database),
            None => self.database.clone(),
        }
    }

    /// A unique name from home, purpose and time.
    pub fn scratch_name(&self, host: &Host, what: &str) -> String {
        let prefix: String = self.prefix().chars().take(LONGEST_HOME).collect();
        format!("{prefix}_{what}_{}", host.clock().now().format("%Y%m%d%H%M%S%3f"))
    }

    /// A regular expression for the names of [`Self::scratch_name`]; `None` if they are cut and so could be another
    /// home's.
    fn pattern(&self) -> Option<String> {
        let prefix = self.prefix();
        let plain = prefix.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        (prefix.len() <= LONGEST_HOME && plain).then(|| format!("^{prefix}_(verify|restore|{BEFORE})_[0-9]{{17}}$"))
    }
}

/// What an interrupted restore or verification left.
#[derive(Debug, Default)]
pub struct Leftovers {
    pub databases: Vec<String>,
    pub schemas: Vec<String>,
    /// Partial dumps that nobody is writing.
    pub parts: Vec<PathBuf>,
}

impl Leftovers {
    pub fn names(&self) -> Vec<String> {
        let parts = self.parts.iter().map(|part| part.display().to_string());
        self.databases.iter().chain(&self.schemas).cloned().chain(parts).collect()
    }
}

/// Takes the lock of a butler's home. Fails if a restore or verification is in progress.
pub(super) async fn lock(host: &Host, butler: &Butler) -> Result<RestoreLock, HostError> {
    try_lock(host, butler).await?.ok_or_else(|| {
        HostError::Failed(format!(
            "another restore or verification of butler {:?} is in progress: wait until it has finished",
            butler.name.as_str()
        ))
    })
}

async fn try_lock(host: &Host, butler: &Butler) -> Result<Option<RestoreLock>, HostError> {
    let (admin, _) = host.urls(butler, "postgres").await?;
    RestoreLock::try_take(&admin, &Home::of(host, butler)?.prefix()).await.map_err(failed(butler))
}

/// Lists what is left, unless a restore or verification is in progress. The server must be running.
pub async fn list(host: &Host, butler: &Butler) -> Result<Leftovers, HostError> {
    let Some(lock) = try_lock(host, butler).await? else { return Ok(Leftovers::default()) };
    let found = find(host, butler).await;
    lock.release().await;
    found
}

/// Removes what is left, unless a restore or verification is in progress. If a restore was killed between its two
/// renames, the previous database gets its name back first. Returns whether that was the case.
pub(crate) async fn sweep(host: &Host, butler: &Butler) -> Result<bool, HostError> {
    if find(host, butler).await?.names().is_empty() {
        return Ok(false);
    }
    let Some(lock) = try_lock(host, butler).await? else { return Ok(false) };
    let swept = sweep_locked(host, butler).await;
    lock.release().await;
    swept
}

/// The caller holds the lock.
pub(super) async fn sweep_locked(host: &Host, butler: &Butler) -> Result<bool, HostError> {
    let home = Home::of(host, butler)?;
    let (admin, url) = host.urls(butler, &home.database).await?;
    let mut left = find(host, butler).await?;
    for part in &left.parts {
        let _ = std::fs::remove_file(part);
        tracing::info!(path = %part.display(), "removed a partial dump that a killed process left behind");
    }
    let mut reinstated = false;
    if home.schema.is_none() && !butler_store::database_exists(&admin, &home.database).await.map_err(failed(butler))? {
        let is_before = |name: &String| name.contains(&format!("_{BEFORE}_"));
        // The names end with the time, so the last one is the latest.
        if let Some(at) = left.databases.iter().rposition(is_before) {
            let before = left.databases.remove(at);
            butler_store::rename_database(&admin, &before, &home.database).await.map_err(failed(butler))?;
            tracing::warn!(butler = %butler.name, before, "a restore was interrupted; the previous data is back");
            reinstated = true;
        } else {
            // Without the butler's own database, nothing here is known to be superfluous.
            return Ok(false);
        }
    }
    for database in &left.databases {
        butler_store::drop_database(&admin, database).await.map_err(failed(butler))?;
        tracing::info!(butler = %butler.name, database, "dropped a database that a killed restore left behind");
    }
    for schema in &left.schemas {
        butler_store::drop_schema(&url, schema).await.map_err(failed(butler))?;
        tracing::info!(butler = %butler.name, schema, "dropped a schema that a killed restore left behind");
    }
    Ok(reinstated)
}

async fn find(host: &Host, butler: &Butler) -> Result<Leftovers, HostError> {
    let home = Home::of(host, butler)?;
    let parts = abandoned_parts(&host.backup_folder(butler), host.clock().now());
    let mut left = Leftovers { parts, ..Leftovers::default() };
    let Some(pattern) = home.pattern() else { return Ok(left) };
    let (admin, url) = host.urls(butler, &home.database).await?;
    left.databases = butler_store::databases_like(&admin, &pattern).await.map_err(failed(butler))?;
    if home.schema.is_some() && butler_store::database_exists(&admin, &home.database).await.map_err(failed(butler))? {
        left.schemas = butler_store::schemas_like(&url, &pattern).await.map_err(failed(butler))?;
    }
    Ok(left)
}

fn failed(butler: &Butler) -> impl Fn(butler_store::StoreError) -> HostError {
    let butler = butler.name.to_string();
    move |source| HostError::Store { butler: butler.clone(), source }
}
