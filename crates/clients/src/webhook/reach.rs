//! Whether a receiver accepts connections, for `docket check`. Nothing is sent.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use url::Host;

use super::address::{self, Allowed, shown};
use super::network::{REFUSED, is_public};
use base::config::WebhookConfig;
use model::webhook::WebhookKind;

/// For resolving the name and connecting.
const DEADLINE: Duration = Duration::from_secs(5);

/// Connects to the receiver at `address`, and disconnects. The result names the receiver, without the secret parts of
/// its URL.
pub async fn reach(address: &str, kind: WebhookKind, config: WebhookConfig) -> Result<String, String> {
    let name = shown(address, kind);
    let connected = tokio::time::timeout(DEADLINE, connect(address, Allowed { private: config.private }));
    match connected.await.unwrap_or_else(|_| Err("it does not answer in time".to_owned())) {
        Ok(()) => Ok(name),
        Err(why) => Err(format!("{name}: {why}")),
    }
}

async fn connect(address: &str, allowed: Allowed) -> Result<(), String> {
    let url = address::parse(address, allowed).map_err(|error| error.to_string())?;
    let port = url.port_or_known_default().unwrap_or(443);
    let found: Vec<SocketAddr> = match url.host() {
        Some(Host::Ipv4(ip)) => vec![(ip, port).into()],
        Some(Host::Ipv6(ip)) => vec![(ip, port).into()],
        Some(Host::Domain(name)) => {
            let found = lookup_host((name, port)).await;
            found.map_err(|error| format!("its name does not resolve ({error})"))?.collect()
        }
        None => Vec::new(),
    };
    let usable: Vec<SocketAddr> =
        found.into_iter().filter(|address| allowed.private || is_public(address.ip())).collect();
    if usable.is_empty() {
        return Err(REFUSED.to_owned());
    }
    TcpStream::connect(&usable[..]).await.map(drop).map_err(|error| format!("no connection ({error})"))
}
