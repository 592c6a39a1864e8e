//! Bringing a backup back: rehearsed in a scratch database, or for real by swapping names.

use butler_store::backup::Contents;
use butler_store::tokens::TokenRow;
use butler_store::{Database, DatabaseOptions};

use super::Host;
use crate::backup::tools::Tools;
use crate::backup::{Stored, WHOLE};
use crate::butler::Butler;
use crate::error::HostError;

/// What was there before, under the name that it has now; [`Self::drop`] it when it is not needed any more.
#[derive(Debug, PartialEq, Eq)]
pub enum Replaced {
    Nothing,
    Database(String),
    Schema(String),
}

/// Restores into a scratch database and compares it with the note; says what it found. The server must run.
pub async fn verify(host: &Host, butler: &Butler, backup: &Stored) -> Result<Contents, HostError> {
    let scratch = scratch_name(host, butler, "verify");
    let outcome = fill(host, butler, backup, &scratch).await;
    let (admin, _) = host.urls(butler, &scratch).await?;
    let dropped = butler_store::drop_database(&admin, &scratch).await.map_err(failed(butler));
    let contents = outcome?;
    dropped?;
    Ok(contents)
}

/// Restores beside what is there and lets it take the butler's name; until then the old one is untouched. Who may enter
/// is no memory: the tokens as they stand now are kept, or a restore would let in whoever was shut out since.
pub async fn restore(
    host: &Host,
    butler: &Butler,
    backup: &Stored,
    tokens: &[TokenRow],
) -> Result<Replaced, HostError> {
    let home = &butler.config.file.butler.database.schema;
    if *home != backup.note.schema {
        return Err(HostError::Failed(format!(
            "the backup {} is of the schema {:?}, and the butler lives in {home:?} now: name that schema in \
             [butler.database], or restore it with pg_restore",
            backup.name, backup.note.schema
        )));
    }
    if home == WHOLE {
        restore_database(host, butler, backup, tokens).await
    } else {
        restore_schema(host, butler, backup, tokens).await
    }
}

async fn restore_database(
    host: &Host,
    butler: &Butler,
    backup: &Stored,
    tokens: &[TokenRow],
) -> Result<Replaced, HostError> {
    let fresh = scratch_name(host, butler, "restore");
    let (admin, url) = host.urls(butler, &fresh).await?;
    let filled = async {
        fill(host, butler, backup, &fresh).await?;
        keep_tokens(&url, butler, backup, tokens).await
    };
    if let Err(error) = filled.await {
        butler_store::drop_database(&admin, &fresh).await.map_err(failed(butler))?;
        return Err(error);
    }
    let name = host.database_name(butler)?;
    let old = scratch_name(host, butler, "before");
    let existed = butler_store::rename_database(&admin, &name, &old).await.map_err(failed(butler))?;
    if let Err(error) = butler_store::rename_database(&admin, &fresh, &name).await {
        if existed {
            butler_store::rename_database(&admin, &old, &name).await.map_err(failed(butler))?;
        }
        return Err(failed(butler)(error));
    }
    Ok(if existed { Replaced::Database(old) } else { Replaced::Nothing })
}

/// Others live in the same database: only the schema changes places, in one transaction.
async fn restore_schema(
    host: &Host,
    butler: &Butler,
    backup: &Stored,
    tokens: &[TokenRow],
) -> Result<Replaced, HostError> {
    let (schema, old) = (&backup.note.schema, scratch_name(host, butler, "before"));
    let url = host.url(butler).await?;
    let tools = Tools::find(host.bin_dir().await, &host.options().postgres(), &url).await?;
    tools.swap_schema(&url, &backup.path, schema, &old).await?;
    let swapped = async {
        compare(&url, butler, backup).await?;
        keep_tokens(&url, butler, backup, tokens).await
    };
    if let Err(error) = swapped.await {
        butler_store::replace_schema(&url, schema, &old).await.map_err(failed(butler))?;
        return Err(error);
    }
    Ok(Replaced::Schema(old))
}

impl Replaced {
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

/// Of this butler and this moment, within what PostgreSQL takes for a name.
fn scratch_name(host: &Host, butler: &Butler, what: &str) -> String {
    let name: String = butler.name.as_str().chars().take(24).collect();
    format!("{name}_{what}_{}", host.clock().now().format("%Y%m%d%H%M%S%3f"))
}

async fn fill(host: &Host, butler: &Butler, backup: &Stored, into: &str) -> Result<Contents, HostError> {
    let (admin, url) = host.urls(butler, into).await?;
    let tools = Tools::find(host.bin_dir().await, &host.options().postgres(), &admin).await?;
    butler_store::ensure_database(&admin, into).await.map_err(failed(butler))?;
    if backup.note.schema != WHOLE {
        // A dump of a schema alone brings no extensions along.
        butler_store::ensure_extensions(&url).await.map_err(failed(butler))?;
    }
    tools.restore(&url, &backup.path).await?;
    compare(&url, butler, backup).await
}

async fn connect(url: &str, butler: &Butler, backup: &Stored) -> Result<Database, HostError> {
    let options =
        DatabaseOptions { schema: backup.note.schema.clone(), pool_size: 1, ..DatabaseOptions::new(url.to_owned()) };
    Database::connect(options).await.map_err(failed(butler))
}

/// A backup may be older than rights that tokens have now, so it is migrated as the next start would.
async fn keep_tokens(url: &str, butler: &Butler, backup: &Stored, tokens: &[TokenRow]) -> Result<(), HostError> {
    let database = connect(url, butler, backup).await?;
    let kept = async {
        database.migrate().await?;
        butler_store::tokens::keep(&mut *database.owner().await?, tokens).await
    };
    let kept = kept.await.map_err(failed(butler));
    database.close().await;
    kept
}

/// What is there now, if it is what the note says.
async fn compare(url: &str, butler: &Butler, backup: &Stored) -> Result<Contents, HostError> {
    let database = connect(url, butler, backup).await?;
    let read = async {
        let mut conn = database.owner().await?;
        butler_store::backup::contents(&mut conn).await
    };
    let contents = read.await.map_err(failed(butler));
    database.close().await;
    let contents = contents?;
    if contents == backup.note.contents {
        return Ok(contents);
    }
    let differs = differences(&backup.note.contents, &contents).join(", ");
    Err(HostError::Failed(format!("the backup {} does not hold what it should: {differs}", backup.name)))
}

fn differences(noted: &Contents, found: &Contents) -> Vec<String> {
    let mut differs = Vec::new();
    if noted.migrations != found.migrations {
        differs.push("other migrations".to_owned());
    }
    for (table, rows) in &noted.rows {
        let here = found.rows.get(table).copied().unwrap_or_default();
        if here != *rows {
            differs.push(format!("{here} of {rows} rows of {table}"));
        }
    }
    differs
}
