//! Session lifetimes, the trusted proxies, the limits of connections, and the limits per person.

use std::net::IpAddr;
use std::time::Duration;

use ipnet::IpNet;

use super::error::ConfigError;
use super::setting::{OptionalSetting, number_between, switch, whole_number};
use super::source::Source;

#[derive(Debug, Clone)]
pub struct AccessConfig {
    /// A session ends after this time without use.
    pub session_idle: Duration,
    /// A session ends after this time, used or not.
    pub session_lifetime: Duration,
    /// Proxies whose forwarding headers are trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// The maximum number of open connections in all.
    pub connections: u32,
    /// The maximum number of open connections of one IP that is no trusted proxy.
    pub connections_per_address: u32,
    /// The maximum number of analytics requests an hour for one person.
    pub analytics_per_person: u32,
    /// The maximum number of queued prompts of one person.
    pub queued_per_person: u32,
    /// Whether people who sign in with a password must have a second factor.
    pub require_second_factor: bool,
    /// Whether browsers also use https for subdomains of the public URL.
    pub hsts_subdomains: bool,
}

impl AccessConfig {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        let raw = &source.raw;
        let minutes = raw.session_idle_minutes.parse(number_between(1, 480))?;
        let days = raw.session_days.parse(number_between(1, 30))?;
        Ok(Self {
            session_idle: Duration::from_secs(u64::from(minutes) * 60),
            session_lifetime: Duration::from_secs(u64::from(days) * 24 * 3600),
            trusted_proxies: raw.trusted_proxies.parse(networks)?.unwrap_or_default(),
            connections: raw.connections.parse(whole_number(1))?,
            connections_per_address: raw.connections_per_address.parse(whole_number(1))?,
            analytics_per_person: raw.analytics_per_person.parse(whole_number(1))?,
            queued_per_person: raw.queued_per_person.parse(whole_number(1))?,
            require_second_factor: raw.require_second_factor.parse(switch)?,
            hsts_subdomains: raw.hsts_subdomains.parse(switch)?,
        })
    }
}

impl Default for AccessConfig {
    fn default() -> Self {
        Self {
            session_idle: Duration::from_secs(8 * 3600),
            session_lifetime: Duration::from_secs(7 * 24 * 3600),
            trusted_proxies: Vec::new(),
            connections: 4_096,
            connections_per_address: 512,
            analytics_per_person: 20,
            queued_per_person: 500,
            require_second_factor: false,
            hsts_subdomains: false,
        }
    }
}

/// Parses comma-separated IPs and networks.
fn networks(text: &str) -> Result<Vec<IpNet>, String> {
    let network = |part: &str| {
        part.parse()
            .or_else(|_| part.parse::<IpAddr>().map(IpNet::from))
            .map_err(|_| format!("“{part}” is neither an address nor a network such as 10.0.0.0/8"))
    };
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(network).collect()
}
