//! The upstream: where it is, its key, and how patient to be.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use url::{Host, Url};

use super::source::{self, ConfigError, Source, whole_number};

pub struct UpstreamConfig {
    pub base_url: Url,
    pub api_key: ApiKey,
    /// For one whole exchange: connect, headers and body.
    pub timeout: Duration,
    /// The shortest time between two reads of one job.
    pub poll_interval: Duration,
    /// After how many failures in a row the upstream is left to rest.
    pub breaks_after: u32,
}

/// Not configurable: nobody would know what to set it to.
pub const BREAKS_AFTER: u32 = 5;

/// The admin key. Must never reach a page, a log, an error or the database: it has no `Debug` and no
/// `Display`, and [`ApiKey::bearer`] is for the one place that writes the `Authorization` header.
#[derive(Clone)]
pub struct ApiKey(SecretString);

impl UpstreamConfig {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        let seconds = whole_number(1);
        Ok(Self {
            base_url: source.required("upstream_url", base_url)?,
            api_key: api_key(source)?,
            timeout: Duration::from_secs(source.or_default("upstream_timeout_seconds", &seconds)?.into()),
            poll_interval: Duration::from_secs(source.or_default("poll_seconds", &seconds)?.into()),
            breaks_after: BREAKS_AFTER,
        })
    }
}

impl ApiKey {
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("it is empty");
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("a key has no spaces, line ends or letters outside ASCII");
        }
        Ok(Self(SecretString::from(text)))
    }

    /// The value of an `Authorization` header.
    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.0.expose_secret())
    }

    /// `text` with the key, should it occur, replaced by dots.
    pub fn mask(&self, text: &str) -> String {
        text.replace(self.0.expose_secret(), "•••")
    }
}

fn api_key(source: &Source) -> Result<ApiKey, ConfigError> {
    match source.optional("api_key", ApiKey::parse)? {
        Some(key) => Ok(key),
        None => source
            .optional("api_key_file", |path| {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| format!("{path} cannot be read ({error})"))?;
                ApiKey::parse(text.trim()).map_err(str::to_owned)
            })?
            .ok_or_else(|| source::missing("api_key")),
    }
}

/// An https address, or plain http to this machine only: the key must not cross a network unprotected.
fn base_url(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text).map_err(|error| format!("“{text}” is not an address ({error})"))?;
    let loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" => {}
        "http" if loopback => {}
        "http" => return Err("plain http would show the key to the network: use https".to_owned()),
        _ => return Err(format!("“{text}” is not an https address")),
    }
    if url.query().is_some()
        || url.fragment().is_some()
        || !url.username().is_empty()
        || url.password().is_some()
    {
        return Err("leave out user, password, query and fragment".to_owned());
    }
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}
