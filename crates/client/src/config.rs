//! The server and the API token of the command line client. They are environment variables, because an argument is visible in
//! the list of processes. Nothing else is read: a checkout may have a `Leptos.toml`, and a CI system variables that begin with `DOCKET_`.

use std::path::Path;

use rustls::pki_types::CertificateDer;
use url::Url;

use super::api_key::ApiKey;
use super::error::ConfigError;
use super::upstream::{certificates, safe_address};

const SERVER: &str = "DOCKET_SERVER";
const TOKEN: &str = "DOCKET_TOKEN";
const TOKEN_FILE: &str = "DOCKET_TOKEN_FILE";
const CA_FILE: &str = "DOCKET_CA_FILE";

pub struct ClientConfig {
    /// The public address of the server.
    pub server: Url,
    pub token: ApiKey,
    /// Certificate authorities to trust besides the system's.
    pub certificate_authorities: Vec<CertificateDer<'static>>,
}

impl ClientConfig {
    pub fn from_environment() -> Result<Self, ConfigError> {
        let wrong = |name: &str, error: &str| ConfigError(format!("{name} is wrong: {error}."));
        let server = variable(SERVER).ok_or_else(|| {
            ConfigError(format!(
                "{SERVER} is missing: the address of Docket, such as https://docket.example.com."
            ))
        })?;
        let server = safe_address(&server).map_err(|error| wrong(SERVER, &error))?;
        let token = match (variable(TOKEN), variable(TOKEN_FILE)) {
            (Some(text), None) => ApiKey::parse(&text).map_err(|error| wrong(TOKEN, error))?,
            (None, Some(file)) => {
                ApiKey::read(Path::new(&file)).map_err(|error| wrong(TOKEN_FILE, &error))?
            }
            (Some(_), Some(_)) => return Err(ConfigError(format!("Set {TOKEN} or {TOKEN_FILE}, not both."))),
            (None, None) => {
                return Err(ConfigError(format!(
                    "{TOKEN} or {TOKEN_FILE} is missing: an API token, from /account/tokens of your Docket."
                )));
            }
        };
        let certificate_authorities = match variable(CA_FILE) {
            Some(path) => certificates(&path).map_err(|error| wrong(CA_FILE, &error))?,
            None => Vec::new(),
        };
        Ok(Self { server, token, certificate_authorities })
    }
}

fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}
