//! The listen address, and the address people see.

use std::net::{SocketAddr, ToSocketAddrs};

use url::{Host, Url};

use super::source::{ConfigError, Source};

pub struct Http {
    pub addr: SocketAddr,
    /// `None`: derived from the bound address.
    pub public_url: Option<PublicUrl>,
}

/// The origin that browsers see: scheme, host and port, without a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(String);

impl Http {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        Ok(Self {
            addr: source.or_default("addr", listen_address)?,
            public_url: source.optional("public_url", PublicUrl::parse)?,
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

    /// The value browsers send in `Origin`.
    pub fn origin(&self) -> &str {
        &self.0
    }

    /// Whether the host is a loopback address.
    pub fn is_loopback(&self) -> bool {
        Url::parse(&self.0).is_ok_and(|url| match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        })
    }

    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }
}

/// Parses `HOST:PORT`; a name is resolved to its first address.
pub fn listen_address(text: &str) -> Result<SocketAddr, String> {
    text.to_socket_addrs()
        .ok()
        .and_then(|mut addresses| addresses.next())
        .ok_or_else(|| format!("“{text}” is not HOST:PORT"))
}
