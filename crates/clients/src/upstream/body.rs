//! Receives a response body with a size limit.

use std::time::Duration;

use reqwest::Response;

use super::UpstreamError;

/// The maximum size of a body after decompression, in bytes.
pub(super) const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

/// How long the body of an error may take.
const EXPLANATION_TIMEOUT: Duration = Duration::from_secs(3);

/// The complete body, or an error as soon as it exceeds [`MAX_BODY_BYTES`].
pub(super) async fn read(mut response: Response) -> Result<Vec<u8>, UpstreamError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            return Err(UpstreamError::BadAnswer(format!("more than {MAX_BODY_BYTES} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The body of an error, as far as it arrives soon. The status decides what to do, and that must not wait.
pub(super) async fn explanation(response: Response) -> Vec<u8> {
    match tokio::time::timeout(EXPLANATION_TIMEOUT, read(response)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) | Err(_) => Vec::new(),
    }
}

fn broken(error: reqwest::Error) -> UpstreamError {
    if error.is_timeout() {
        UpstreamError::TimedOut
    } else {
        UpstreamError::BadAnswer("the connection broke off".to_owned())
    }
}
