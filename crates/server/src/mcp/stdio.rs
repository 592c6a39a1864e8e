//! MCP over stdin and stdout: one client, one message a line, until stdin ends.

use std::sync::Arc;

use butler_host::access::Access;
use butler_host::butler::Butler;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::profile::Profile;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use super::Handler;

/// Returns when the client closed stdin; the calls it had made by then are answered first.
pub async fn serve(host: Arc<Host>, butler: Arc<Butler>, access: Access, profile: Profile) -> Result<(), HostError> {
    let handler = Handler::new(host, butler, Some(access), profile);
    match handler.serve(rmcp::transport::io::stdio()).await {
        Ok(session) => match session.waiting().await {
            Ok(reason) => {
                tracing::debug!(?reason, "the session ended");
                Ok(())
            }
            Err(error) => Err(HostError::Failed(format!("the session ended abruptly: {error}"))),
        },
        // A client that goes before it said anything, as a probe does.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(HostError::Failed(format!("the session could not begin: {error}"))),
    }
}
