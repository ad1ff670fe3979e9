//! Receives a response body with a size limit.

use reqwest::Response;

use super::UpstreamError;

/// The maximum size of a body after decompression, in bytes.
pub(super) const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

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

fn broken(error: reqwest::Error) -> UpstreamError {
    if error.is_timeout() {
        UpstreamError::TimedOut
    } else {
        UpstreamError::BadAnswer("the connection broke off".to_owned())
    }
}
