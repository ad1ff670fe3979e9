//! The upstream: its URL, certificate authorities, key, and timeouts.

use std::path::PathBuf;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use url::{Host, Url};

use super::api_key::{ApiKey, api_key};
use super::error::ConfigError;
use super::key::missing;
use super::setting::{OptionalSetting, number_between, switch, whole_number};
use super::source::Source;

pub struct UpstreamConfig {
    pub base_url: Url,
    pub api_key: ApiKey,
    /// The file of the key, which may be replaced at any time; `None`: the key does not change.
    pub api_key_file: Option<PathBuf>,
    /// Certificate authorities to trust besides the system's.
    pub certificate_authorities: Vec<CertificateDer<'static>>,
    /// The deadline of one whole exchange: connect, headers, body and retries.
    pub timeout: Duration,
    /// The minimum interval between two polls of one job.
    pub poll_interval: Duration,
    /// The maximum length of a prompt, in characters.
    pub prompt_max: u32,
    /// The number of failures in a row after which the circuit breaker opens.
    pub breaks_after: u32,
    /// Whether requests carry the id of their trace.
    pub pass_trace: bool,
}

/// Not configurable: administrators have no basis for choosing another value.
pub const BREAKS_AFTER: u32 = 5;

/// Shorter than the lease on the history, so that no exchange outlasts it.
const TIMEOUT_MAX_SECONDS: u32 = 100;

impl UpstreamConfig {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        let raw = &source.raw;
        let (seconds, timeout) = (whole_number(1), number_between(1, TIMEOUT_MAX_SECONDS));
        let base_url = raw.upstream_url.parse(base_url)?.ok_or_else(|| missing("upstream_url"))?;
        let (api_key, api_key_file) = api_key(source)?;
        Ok(Self {
            base_url,
            api_key,
            api_key_file,
            certificate_authorities: raw.ca_file.parse(certificates)?.unwrap_or_default(),
            timeout: Duration::from_secs(raw.upstream_timeout_seconds.parse(&timeout)?.into()),
            poll_interval: Duration::from_secs(raw.poll_seconds.parse(&seconds)?.into()),
            prompt_max: raw.prompt_max.parse(number_between(1, 100_000))?,
            breaks_after: BREAKS_AFTER,
            pass_trace: raw.trace_upstream.parse(switch)?,
        })
    }
}

/// Reads the certificates of a PEM file: at least one, each usable as a trust anchor.
pub(super) fn certificates(path: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let text = std::fs::read(path).map_err(|error| format!("{path} cannot be read ({error})"))?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(|_| format!("{path} is not whole PEM"))?;
    if certificates.is_empty() {
        return Err(format!("{path} has no certificate in PEM form"));
    }
    let mut roots = rustls::RootCertStore::empty();
    for (index, certificate) in certificates.iter().enumerate() {
        let number = index + 1;
        roots
            .add(certificate.clone())
            .map_err(|error| format!("certificate {number} in {path} cannot be used ({error})"))?;
    }
    Ok(certificates)
}

fn base_url(text: &str) -> Result<Url, String> {
    let mut url = safe_address(text)?;
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}

/// Parses an https URL, or plain http on the loopback interface: keys must not cross a network in plain text.
pub(super) fn safe_address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("“{text}” is not an address ({error})"))?;
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
    Ok(url)
}
