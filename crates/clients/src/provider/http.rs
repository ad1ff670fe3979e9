//! The HTTP client for the provider: like the upstream's, with a deadline, no redirects, and a limited response size.

use std::time::Duration;

use openidconnect::http::Response;
use openidconnect::{HttpRequest, HttpResponse};
use reqwest::Client;
use rustls::pki_types::CertificateDer;
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
    Malformed(#[from] openidconnect::http::Error),
    #[error("a response of more than {MAX_BYTES} bytes")]
    TooLong,
}

/// The HTTP client for a provider with an https issuer, or one on localhost.
pub(super) fn client(is_https: bool, authorities: &[CertificateDer<'static>]) -> anyhow::Result<Client> {
    http_client::build(http_client::builder(DEADLINE), is_https, authorities)
}

/// One exchange, in the form the library requires.
pub(super) async fn exchange(client: Client, request: HttpRequest) -> Result<HttpResponse, ExchangeError> {
    let mut response = client.execute(request.try_into()?).await?;
    let mut built = Response::builder().status(response.status());
    for (name, value) in response.headers() {
        built = built.header(name, value);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_BYTES {
            // The library's error does not contain this one.
            tracing::warn!(limit = MAX_BYTES, "a response of the single sign-on provider is too large");
            return Err(ExchangeError::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(built.body(body)?)
}
