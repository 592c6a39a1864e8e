//! Reads request bodies within a size and a time limit.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures::StreamExt;

use super::{HttpCode, reject};

/// The content of one memory is at most 1 MiB; JSON escapes can make it several times larger.
pub const BODY_BYTES: usize = 4 * 1024 * 1024;
/// A body that is too large is still read, but not kept, up to this many times the limit: a client that is writing when
/// the connection closes sees a reset instead of the response.
const DRAINED: usize = 16;

/// Reads the whole body. The error is the response to send: the body is too large, too slow or broken.
pub async fn read_body(body: Body, timeout: Duration) -> Result<Bytes, Response> {
    read_body_up_to(body, BODY_BYTES, timeout).await
}

/// Reads a body of at most `limit` bytes, and never keeps more.
pub async fn read_body_up_to(body: Body, limit: usize, timeout: Duration) -> Result<Bytes, Response> {
    tokio::time::timeout(timeout, read(body, limit)).await.unwrap_or_else(|_| Err(slow(timeout)))
}

/// Closes the connection, because the rest of the body may still arrive on it.
fn slow(timeout: Duration) -> Response {
    let message = format!("the request body did not arrive within {} s", timeout.as_secs_f64());
    let hint = "send the request again; `request_timeout_s` in [server] sets the limit";
    let mut response = reject(StatusCode::REQUEST_TIMEOUT, HttpCode::Timeout, &message, Some(hint));
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

async fn read(body: Body, limit: usize) -> Result<Bytes, Response> {
    let mut stream = body.into_data_stream();
    let mut read = 0;
    let mut kept = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| {
            reject(
                StatusCode::BAD_REQUEST,
                HttpCode::InvalidRequest,
                &format!("cannot read the request body: {error}"),
                None,
            )
        })?;
        read += chunk.len();
        if read > DRAINED * limit {
            break;
        }
        if read > limit {
            kept = Vec::new();
        } else {
            kept.extend_from_slice(&chunk);
        }
    }
    if read > limit {
        let message = format!("the request body is larger than {limit} bytes");
        // Smaller limits are for bodies without memories.
        let hint = (limit == BODY_BYTES).then_some("split long content into several memories of at most 1 MiB each");
        return Err(reject(StatusCode::PAYLOAD_TOO_LARGE, HttpCode::TooLarge, &message, hint));
    }
    Ok(Bytes::from(kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit() {
        let second = Duration::from_secs(1);
        assert_eq!(read_body_up_to(Body::from("abcd"), 4, second).await.unwrap(), "abcd");
        let refused = read_body_up_to(Body::from("abcde"), 4, second).await.unwrap_err();
        assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
        let endless = Body::from_stream(futures::stream::repeat_with(|| Ok::<_, std::io::Error>("abcde")));
        let refused = read_body_up_to(endless, 4, second).await.unwrap_err();
        assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE, "it stops reading");
    }
}
