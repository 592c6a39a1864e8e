//! Whole-database backups with PostgreSQL's own tools, each with a note of what it holds.

mod files;
mod restore;
mod tools;

use std::path::PathBuf;

use domain::Timestamp;
use serde::{Deserialize, Serialize};
use store::backup::Contents;

use crate::butler::Butler;
use crate::error::HostError;
use crate::host::Host;

pub use files::{Stored, list, named};
pub use restore::{restore, verify};

use files::Draft;
use tools::Tools;

/// What was dumped, written beside the dump: a restore is compared with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    pub butler: String,
    pub created_at: Timestamp,
    pub program: String,
    pub schema: String,
    #[serde(flatten)]
    pub contents: Contents,
}

/// Where a butler's backups are.
pub fn folder(host: &Host, butler: &Butler) -> PathBuf {
    host.options().data_dir.join("backups").join(butler.name.as_str())
}

/// Dumps a butler that has started: exactly what the note says, whoever writes meanwhile.
pub async fn create(host: &Host, butler: &Butler) -> Result<Stored, HostError> {
    let database = butler.database().ok_or_else(|| HostError::Failed("the butler has not started".to_owned()))?;
    let failed = |source| HostError::Store { butler: butler.name.to_string(), source };
    let tools = Tools::find(host).await?;
    let now = host.clock().now();
    let draft = Draft::new(&folder(host, butler), butler.name.as_str(), now)?;
    let mut conn = database.owner().await.map_err(failed)?;
    let mut snapshot = store::transfer::read::snapshot(&mut conn).await.map_err(failed)?;
    let id = store::backup::export_snapshot(&mut snapshot).await.map_err(failed)?;
    let contents = store::backup::contents(&mut snapshot).await.map_err(failed)?;
    let url = host.url(butler).await?;
    tools.dump(&url, database.schema(), &id, draft.path()).await?;
    snapshot.rollback().await.map_err(failed)?;
    let note = Note {
        butler: butler.name.to_string(),
        created_at: now,
        program: concat!("butler ", env!("CARGO_PKG_VERSION")).to_owned(),
        schema: database.schema().to_owned(),
        contents,
    };
    draft.publish(note)
}
