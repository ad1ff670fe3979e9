//! Access to `/metrics`, and its listener.

use std::net::{Ipv4Addr, SocketAddr};

use secrecy::{ExposeSecret, SecretString};

use super::error::ConfigError;
use super::http::listen_address;
use super::setting::{OptionalSetting, secret_in_file};
use super::source::Source;

/// A shorter token could be guessed.
const TOKEN_MIN: usize = 24;

#[derive(Default)]
pub struct MetricsConfig {
    /// The address of a separate listener for `/metrics`, which requires no token.
    pub addr: Option<SocketAddr>,
    /// The token that the main listener requires for `/metrics`.
    pub token: Option<SecretString>,
}

impl MetricsConfig {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        let raw = &source.raw;
        Ok(Self { addr: raw.metrics_addr.parse(address)?, token: raw.metrics_token_file.parse(token)? })
    }
}

/// `HOST:PORT`, or only a port, on the loopback interface.
fn address(text: &str) -> Result<SocketAddr, String> {
    match text.trim_start_matches(':').parse::<u16>() {
        Ok(port) => Ok((Ipv4Addr::LOCALHOST, port).into()),
        Err(_) => listen_address(text),
    }
}

fn token(path: &str) -> Result<SecretString, String> {
    let token = secret_in_file(path)?;
    match token.expose_secret().chars().count() {
        ..TOKEN_MIN => Err(format!(
            "the token in {path} must have at least {TOKEN_MIN} characters; make one with: openssl rand -hex 32"
        )),
        _ => Ok(token),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_without_host_is_on_the_loopback_interface() {
        assert_eq!(address("9464"), Ok(SocketAddr::from(([127, 0, 0, 1], 9464))));
        assert_eq!(address(":9464"), Ok(SocketAddr::from(([127, 0, 0, 1], 9464))));
        assert_eq!(address("0.0.0.0:9464"), Ok(SocketAddr::from(([0, 0, 0, 0], 9464))));
        assert!(address("everywhere").is_err() && address("70000").is_err());
    }
}
