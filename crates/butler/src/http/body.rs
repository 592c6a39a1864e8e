//! Request bodies, bounded.

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::Response;
use futures::StreamExt;

use super::reject;

/// Content of one memory is at most 1 MiB; as JSON with escapes it can be some times larger.
pub const BODY_BYTES: usize = 4 * 1024 * 1024;
/// A body that is too large is read on, up to this: a client that still writes when the connection closes sees a reset
/// instead of the answer.
const DRAINED_BYTES: usize = 16 * BODY_BYTES;

pub async fn read_body(body: Body) -> Result<Bytes, Response> {
    let mut stream = body.into_data_stream();
    let mut read = 0;
    let mut kept = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| {
            reject(StatusCode::BAD_REQUEST, "invalid_request", &format!("the body could not be read: {error}"), None)
        })?;
        read += chunk.len();
        if read > DRAINED_BYTES {
            break;
        }
        if read > BODY_BYTES {
            kept = Vec::new();
        } else {
            kept.extend_from_slice(&chunk);
        }
    }
    if read > BODY_BYTES {
        let message = format!("the body is larger than {BODY_BYTES} bytes");
        let hint = "store long content as several memories; one holds at most 1 MiB";
        return Err(reject(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &message, Some(hint)));
    }
    Ok(Bytes::from(kept))
}
