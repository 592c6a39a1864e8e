//! Reads request bodies within a size and a time limit.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures::StreamExt;

use super::reject;

/// The content of one memory is at most 1 MiB; JSON escapes can make it several times larger.
pub const BODY_BYTES: usize = 4 * 1024 * 1024;
/// A body that is too large is still read up to this size: a client that is writing when the connection closes sees a
/// reset instead of the response.
const DRAINED_BYTES: usize = 16 * BODY_BYTES;

/// Reads the whole body. The error is the response to send: the body is too large, too slow or broken.
pub async fn read_body(body: Body, timeout: Duration) -> Result<Bytes, Response> {
    tokio::time::timeout(timeout, read(body)).await.unwrap_or_else(|_| Err(slow(timeout)))
}

/// Closes the connection, because the rest of the body may still arrive on it.
fn slow(timeout: Duration) -> Response {
    let message = format!("the request body did not arrive within {} s", timeout.as_secs_f64());
    let hint = "send the request again; `request_timeout_s` in [server] sets the limit";
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
            reject(StatusCode::BAD_REQUEST, "invalid_request", &format!("cannot read the request body: {error}"), None)
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
        let message = format!("the request body is larger than {BODY_BYTES} bytes");
        let hint = "split long content into several memories of at most 1 MiB each";
        return Err(reject(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &message, Some(hint)));
    }
    Ok(Bytes::from(kept))
}
