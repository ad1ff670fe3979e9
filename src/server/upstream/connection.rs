//! How the upstream is reached: deadlines, whom to trust, and proxies. Must not know the key.
//!
//! An https upstream is reached through the proxy that `HTTPS_PROXY` or `ALL_PROXY` names unless `NO_PROXY` excepts it: the
//! proxy passes on an encrypted connection. Plain http goes to this machine only, and never through a proxy.

use std::error::Error;
use std::time::Duration;

use reqwest::Client;

use crate::server::config::UpstreamConfig;
use crate::server::http_client;

/// Shorter than servers keep idle connections open; five seconds is a common default.
const IDLE_CONNECTION: Duration = Duration::from_secs(3);

/// The HTTP client for an upstream: no retries, no redirects.
pub(super) fn client(config: &UpstreamConfig) -> anyhow::Result<Client> {
    let client = http_client::builder(config.timeout)
        // A server that closes an idle connection just as a prompt is sent on it leaves its fate unknown.
        .pool_idle_timeout(IDLE_CONNECTION)
        .tcp_nodelay(true);
    // Without https no proxy is used, which would see the key.
    http_client::build(client, config.base_url.scheme() != "http", &config.certificate_authorities)
}

/// Why no connection was made, for the log: the innermost cause, which says the most.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
