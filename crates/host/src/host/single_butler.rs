//! Starts one butler for a single command, with the model only if the command embeds text.

use std::sync::Arc;

use butler_fetch::Progress;

use super::Host;
use crate::butler::Butler;
use crate::error::HostError;

impl Host {
    /// Like [`Host::start`], for one butler. Without `embeds`, the engine loads its model only if a call needs it.
    pub async fn start_one(&self, butler: &Butler, embeds: bool, progress: Arc<dyn Progress>) -> Result<(), HostError> {
        let model = async {
            if embeds {
                self.fetch_model(Arc::clone(&progress)).await?;
                self.engine().warm_up().await?;
            }
            Ok(())
        };
        let database = async {
            if self.external_url(butler).is_none() {
                self.start_private(Arc::clone(&progress)).await?;
            }
            self.start_butler(butler).await
        };
        self.finish_start(tokio::try_join!(model, database).map(drop))
    }
}
