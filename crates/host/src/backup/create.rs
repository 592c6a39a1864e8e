//! Creates a backup.

use std::path::PathBuf;
use std::sync::Arc;

use butler_domain::Clock;
use butler_store::Database;

use super::files::{Backup, Draft};
use super::tools::Tools;
use super::{Manifest, WHOLE_DATABASE};
use crate::error::HostError;

/// Everything that a backup of a started butler needs, so that the scheduled job does not depend on the host.
#[derive(Clone)]
pub struct BackupSource {
    pub butler: String,
    pub folder: PathBuf,
    pub(crate) database: Database,
    pub(crate) url: String,
    /// The database is on an external server, where other programs may have tables too.
    pub(crate) external: bool,
    pub(crate) bin_dir: Option<PathBuf>,
    pub(crate) runtime: butler_postgres::Options,
    pub(crate) clock: Arc<dyn Clock>,
}

impl BackupSource {
    pub(super) async fn clock_is_in_doubt(&self) -> Result<bool, HostError> {
        let mark = async { butler_store::clock_mark::read(&mut *self.database.owner().await?).await };
        let mark = mark.await.map_err(|source| HostError::Store { butler: self.butler.clone(), source })?;
        Ok(mark.hold.is_some())
    }

    /// Dumps the database. Dump and manifest use the same snapshot, so they match even if data changes meanwhile.
    pub async fn create(&self) -> Result<Backup, HostError> {
        let failed = |source| HostError::Store { butler: self.butler.clone(), source };
        let tools = Tools::find(self.bin_dir.clone(), &self.runtime, &self.url).await?;
        let mut conn = self.database.owner().await.map_err(failed)?;
        let schema = self.database.schema();
        if self.external && schema == WHOLE_DATABASE {
            let others = butler_store::backup::tables_of_others(&mut conn, schema).await.map_err(failed)?;
            if !others.is_empty() {
                return Err(shared_database(&others));
            }
        }
        let now = self.clock.now();
        let draft = Draft::new(&self.folder, &self.butler, now)?;
        let mut snapshot = butler_store::transfer::read::snapshot(&mut conn).await.map_err(failed)?;
        let id = butler_store::backup::export_snapshot(&mut snapshot).await.map_err(failed)?;
        let contents = butler_store::backup::contents(&mut snapshot).await.map_err(failed)?;
        tools.dump(&self.url, schema, &id, draft.part_path()).await?;
        snapshot.rollback().await.map_err(failed)?;
        draft.publish(Manifest {
            butler: self.butler.clone(),
            created_at: now,
            program: concat!("butler ", env!("CARGO_PKG_VERSION")).to_owned(),
            schema: schema.to_owned(),
            contents,
        })
    }
}

/// A restore replaces the whole database, so it would also replace the tables of other programs.
fn shared_database(others: &[String]) -> HostError {
    HostError::Failed(format!(
        "the database contains tables of other programs ({}), which a restore would replace too: give the butler its \
         own schema ([butler.database] schema = \"memory\"; move its memories with `butler export` and `import`), \
         or back up the database with pg_dump",
        others.join(", ")
    ))
}
