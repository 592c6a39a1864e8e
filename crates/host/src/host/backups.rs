//! Where a butler's backups are, and what making one takes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Host;
use crate::backup::Source;
use crate::butler::Butler;
use crate::error::HostError;

impl Host {
    /// The folder of a butler's backups.
    pub fn backup_folder(&self, butler: &Butler) -> PathBuf {
        let config = &butler.config;
        let beside_the_file = |dir: &Path| match config.path.as_deref().and_then(Path::parent) {
            Some(folder) => folder.join(dir),
            None => dir.to_path_buf(),
        };
        let dir = config.file.butler.backup.dir.as_deref().map(beside_the_file);
        dir.unwrap_or_else(|| self.options().data_dir.join("backups")).join(butler.name.as_str())
    }

    /// What a backup of a started butler needs; a schedule keeps it and works without the host.
    pub async fn backup_source(&self, butler: &Butler) -> Result<Source, HostError> {
        let database = butler.database().ok_or_else(|| HostError::Failed("the butler has not started".to_owned()))?;
        Ok(Source {
            butler: butler.name.to_string(),
            folder: self.backup_folder(butler),
            database: database.clone(),
            url: self.url(butler).await?,
            elsewhere: self.own_url(butler).is_some(),
            bin_dir: self.bin_dir().await,
            runtime: self.options().postgres(),
            clock: Arc::clone(self.clock()),
        })
    }
}
