//! Authentication. Stores only a digest of the key, so that no other module can return or log the key.

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use super::Emulator;
use super::refusal::Refusal;

/// SHA-256 of the accepted key. The time to compare digests reveals nothing about the key.
pub(super) struct KeyDigest([u8; 32]);

impl KeyDigest {
    pub(super) fn of(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }

    pub(super) fn opens_for(&self, headers: &HeaderMap) -> bool {
        bearer(headers).is_some_and(|key| Self::of(key).0 == self.0)
    }
}

/// Rejects a request without the key before its body is read.
pub(super) async fn require_key(State(emulator): State<Emulator>, request: Request, next: Next) -> Response {
    if emulator.state.key.opens_for(request.headers()) {
        next.run(request).await
    } else {
        Refusal::wrong_key().into_response()
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, key) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn opens(authorization: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_static(authorization));
        KeyDigest::of("mint_a").opens_for(&headers)
    }

    #[test]
    fn only_the_complete_bearer_key_is_accepted() {
        assert!(opens("Bearer mint_a"));
        assert!(opens("bearer mint_a"));
        assert!(!opens("Bearer mint_"));
        assert!(!opens("Bearer mint_ab"));
        assert!(!opens("Basic mint_a"));
        assert!(!opens("mint_a"));
        assert!(!KeyDigest::of("mint_a").opens_for(&HeaderMap::new()));
    }
}
