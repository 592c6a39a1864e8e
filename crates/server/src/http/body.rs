//! Request bodies, bounded.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures::StreamExt;

use super::reject;

/// Content of one memory is at most 1 MiB; as JSON with escapes it can be some times larger.
pub const BODY_BYTES: usize = 4 * 1024 * 1024;
/// A body that is too large is read on, up to this: a client that still writes when the connection closes sees a reset
/// instead of the answer.
const DRAINED_BYTES: usize = 16 * BODY_BYTES;

/// All of it, within the time that it may take to arrive.
pub async fn read_body(body: Body, patience: Duration) -> Result<Bytes, Response> {
    tokio::time::timeout(patience, read(body)).await.unwrap_or_else(|_| Err(slow(patience)))
}

/// The connection ends with the answer: what is still to come is not waited for.
fn slow(patience: Duration) -> Response {
    let message = format!("the body did not arrive within {} s", patience.as_secs_f64());
    let hint = "send it again in one go; `request_timeout_s` in [server] is how long it may take";
    let mut response = reject(StatusCode::REQUEST_TIMEOUT, "timeout", &message, Some(hint));
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

async fn read(body: Body) -> Result<Bytes, Response> {
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
