//! Connections to the upstream: timeouts, trusted certificates and proxies.
//!
//! An https upstream is reached through the proxy in `HTTPS_PROXY` or `ALL_PROXY`, unless `NO_PROXY` exempts it: the
//! proxy only forwards an encrypted connection. Plain http is allowed for this machine only, without a proxy.

use std::error::Error;
use std::time::Duration;

use reqwest::Client;

use base::config::UpstreamConfig;
use base::http_client;

/// Shorter than common keep-alive timeouts of servers, such as five seconds.
const IDLE_CONNECTION: Duration = Duration::from_secs(3);

/// The HTTP client for the upstream, without retries and redirects.
pub(super) fn client(config: &UpstreamConfig) -> anyhow::Result<Client> {
    let client = http_client::builder(config.timeout)
        // If a server closes an idle connection while a prompt is being sent on it, the outcome is unknown.
        .pool_idle_timeout(IDLE_CONNECTION)
        .tcp_nodelay(true);
    // Plain http uses no proxy, which would see the key.
    http_client::build(client, config.base_url.scheme() != "http", &config.certificate_authorities)
}

/// The cause of a connection failure, for the log: the innermost one is the most specific.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
