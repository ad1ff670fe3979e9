//! Limits of open connections, in all and per IP, and of the time without progress. IPv6 addresses count as their /64.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use parking_lot::{Mutex, MutexGuard};

use crate::auth::client_ip::is_trusted;
use base::config::AccessConfig;
use base::waits::Waits;

/// Clones share their state.
#[derive(Clone)]
pub struct Connections {
    limits: Arc<Limits>,
    /// How long a client may stop reading a response.
    pub(super) unread: Duration,
}

struct Limits {
    all: usize,
    per_address: usize,
    /// Proxies have no limit of their own, because many people share their IP.
    proxies: Vec<IpNet>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    all: usize,
    addresses: HashMap<IpAddr, usize>,
    /// Whether the log already reports the limit.
    is_logged: bool,
}

/// A slot for one connection, freed on drop.
pub(super) struct Slot {
    limits: Connections,
    address: IpAddr,
}

impl Connections {
    pub fn limited_by(access: &AccessConfig) -> Self {
        Self::new(
            access.connections as usize,
            access.connections_per_address as usize,
            access.trusted_proxies.clone(),
        )
    }

    pub fn unlimited() -> Self {
        Self::new(usize::MAX, usize::MAX, Vec::new())
    }

    fn new(all: usize, per_address: usize, proxies: Vec<IpNet>) -> Self {
        let limits = Arc::new(Limits { all, per_address, proxies, open: Mutex::default() });
        Self { limits, unread: Waits::default().unread }
    }

    pub fn with_waits(self, waits: Waits) -> Self {
        Self { unread: waits.unread, ..self }
    }

    /// A slot for a connection of `peer`, if one is free.
    pub(super) fn admit(&self, peer: IpAddr) -> Option<Slot> {
        let peer = peer.to_canonical();
        let per_address =
            if is_trusted(peer, &self.limits.proxies) { usize::MAX } else { self.limits.per_address };
        let address = match peer {
            IpAddr::V4(_) => peer,
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from(u128::from(address) >> 64 << 64)),
        };
        let mut open = self.lock();
        let of_address = open.addresses.get(&address).copied().unwrap_or_default();
        if open.all >= self.limits.all || of_address >= per_address {
            if !open.is_logged {
                open.is_logged = true;
                tracing::warn!(all = open.all, %peer, of_address, "too many connections; some are refused");
            }
            return None;
        }
        open.all += 1;
        open.addresses.insert(address, of_address + 1);
        Some(Slot { limits: self.clone(), address })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.limits.open.lock()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.limits.lock();
        open.all -= 1;
        // The next flood is logged again.
        open.is_logged &= open.all > 0;
        if let Some(count) = open.addresses.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.addresses.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn connections_are_limited_per_ip_and_in_all() {
        let limits = Connections::new(5, 2, vec!["10.0.0.0/8".parse().expect("a network")]);
        let of = |peer: &str| limits.admit(address(peer));
        let mut open = vec![of("192.0.2.1").expect("first"), of("::ffff:192.0.2.1").expect("second")];
        assert!(of("192.0.2.1").is_none());
        open.extend([of("2001:db8::1").expect("first"), of("2001:db8::2").expect("second")]);
        assert!(of("2001:db8::3").is_none(), "one network");
        open.push(of("192.0.2.2").expect("another address"));
        assert!(of("192.0.2.3").is_none(), "five are open");
        drop(open.remove(0));
        open.push(of("192.0.2.1").expect("a connection was closed"));
        open.clear();
        for _ in 0..5 {
            open.push(of("10.0.0.1").expect("a proxy has no limit of its own"));
        }
        assert!(of("10.0.0.1").is_none());
        open.clear();
        let left = limits.lock();
        assert!(left.all == 0 && left.addresses.is_empty());
    }
}
