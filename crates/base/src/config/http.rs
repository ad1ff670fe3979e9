//! The listen address and the public URL.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use url::{Host, Url};

use super::error::ConfigError;
use super::setting::{OptionalSetting, number_between};
use super::source::Source;

/// In seconds.
const LONGEST_DELAY: u32 = 300;

pub struct Http {
    pub addr: SocketAddr,
    /// `None`: derived from the bound address.
    pub public_url: Option<PublicUrl>,
    /// How long a stopping process continues to serve, until a load balancer has noticed that it is not ready.
    pub shutdown_delay: Duration,
}

/// The origin that browsers see: scheme, host and port, without a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(String);

impl Http {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        let raw = &source.raw;
        Ok(Self {
            addr: configured_address(source)?,
            public_url: raw.public_url.parse(PublicUrl::parse)?,
            shutdown_delay: Duration::from_secs(u64::from(
                raw.shutdown_delay_seconds.parse(number_between(0, LONGEST_DELAY))?,
            )),
        })
    }
}

impl PublicUrl {
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("“{text}” is not an address ({error})"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(format!("“{text}” is not an http or https address"));
        }
        if url.path() != "/"
            || url.query().is_some()
            || url.fragment().is_some()
            || !url.username().is_empty()
        {
            return Err("Docket is served at the root of its host: leave out path, query and user".to_owned());
        }
        Ok(Self(url.origin().ascii_serialization()))
    }

    pub fn of(addr: SocketAddr) -> Self {
        Self(format!("http://{addr}"))
    }

    /// With the name `localhost` for an address of this machine: passkeys work there, and not at an IP address.
    pub fn with_name(addr: SocketAddr) -> Self {
        if addr.ip().is_loopback() {
            Self(format!("http://localhost:{}", addr.port()))
        } else {
            Self::of(addr)
        }
    }

    /// The value browsers send in `Origin`.
    pub fn origin(&self) -> &str {
        &self.0
    }

    /// Whether a `Host` header names this URL. All loopback names are equal. Without a configured URL, a server that
    /// listens on all interfaces accepts any host.
    pub fn is_host(&self, host: &str) -> bool {
        let Ok(own) = Url::parse(&self.0) else { return false };
        let Ok(requested) = Url::parse(&format!("{}://{host}", own.scheme())) else { return false };
        let is_plain = requested.path() == "/"
            && requested.query().is_none()
            && requested.fragment().is_none()
            && requested.username().is_empty();
        let same_port = own.port_or_known_default() == requested.port_or_known_default();
        is_plain
            && (is_unspecified(&own)
                || (same_port
                    && (own.host() == requested.host() || (is_loopback(&own) && is_loopback(&requested)))))
    }

    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn is_unspecified(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_unspecified(),
        Some(Host::Ipv6(address)) => address.is_unspecified(),
        _ => false,
    }
}

/// The configured listen address.
pub fn configured_address(source: &Source) -> Result<SocketAddr, ConfigError> {
    source.raw.addr.parse(listen_address)
}

/// Parses `HOST:PORT`; a name is resolved to its first IP.
pub fn listen_address(text: &str) -> Result<SocketAddr, String> {
    text.to_socket_addrs()
        .ok()
        .and_then(|mut addresses| addresses.next())
        .ok_or_else(|| format!("“{text}” is not HOST:PORT"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_host(public_url: &str, host: &str) -> bool {
        PublicUrl::parse(public_url).expect("an address").is_host(host)
    }

    #[test]
    fn host_header_must_match_the_public_url() {
        for host in ["docket.example", "docket.example:443", "DOCKET.example"] {
            assert!(is_host("https://docket.example", host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "docket.example:3000",
            "docket.example.evil.example",
            "127.0.0.1",
            "me@docket.example",
            "docket.example/x",
            "docket.example?x",
            "docket.example#x",
        ] {
            assert!(!is_host("https://docket.example", host), "{host}");
        }
        for host in ["127.0.0.1:3000", "localhost:3000", "[::1]:3000"] {
            assert!(is_host("http://127.0.0.1:3000", host), "{host}");
        }
        assert!(
            !is_host("http://127.0.0.1:3000", "127.0.0.1") && !is_host("http://127.0.0.1:3000", "a.b:3000")
        );
        assert!(is_host("http://0.0.0.0:3000", "box.lan:80"));
    }

    #[test]
    fn address_of_this_machine_has_a_name() {
        let of = |addr: &str| PublicUrl::with_name(addr.parse().expect("an address")).origin().to_owned();
        assert_eq!(of("127.0.0.1:3000"), "http://localhost:3000");
        assert_eq!(of("[::1]:3000"), "http://localhost:3000");
        assert_eq!(of("192.0.2.1:3000"), "http://192.0.2.1:3000");
    }
}
