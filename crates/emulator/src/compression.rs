//! Compressed responses, for clients that accept them.

use axum::body::{Body, to_bytes};
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Whether a client accepts gzip.
pub(super) fn is_accepted(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = accepted.flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim().eq_ignore_ascii_case("gzip") && !parameters.trim().eq_ignore_ascii_case("q=0")
    })
}

/// The response with a compressed body.
pub(super) async fn compressed(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    // The emulator builds its responses in memory; reading them cannot fail.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    Response::from_parts(parts, Body::from(packed(&body)))
}

pub(super) fn packed(body: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = packer.write_all(body);
    packer.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_accepts_gzip_only_if_it_says_so() {
        for (accepted, expected) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("br", false),
            ("x-gzipped", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(accepted))]);
            assert_eq!(is_accepted(&headers), expected, "{accepted}");
        }
        assert!(!is_accepted(&HeaderMap::new()));
    }
}
