//! Making one.

use std::path::PathBuf;
use std::sync::Arc;

use butler_domain::Clock;
use butler_store::Database;

use super::files::{Draft, Stored};
use super::tools::Tools;
use super::{Note, WHOLE};
use crate::error::HostError;

/// All that a backup of a started butler takes, so that a schedule can make one without the host at hand.
#[derive(Clone)]
pub struct Source {
    pub butler: String,
    pub folder: PathBuf,
    pub(crate) database: Database,
    pub(crate) url: String,
    /// In a server of somebody else, where others may have tables, too.
    pub(crate) elsewhere: bool,
    pub(crate) bin_dir: Option<PathBuf>,
    pub(crate) runtime: butler_postgres::Options,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Source {
    /// Exactly what its note says, whoever writes meanwhile.
    pub async fn create(&self) -> Result<Stored, HostError> {
        let failed = |source| HostError::Store { butler: self.butler.clone(), source };
        let tools = Tools::find(self.bin_dir.clone(), &self.runtime, &self.url).await?;
        let mut conn = self.database.owner().await.map_err(failed)?;
        let schema = self.database.schema();
        if self.elsewhere && schema == WHOLE {
            let others = butler_store::backup::tables_of_others(&mut conn, schema).await.map_err(failed)?;
            if !others.is_empty() {
                return Err(shared(&others));
            }
        }
        let now = self.clock.now();
        let draft = Draft::new(&self.folder, &self.butler, now)?;
        let mut snapshot = butler_store::transfer::read::snapshot(&mut conn).await.map_err(failed)?;
        let id = butler_store::backup::export_snapshot(&mut snapshot).await.map_err(failed)?;
        let contents = butler_store::backup::contents(&mut snapshot).await.map_err(failed)?;
        tools.dump(&self.url, schema, &id, draft.path()).await?;
        snapshot.rollback().await.map_err(failed)?;
        draft.publish(Note {
            butler: self.butler.clone(),
            created_at: now,
            program: concat!("butler ", env!("CARGO_PKG_VERSION")).to_owned(),
            schema: schema.to_owned(),
            contents,
        })
    }
}

/// A restore swaps the database as a whole, and with it what is not the butler's.
fn shared(others: &[String]) -> HostError {
    HostError::Failed(format!(
        "this database holds tables that are not this butler's ({}), and a restore would put them back as well: give the \
         butler a schema of its own ([butler.database] schema = \"memory\"; `butler export` and `import` move what it \
         knows), or back up the database with pg_dump",
        others.join(", ")
    ))
}
