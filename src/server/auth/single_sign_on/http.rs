//! The HTTP client for the provider: like the upstream's, with a deadline, no redirects, and a limited answer.

use std::time::Duration;

use anyhow::Context;
use openidconnect::http::Response;
use openidconnect::{HttpRequest, HttpResponse};
use reqwest::{Certificate, Client};
use rustls::pki_types::CertificateDer;
use thiserror::Error;

/// The deadline of one whole exchange.
const DEADLINE: Duration = Duration::from_secs(10);
/// The largest answer that is read, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// Why there is no answer. The text is for the log only.
#[derive(Debug, Error)]
pub(super) enum ExchangeError {
    #[error("{0}")]
    Exchange(#[from] reqwest::Error),
    #[error("{0}")]
    Malformed(#[from] openidconnect::http::Error),
    #[error("an answer of more than {MAX_BYTES} bytes")]
    TooLong,
}

/// The HTTP client for a provider with an https issuer, or one on this machine.
pub(super) fn client(is_https: bool, authorities: &[CertificateDer<'static>]) -> anyhow::Result<Client> {
    // Fails if a cryptography provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .timeout(DEADLINE)
        .connect_timeout(DEADLINE / 2)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .user_agent(concat!("docket/", env!("CARGO_PKG_VERSION")));
    if !is_https {
        return Ok(client.no_proxy().tls_certs_only([]).build()?);
    }
    let authorities = authorities.iter().map(|certificate| Certificate::from_der(certificate));
    client
        .tls_certs_merge(authorities.collect::<Result<Vec<_>, _>>()?)
        .build()
        .context("no certificates to trust: install the system's (ca-certificates), or set DOCKET_CA_FILE")
}

/// One exchange, in the form the library requires.
pub(super) async fn exchange(client: Client, request: HttpRequest) -> Result<HttpResponse, ExchangeError> {
    let mut answer = client.execute(request.try_into()?).await?;
    let mut built = Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        built = built.header(name, value);
    }
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        if body.len() + chunk.len() > MAX_BYTES {
            return Err(ExchangeError::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(built.body(body)?)
}
