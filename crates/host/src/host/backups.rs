//! The backup directory of a butler, and what a backup needs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Host;
use crate::backup::BackupSource;
use crate::butler::Butler;
use crate::error::HostError;

impl Host {
    /// The directory of a butler's backups. A relative path is resolved against the directory of the butler's file.
    pub fn backup_folder(&self, butler: &Butler) -> PathBuf {
        let config = &butler.config;
        let relative_to_file = |dir: &Path| match config.path.as_deref().and_then(Path::parent) {
            Some(folder) => folder.join(dir),
            None => dir.to_path_buf(),
        };
        let dir = config.file.butler.backup.dir.as_deref().map(relative_to_file);
        dir.unwrap_or_else(|| self.options().data_dir.join("backups")).join(butler.name.as_str())
    }

    /// Everything that a backup of a started butler needs, so that the scheduled job does not depend on the host.
    pub async fn backup_source(&self, butler: &Butler) -> Result<BackupSource, HostError> {
        let database = butler.database().ok_or_else(|| HostError::Failed("the butler has not started".to_owned()))?;
        Ok(BackupSource {
            butler: butler.name.to_string(),
            folder: self.backup_folder(butler),
            database: database.clone(),
            url: self.url(butler).await?,
            external: self.external_url(butler).is_some(),
            bin_dir: self.bin_dir().await,
            runtime: self.options().postgres(),
            clock: Arc::clone(self.clock()),
        })
    }
}
