//! The versions of responses, for clients that repeat a request: `ETag`, `If-None-Match` and status 304.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use data_encoding::BASE64URL_NOPAD;
use headers::{ETag, HeaderMapExt};
use sha2::{Digest, Sha256};
use utoipa::{IntoParams, IntoResponses};

use crate::request::problem::Problem;
use model::error::AppError;

/// The version of a response. It is weak: it does not depend on the time at which Docket last queried the code host.
pub(super) struct Version(ETag);

/// The versions that a client has, from `If-None-Match`.
pub(super) struct KnownVersions(Option<headers::IfNoneMatch>);

/// The header `If-None-Match`.
#[derive(IntoParams)]
#[into_params(names("If-None-Match"), parameter_in = Header)]
pub(super) struct IfNoneMatch(
    /// The `ETag` of an earlier response.
    #[expect(dead_code, reason = "describes the header that KnownVersions reads")]
    #[param(value_type = String, required = false)]
    Option<String>,
);

/// The response without a body.
#[derive(IntoResponses)]
#[response(status = 304, description = "The response would be the one with this `ETag`.", headers(("ETag" = String, description = "One of `If-None-Match`.")))]
pub(super) struct NotModified;

impl Version {
    /// The version with these properties, in this version of Docket.
    pub(super) fn of(properties: &[&str]) -> Result<Self, Problem> {
        let mut digest = Sha256::new_with_prefix(env!("CARGO_PKG_VERSION"));
        for property in properties {
            digest.update([0]);
            digest.update(property);
        }
        let tag = format!("W/\"{}\"", BASE64URL_NOPAD.encode(&digest.finalize()[..16]));
        tag.parse().map(Self).map_err(|_| AppError::internal().into())
    }

    /// The response without a body.
    pub(super) fn not_modified(self) -> Response {
        let mut response = self.mark(StatusCode::NOT_MODIFIED.into_response());
        // As the response that it stands for, which may be compressed.
        let varies = HeaderValue::from_static("accept-encoding");
        response.headers_mut().insert(header::VARY, varies);
        response
    }

    /// The response with this version. A client may store it, and revalidates it before each use.
    pub(super) fn mark(self, mut response: Response) -> Response {
        response.headers_mut().typed_insert(self.0);
        let caching = HeaderValue::from_static("private, no-cache");
        response.headers_mut().insert(header::CACHE_CONTROL, caching);
        response
    }
}

impl KnownVersions {
    pub(super) fn has(&self, version: &Version) -> bool {
        self.0.as_ref().is_some_and(|known| !known.precondition_passes(&version.0))
    }
}

impl<S: Sync> FromRequestParts<S> for KnownVersions {
    type Rejection = Infallible;

    /// A header that is no list of versions names none.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.headers.typed_get()))
    }
}
