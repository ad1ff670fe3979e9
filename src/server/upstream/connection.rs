//! Connections to the upstream: timeouts, trusted certificates and proxies. Must not know the key.
//!
//! An https upstream is reached through the proxy in `HTTPS_PROXY` or `ALL_PROXY`, unless `NO_PROXY` exempts it: the
//! proxy only forwards an encrypted connection. Plain http is allowed for this machine only, without a proxy.

use std::error::Error;
use std::time::Duration;

use reqwest::Client;

use crate::server::config::UpstreamConfig;
use crate::server::http_client;

/// Shorter than common keep-alive timeouts of servers, such as five seconds.
const IDLE_CONNECTION: Duration = Duration::from_secs(3);

/// The HTTP client for the upstream, without retries and redirects.
pub(super) fn client(config: &UpstreamConfig) -> anyhow::Result<Client> {
    let client = http_client::builder(config.timeout)
        // A server that closes an idle connection just as a prompt is sent on it leaves its fate unknown.
        .pool_idle_timeout(IDLE_CONNECTION)
        .tcp_nodelay(true);
    // Without https no proxy is used, which would see the key.
    http_client::build(client, config.base_url.scheme() != "http", &config.certificate_authorities)
}

/// Why the connection failed, for the log: the innermost cause is the most specific.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
