//! Verifies a backup in a scratch database, or restores it by renaming databases or schemas.

use butler_domain::Timestamp;
use butler_domain::event::Origin;
use butler_store::backup::Contents;
use butler_store::tokens::TokenRow;
use butler_store::{Database, DatabaseOptions, OwnerContext};

use super::Host;
use super::leftovers::{self, BEFORE, Home};
use crate::access::CLI_ACTOR;
use crate::backup::tools::Tools;
use crate::backup::{Backup, WHOLE_DATABASE};
use crate::butler::Butler;
use crate::error::HostError;

/// The data that a restore replaced, under its new name. Call [`Self::drop`] when it is no longer needed.
#[derive(Debug, PartialEq, Eq)]
pub enum PreviousData {
    Nothing,
    Database(String),
    Schema(String),
}

/// Restores a backup into a scratch database and compares the result with the manifest. The server must be running.
pub async fn verify(host: &Host, butler: &Butler, backup: &Backup) -> Result<Contents, HostError> {
    let lock = leftovers::lock(host, butler).await?;
    let verified = verify_locked(host, butler, backup).await;
    lock.release().await;
    verified
}

async fn verify_locked(host: &Host, butler: &Butler, backup: &Backup) -> Result<Contents, HostError> {
    leftovers::sweep_locked(host, butler).await?;
    let scratch = Home::of(host, butler)?.scratch_name(host, "verify");
    let outcome = fill(host, butler, backup, &scratch).await;
    let (admin, _) = host.urls(butler, &scratch).await?;
    let dropped = butler_store::drop_database(&admin, &scratch).await.map_err(failed(butler));
    let contents = outcome?;
    dropped?;
    Ok(contents)
}

/// Restores a backup next to the current data, then swaps the names; until then the current data is untouched.
///
/// The current tokens replace those in the backup. Otherwise a restore would make tokens valid again that were revoked
/// after the backup.
pub async fn restore(
    host: &Host,
    butler: &Butler,
    backup: &Backup,
    tokens: &[TokenRow],
) -> Result<PreviousData, HostError> {
    let schema = &butler.config.file.butler.database.schema;
    if *schema != backup.manifest.schema {
        return Err(HostError::Failed(format!(
            "the backup {} contains the schema {:?}, but the butler uses {schema:?}: set `schema` in [butler.database] \
             to that of the backup, or restore it with pg_restore",
            backup.name, backup.manifest.schema
        )));
    }
    let lock = leftovers::lock(host, butler).await?;
    let restored = async {
        leftovers::sweep_locked(host, butler).await?;
        if schema == WHOLE_DATABASE {
            restore_database(host, butler, backup, tokens).await
        } else {
            restore_schema(host, butler, backup, tokens).await
        }
    };
    let restored = restored.await;
    lock.release().await;
    restored
}

async fn restore_database(
    host: &Host,
    butler: &Butler,
    backup: &Backup,
    tokens: &[TokenRow],
) -> Result<PreviousData, HostError> {
    let home = Home::of(host, butler)?;
    let fresh = home.scratch_name(host, "restore");
    let (admin, url) = host.urls(butler, &fresh).await?;
    let filled = async {
        fill(host, butler, backup, &fresh).await?;
        keep_tokens(&url, butler, backup, tokens, host.clock().now()).await
    };
    if let Err(error) = filled.await {
        butler_store::drop_database(&admin, &fresh).await.map_err(failed(butler))?;
        return Err(error);
    }
    let (name, old) = (home.database.clone(), home.scratch_name(host, BEFORE));
    let existed = butler_store::rename_database(&admin, &name, &old).await.map_err(failed(butler))?;
    if let Err(error) = butler_store::rename_database(&admin, &fresh, &name).await {
        if existed {
            butler_store::rename_database(&admin, &old, &name).await.map_err(failed(butler))?;
        }
        return Err(failed(butler)(error));
    }
    Ok(if existed { PreviousData::Database(old) } else { PreviousData::Nothing })
}

/// Swaps the schema only, in one transaction, because other butlers may use the same database.
async fn restore_schema(
    host: &Host,
    butler: &Butler,
    backup: &Backup,
    tokens: &[TokenRow],
) -> Result<PreviousData, HostError> {
    let (schema, old) = (&backup.manifest.schema, Home::of(host, butler)?.scratch_name(host, BEFORE));
    let url = host.url(butler).await?;
    let tools = Tools::find(host.bin_dir().await, &host.options().postgres(), &url).await?;
    tools.swap_schema(&url, &backup.path, schema, &old).await?;
    let swapped = async {
        compare(&url, butler, backup).await?;
        keep_tokens(&url, butler, backup, tokens, host.clock().now()).await
    };
    if let Err(error) = swapped.await {
        butler_store::replace_schema(&url, schema, &old).await.map_err(failed(butler))?;
        return Err(error);
    }
    Ok(PreviousData::Schema(old))
}

impl PreviousData {
    pub async fn drop(self, host: &Host, butler: &Butler) -> Result<(), HostError> {
        let dropped = match self {
            Self::Nothing => Ok(()),
            Self::Database(old) => {
                let (admin, _) = host.urls(butler, &old).await?;
                butler_store::drop_database(&admin, &old).await
            }
            Self::Schema(old) => butler_store::drop_schema(&host.url(butler).await?, &old).await,
        };
        dropped.map_err(failed(butler))
    }
}

fn failed(butler: &Butler) -> impl Fn(butler_store::StoreError) -> HostError {
    let butler = butler.name.to_string();
    move |source| HostError::Store { butler: butler.clone(), source }
}

async fn fill(host: &Host, butler: &Butler, backup: &Backup, into: &str) -> Result<Contents, HostError> {
    let (admin, url) = host.urls(butler, into).await?;
    let tools = Tools::find(host.bin_dir().await, &host.options().postgres(), &admin).await?;
    butler_store::ensure_database(&admin, into).await.map_err(failed(butler))?;
    if backup.manifest.schema != WHOLE_DATABASE {
        // The dump of a schema does not include extensions.
        butler_store::ensure_extensions(&url).await.map_err(failed(butler))?;
    }
    tools.restore(&url, &backup.path).await?;
    compare(&url, butler, backup).await
}

async fn connect(url: &str, butler: &Butler, backup: &Backup) -> Result<Database, HostError> {
    let options = DatabaseOptions {
        schema: backup.manifest.schema.clone(),
        pool_size: 1,
        ..DatabaseOptions::new(url.to_owned())
    };
    Database::connect(options).await.map_err(failed(butler))
}

/// Writes the current tokens and the event of the restore into the restored database. Migrates it first, because the
/// backup's schema may be older than the tokens.
async fn keep_tokens(
    url: &str,
    butler: &Butler,
    backup: &Backup,
    tokens: &[TokenRow],
    now: Timestamp,
) -> Result<(), HostError> {
    let database = connect(url, butler, backup).await?;
    let origin = Origin { actor: Some(CLI_ACTOR.to_owned()), request_id: None };
    let kept = async {
        database.migrate().await?;
        let mut conn = database.owner().await?;
        butler_store::tokens::keep(OwnerContext { session: &mut conn, now, origin: &origin }, tokens).await?;
        butler_store::oauth::end_after_restore(&mut conn).await?;
        let write = OwnerContext { session: &mut conn, now, origin: &origin };
        butler_store::backup::record_restore(write, &backup.name).await
    };
    let kept = kept.await.map_err(failed(butler));
    database.close().await;
    kept
}

/// Returns the contents of the restored database if they match the manifest.
async fn compare(url: &str, butler: &Butler, backup: &Backup) -> Result<Contents, HostError> {
    let database = connect(url, butler, backup).await?;
    let read = async {
        let mut conn = database.owner().await?;
        butler_store::backup::contents(&mut conn).await
    };
    let contents = read.await.map_err(failed(butler));
    database.close().await;
    let contents = contents?;
    if contents == backup.manifest.contents {
        return Ok(contents);
    }
    let differs = differences(&backup.manifest.contents, &contents).join(", ");
    Err(HostError::Failed(format!("the backup {} does not match its manifest: {differs}", backup.name)))
}

fn differences(expected: &Contents, found: &Contents) -> Vec<String> {
    let mut differs = Vec::new();
    if expected.migrations != found.migrations {
        differs.push("different migrations".to_owned());
    }
    for (table, rows) in &expected.rows {
        let here = found.rows.get(table).copied().unwrap_or_default();
        if here != *rows {
            differs.push(format!("{here} instead of {rows} rows in {table}"));
        }
    }
    differs
}
