//! Blocks webhooks to private networks: resolves names itself, and connects to public IPs only.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use thiserror::Error;

pub(super) const REFUSED: &str = "The address leads into a private network. Ask the administrator of this server to allow that (DOCKET_WEBHOOK_PRIVATE=true).";

/// The name resolves to private IPs only.
#[derive(Debug, Error)]
#[error("{REFUSED}")]
pub(super) struct Refused;

/// The system's resolver, restricted to public IPs.
pub(super) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err(Refused.into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

/// Whether an IP belongs to the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        // Carrier-grade NAT; benchmarking; protocol assignments; reserved, including broadcast.
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (18..20).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || a >= 240)
}

/// Global unicast addresses, except special-purpose ones and those that embed an IPv4 address.
fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    let [a, b, ..] = address.segments();
    let is_global = (a & 0xe000) == 0x2000;
    let is_special =
        (a == 0x2001 && (b < 0x0200 || b == 0x0db8)) || a == 0x2002 || (a == 0x3fff && b < 0x1000);
    is_global && !is_special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_purpose_ips_are_not_public() {
        for public in ["1.1.1.1", "8.8.8.8", "100.63.0.1", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8"]
        {
            assert!(public.parse().is_ok_and(is_public), "{public}");
        }
        for private in [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "ff02::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
        ] {
            assert!(private.parse().is_ok_and(|address| !is_public(address)), "{private}");
        }
    }

    #[tokio::test]
    async fn name_that_resolves_to_loopback_is_refused() {
        let name: Name = "localhost".parse().unwrap_or_else(|_| panic!("a name"));
        let refused = PublicOnly.resolve(name).await.err().unwrap_or_else(|| panic!("localhost is public"));
        assert!(refused.is::<Refused>());
    }
}
