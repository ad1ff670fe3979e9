//! How the upstream is reached: deadlines, whom to trust, and proxies. Must not know the key.
//!
//! An https upstream is reached through the proxy that `HTTPS_PROXY` or `ALL_PROXY` names unless `NO_PROXY` excepts it: the
//! proxy passes on an encrypted connection. Plain http goes to this machine only, and never through a proxy.

use std::error::Error;
use std::time::Duration;

use anyhow::Context;
use reqwest::{Certificate, Client};

use crate::server::config::UpstreamConfig;

/// Shorter than servers keep idle connections open; five seconds is a common default.
const IDLE_CONNECTION: Duration = Duration::from_secs(3);

/// The HTTP client for an upstream: no retries, no redirects.
pub(super) fn client(config: &UpstreamConfig) -> anyhow::Result<Client> {
    // A second call finds a provider installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .timeout(config.timeout)
        // A connection that takes this long was never made: told apart from an answer that never came.
        .connect_timeout(config.timeout / 2)
        // A server that closes an idle connection just as a prompt is sent on it leaves its fate unknown.
        .pool_idle_timeout(IDLE_CONNECTION)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .tcp_nodelay(true)
        .user_agent(concat!("docket/", env!("CARGO_PKG_VERSION")));
    if config.base_url.scheme() == "http" {
        // No proxy must see the key on the way, and a machine without certificates will do.
        return Ok(client.no_proxy().tls_certs_only([]).build()?);
    }
    let authorities =
        config.certificate_authorities.iter().map(|certificate| Certificate::from_der(certificate));
    client
        .tls_certs_merge(authorities.collect::<Result<Vec<_>, _>>()?)
        .build()
        .context("no certificates to trust: install the system's (ca-certificates), or set DOCKET_CA_FILE")
}

/// Why no connection was made, for the log: the innermost cause, which says the most.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
