//! One butler for one command: nothing else is started, and the model only if something will be embedded.

use std::sync::Arc;

use butler_fetch::Progress;

use super::Host;
use crate::butler::Butler;
use crate::error::HostError;

impl Host {
    /// Like [`Host::start`], for one butler. Without `embeds` the engine loads its model if a call needs it after all.
    pub async fn start_one(&self, butler: &Butler, embeds: bool, progress: Arc<dyn Progress>) -> Result<(), HostError> {
        let model = async {
            if embeds {
                self.fetch_model(Arc::clone(&progress)).await?;
                self.engine().warm_up().await?;
            }
            Ok(())
        };
        let database = async {
            if self.own_url(butler).is_none() {
                self.start_private(Arc::clone(&progress)).await?;
            }
            self.start_butler(butler).await
        };
        self.settled_with(tokio::try_join!(model, database).map(drop))
    }
}
