//! The HTTP client for the provider: like the upstream's, with a deadline, no redirects, and a limited response size.

use std::time::Duration;

use oauth2::http::Response;
use oauth2::{HttpRequest, HttpResponse};
use reqwest::{Client, Request, StatusCode};
use rustls::pki_types::CertificateDer;
use serde::de::DeserializeOwned;
use thiserror::Error;

use base::http_client;

/// The deadline of one whole exchange.
const DEADLINE: Duration = Duration::from_secs(10);
/// The maximum size of a response, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// Why there is no response. The text is for the log only.
#[derive(Debug, Error)]
pub(super) enum ExchangeError {
    #[error("{0}")]
    Exchange(#[from] reqwest::Error),
    #[error("{0}")]
    Malformed(#[from] oauth2::http::Error),
    #[error("a response of more than {MAX_BYTES} bytes")]
    TooLong,
    #[error("status {0}")]
    Status(StatusCode),
    /// Without what the response has instead.
    #[error("a response that is not the expected JSON, at line {} column {}", .0.line(), .0.column())]
    Unreadable(serde_json::Error),
}

/// The HTTP client for a provider with an https issuer, or one on localhost.
pub(super) fn client(is_https: bool, authorities: &[CertificateDer<'static>]) -> anyhow::Result<Client> {
    http_client::build(http_client::builder(DEADLINE), is_https, authorities)
}

/// One exchange, in the form that the library for OAuth requires.
pub(super) async fn exchange(client: Client, request: HttpRequest) -> Result<HttpResponse, ExchangeError> {
    let response = client.execute(request.try_into()?).await?;
    let mut built = Response::builder().status(response.status());
    for (name, value) in response.headers() {
        built = built.header(name, value);
    }
    Ok(built.body(body(response).await?)?)
}

/// The JSON of a response with a status of success.
pub(super) async fn json<T: DeserializeOwned>(client: &Client, request: Request) -> Result<T, ExchangeError> {
    let response = client.execute(request).await?;
    if !response.status().is_success() {
        return Err(ExchangeError::Status(response.status()));
    }
    serde_json::from_slice(&body(response).await?).map_err(ExchangeError::Unreadable)
}

async fn body(mut response: reqwest::Response) -> Result<Vec<u8>, ExchangeError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_BYTES {
            // The library's error does not contain this one.
            tracing::warn!(limit = MAX_BYTES, "a response of the single sign-on provider is too large");
            return Err(ExchangeError::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
