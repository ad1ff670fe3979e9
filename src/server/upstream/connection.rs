//! Connections to the upstream: timeouts, trusted certificates and proxies. Must not know the key.
//!
//! An https upstream is reached through the proxy in `HTTPS_PROXY` or `ALL_PROXY`, unless `NO_PROXY` exempts it: the
//! proxy only forwards an encrypted connection. Plain http is allowed for this machine only, without a proxy.

use std::error::Error;
use std::time::Duration;

use anyhow::Context;
use reqwest::{Certificate, Client};

use crate::server::config::UpstreamConfig;

/// Shorter than common keep-alive timeouts of servers, such as five seconds.
const IDLE_CONNECTION: Duration = Duration::from_secs(3);

/// The HTTP client for the upstream, without retries and redirects.
pub(super) fn client(config: &UpstreamConfig) -> anyhow::Result<Client> {
    // Fails if a provider is installed already, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .timeout(config.timeout)
        // Half the time: a failed connection must be distinguishable from a missing response.
        .connect_timeout(config.timeout / 2)
        // If a server closes an idle connection just as a prompt is sent on it, the outcome is unknown.
        .pool_idle_timeout(IDLE_CONNECTION)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .tcp_nodelay(true)
        .user_agent(concat!("docket/", env!("CARGO_PKG_VERSION")));
    if config.base_url.scheme() == "http" {
        // No proxy may see the key, and no certificates are needed.
        return Ok(client.no_proxy().tls_certs_only([]).build()?);
    }
    let authorities =
        config.certificate_authorities.iter().map(|certificate| Certificate::from_der(certificate));
    client
        .tls_certs_merge(authorities.collect::<Result<Vec<_>, _>>()?)
        .build()
        .context("no certificates to trust: install the system's (ca-certificates), or set DOCKET_CA_FILE")
}

/// Why the connection failed, for the log: the innermost cause is the most specific.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
