//! The common settings of all HTTP clients of the server: a deadline, no redirects, no retries, and trusted
//! certificates.

use std::time::Duration;

use anyhow::Context;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder};
use rustls::pki_types::CertificateDer;

/// A client whose exchanges end after `deadline`. Connecting may take half of it, so that a failed connection differs
/// from a missing response.
pub fn builder(deadline: Duration) -> ClientBuilder {
    // Fails if a cryptography provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .timeout(deadline)
        .connect_timeout(deadline / 2)
        .redirect(Policy::none())
        // The released binary has no HTTP/2; builds for tests do.
        .http1_only()
        .retry(reqwest::retry::never())
        .user_agent(concat!("docket/", env!("CARGO_PKG_VERSION")))
}

/// For https, the client trusts the system's authorities and `authorities`. For plain http it uses no proxy, and needs
/// no system certificates.
pub fn build(
    client: ClientBuilder,
    is_https: bool,
    authorities: &[CertificateDer<'static>],
) -> anyhow::Result<Client> {
    if !is_https {
        return Ok(client.no_proxy().tls_certs_only([]).build()?);
    }
    let authorities = authorities.iter().map(|certificate| Certificate::from_der(certificate));
    client
        .tls_certs_merge(authorities.collect::<Result<Vec<_>, _>>()?)
        .build()
        .context("no certificates to trust: install the system's (ca-certificates), or set DOCKET_CA_FILE")
}
