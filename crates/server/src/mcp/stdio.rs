//! MCP over stdin and stdout: one client, one message per line, until stdin ends.

use std::sync::Arc;

use butler_host::access::Access;
use butler_host::butler::Butler;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::profile::Profile;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader};

use super::Handler;
use crate::http::replace_lone_surrogates;

/// Large enough that a typical message does not wait for the session to read it.
const PIPE_BYTES: usize = 64 * 1024;

/// Serves until the client closes stdin. Calls received before that are answered first.
pub async fn serve(host: Arc<Host>, butler: Arc<Butler>, access: Access, profile: Profile) -> Result<(), HostError> {
    let handler = Handler::new(host, butler, Some(access), profile);
    let (from, to) = tokio::io::duplex(PIPE_BYTES);
    // Ends with stdin, or when the session drops its end of the pipe.
    tokio::spawn(forward_lines(BufReader::new(tokio::io::stdin()), to));
    match handler.serve((from, tokio::io::stdout())).await {
        Ok(session) => match session.waiting().await {
            Ok(reason) => {
                tracing::debug!(?reason, "the session ended");
                Ok(())
            }
            Err(error) => Err(HostError::Failed(format!("the session ended abruptly: {error}"))),
        },
        // The client disconnected before it sent anything, as a probe does.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(HostError::Failed(format!("the session could not begin: {error}"))),
    }
}

/// Forwards each message with its lone surrogates replaced.
async fn forward_lines(mut from: impl AsyncBufRead + Unpin, mut to: impl AsyncWrite + Unpin) {
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).await.is_ok_and(|bytes| bytes > 0) {
        if to.write_all(&replace_lone_surrogates(&line)).await.is_err() {
            return;
        }
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_are_forwarded_up_to_the_last_one_without_a_line_break() {
        let mut to = Vec::new();
        forward_lines(&b"{\"a\": \"\\ud83d\"}\n{}"[..], &mut to).await;
        assert_eq!(to, b"{\"a\": \"\\ufffd\"}\n{}");
    }
}
