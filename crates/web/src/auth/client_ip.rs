//! The client IP of a request. Forwarding headers count only if a trusted proxy sent them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use ipnet::IpNet;

use base::clock::Clock;
use base::config::AccessConfig;
use model::time::Timestamp;
use model::upstream::ForwardingPeer;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The client IP of a request.
#[derive(Debug, Clone, Copy)]
pub struct ClientIp(pub IpAddr);

/// The first untrusted peer that sent forwarding headers. It is probably a proxy that is missing in the configuration,
/// so that all its clients share one IP and its rate limits. Clones share their state.
#[derive(Clone, Default)]
pub struct UnknownProxy(Arc<OnceLock<(IpAddr, Timestamp)>>);

impl UnknownProxy {
    /// Logged once, because any client can cause it.
    fn note(&self, peer: IpAddr, now: Timestamp) {
        if self.0.set((peer, now)).is_ok() {
            tracing::warn!(
                %peer,
                "X-Forwarded-For was ignored, because its sender is not trusted. If it is your proxy, add its address to DOCKET_TRUSTED_PROXIES: \
                 without it all people share one address, and a few wrong passwords keep everybody out"
            );
        }
    }

    pub fn seen(&self) -> Option<ForwardingPeer> {
        self.0.get().map(|(peer, at)| ForwardingPeer { address: peer.to_string(), at: *at })
    }
}

/// The proxies whose forwarding headers count.
#[derive(Clone)]
pub struct Forwarding {
    pub access: Arc<AccessConfig>,
    pub unknown_proxy: UnknownProxy,
    pub clock: Clock,
}

/// Determines the client IP, for all inner layers.
pub async fn identify(State(forwarding): State<Forwarding>, mut request: Request, next: Next) -> Response {
    let trusted = &forwarding.access.trusted_proxies;
    if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>() {
        if request.headers().contains_key(FORWARDED_FOR) && !is_trusted(peer.ip().to_canonical(), trusted) {
            forwarding.unknown_proxy.note(peer.ip().to_canonical(), forwarding.clock.now());
        }
        let client_ip = client(peer.ip(), request.headers(), trusted);
        request.extensions_mut().insert(ClientIp(client_ip));
    }
    next.run(request).await
}

/// The client IP in these request extensions.
pub fn of(extensions: &axum::http::Extensions) -> IpAddr {
    extensions.get().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ClientIp(ip)| *ip)
}

/// Whether `ip` is a configured proxy.
pub fn is_trusted(ip: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(&ip))
}

/// Each proxy appends the IP of its client. So the last IP that is not a trusted proxy is the client; everything to its
/// left may be forged.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    // In bytes: what a client sent in the same line does not make the hops of the proxies unreadable.
    let lines = headers.get_all(FORWARDED_FOR).iter().map(HeaderValue::as_bytes);
    let hops: Vec<&[u8]> = lines.flat_map(|line| line.split(|byte| *byte == b',')).collect();
    let mut client = peer.to_canonical();
    for hop in hops.into_iter().rev() {
        if !is_trusted(client, trusted) {
            break;
        }
        match parsed(hop) {
            Some(ip) => client = ip,
            None => break,
        }
    }
    client
}

/// Parses an IP, with or without a port.
fn parsed(hop: &[u8]) -> Option<IpAddr> {
    let hop = str::from_utf8(hop).ok()?.trim();
    let ip = hop.parse().or_else(|_| hop.parse().map(|with_port: SocketAddr| with_port.ip()));
    ip.ok().map(|ip| ip.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client_of(peer: &str, forwarded: &[&str]) -> String {
        let trusted: Vec<IpNet> =
            ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().expect("a network")).to_vec();
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_bytes(line.as_bytes()).expect("a value"));
        }
        client(peer.parse().expect("an address"), &headers, &trusted).to_string()
    }

    #[test]
    fn forwarding_headers_count_only_from_a_trusted_proxy() {
        assert_eq!(client_of("192.0.2.1", &["198.51.100.7"]), "192.0.2.1");
        assert_eq!(client_of("10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(client_of("::ffff:10.0.0.1", &["198.51.100.7:4711"]), "198.51.100.7");
        assert_eq!(client_of("fd00::1", &["2001:db8::7"]), "2001:db8::7");
        assert_eq!(client_of("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn forged_forwarding_entries_are_ignored() {
        assert_eq!(client_of("10.0.0.1", &["203.0.113.9, 198.51.100.7"]), "198.51.100.7");
        assert_eq!(client_of("10.0.0.1", &["203.0.113.9", "198.51.100.7, 10.0.0.2"]), "198.51.100.7");
        assert_eq!(client_of("10.0.0.1", &["198.51.100.7, nonsense"]), "10.0.0.1");
        assert_eq!(client_of("10.0.0.1", &["10.0.0.3, 10.0.0.2"]), "10.0.0.3");
        assert_eq!(client_of("10.0.0.1", &["\u{e9}, 198.51.100.7"]), "198.51.100.7", "one line for both");
        assert_eq!(client_of("10.0.0.1", &["198.51.100.7, \u{e9}"]), "10.0.0.1");
    }
}
