//! The server and the API token. They are environment variables, because an argument is visible in the list of processes. Nothing else is read: a
//! checkout may have a `Leptos.toml`, and a CI system variables that begin with `DOCKET_`.

use std::env::{self, VarError};
use std::fs;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use url::{Host, Url};

const SERVER: &str = "DOCKET_SERVER";
const TOKEN: &str = "DOCKET_TOKEN";
const TOKEN_FILE: &str = "DOCKET_TOKEN_FILE";
const CA_FILE: &str = "DOCKET_CA_FILE";

/// Wrong usage or configuration: the sentence for the person who runs the command.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Misconfigured(pub(crate) String);

/// An API token. It has no `Debug` and no `Display`: it must not reach an error or the output.
pub(crate) struct Token(String);

pub(crate) struct Config {
    /// The public address of the server.
    pub(crate) server: Url,
    pub(crate) token: Token,
    /// Certificate authorities to trust besides the system's.
    pub(crate) authorities: Vec<CertificateDer<'static>>,
}

impl Config {
    pub(crate) fn from_environment() -> Result<Self, Misconfigured> {
        let server = variable(SERVER)?
            .ok_or_else(|| missing(SERVER, "the address of Docket, such as https://docket.example.com"))?;
        let server = safe_address(&server).map_err(|error| wrong(SERVER, &error))?;
        let authorities = match variable(CA_FILE)? {
            Some(path) => certificates(&path).map_err(|error| wrong(CA_FILE, &error))?,
            None => Vec::new(),
        };
        Ok(Self { server, token: token()?, authorities })
    }
}

impl Token {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => Err("a token has no spaces, line ends or letters outside ASCII".to_owned()),
            false => Ok(Self(text.to_owned())),
        }
    }

    /// The value of the header `Authorization`.
    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

fn token() -> Result<Token, Misconfigured> {
    match (variable(TOKEN)?, variable(TOKEN_FILE)?) {
        (Some(text), None) => Token::parse(&text).map_err(|error| wrong(TOKEN, &error)),
        (None, Some(file)) => {
            let bytes = fs::read(file).map_err(|error| format!("it cannot be read: {error}"));
            let token = bytes.and_then(|bytes| Token::parse(text_of(&bytes)?.trim()));
            token.map_err(|error| wrong(TOKEN_FILE, &error))
        }
        (Some(_), Some(_)) => Err(Misconfigured(format!("Set {TOKEN} or {TOKEN_FILE}, not both."))),
        (None, None) => {
            let name = format!("{TOKEN} or {TOKEN_FILE}");
            Err(missing(&name, "an API token, from /account/tokens of your Docket"))
        }
    }
}

fn missing(name: &str, what: &str) -> Misconfigured {
    Misconfigured(format!("{name} is missing: {what}."))
}

fn wrong(name: &str, error: &str) -> Misconfigured {
    Misconfigured(format!("{name} is wrong: {error}."))
}

fn variable(name: &str) -> Result<Option<String>, Misconfigured> {
    value_of(env::var(name)).map_err(|error| wrong(name, error))
}

/// The value of a variable. An empty one is missing.
fn value_of(read: Result<String, VarError>) -> Result<Option<String>, &'static str> {
    match read {
        Ok(value) if value.trim().is_empty() => Ok(None),
        Ok(value) => Ok(Some(value.trim().to_owned())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err("its bytes are not UTF-8"),
    }
}

/// The text of a file. Windows begins one with a byte order mark, and PowerShell may write it as UTF-16.
fn text_of(bytes: &[u8]) -> Result<String, String> {
    let text = match bytes {
        [0xFF, 0xFE, units @ ..] => {
            let units = units.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
            String::from_utf16(&units.collect::<Vec<_>>()).ok()
        }
        bytes => String::from_utf8(without_mark(bytes).to_vec()).ok(),
    };
    text.ok_or_else(|| "it is not text in UTF-8".to_owned())
}

/// Text in UTF-8 without its byte order mark.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// An address to which the token may be sent.
fn safe_address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("“{text}” is not an address ({error})"))?;
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let has_more = url.query().is_some() || url.fragment().is_some();
    let has_user = !url.username().is_empty() || url.password().is_some();
    match url.scheme() {
        "http" if !is_loopback => Err("plain http would show the token to the network: use https".to_owned()),
        "http" | "https" if has_more || has_user => {
            Err("leave out user, password, query and fragment".to_owned())
        }
        "http" | "https" => Ok(url),
        _ => Err(format!("“{text}” is not an https address")),
    }
}

fn certificates(path: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let text = fs::read(path).map_err(|error| format!("{path} cannot be read ({error})"))?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(without_mark(&text)).collect();
    let certificates = certificates.map_err(|_| format!("{path} is not whole PEM"))?;
    if certificates.is_empty() {
        return Err(format!("{path} has no certificate in PEM form"));
    }
    let mut roots = RootCertStore::empty();
    for certificate in &certificates {
        let error = |error| format!("a certificate in {path} cannot be used ({error})");
        roots.add(certificate.clone()).map_err(error)?;
    }
    Ok(certificates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_sent_to_safe_addresses_only() {
        for address in [
            "https://docket.example.com",
            "https://example.com:8443/docket/",
            "http://localhost:3000",
            "http://127.0.0.1",
            "http://[::1]:3000",
        ] {
            assert!(safe_address(address).is_ok(), "{address}");
        }
        for address in [
            "docket.example.com",
            "http://docket.example.com",
            "http://localhost.example.com",
            "ftp://docket.example.com",
            "https://user@docket.example.com",
            "https://:word@docket.example.com",
            "https://docket.example.com/?a",
            "https://docket.example.com/#a",
        ] {
            assert!(safe_address(address).is_err(), "{address}");
        }
    }

    #[test]
    fn variable_is_missing_or_text() {
        let text = |text: &str| value_of(Ok(text.to_owned()));
        assert_eq!(value_of(Err(VarError::NotPresent)), Ok(None));
        assert_eq!((text(""), text(" \n")), (Ok(None), Ok(None)));
        assert_eq!(text(" dkt_x\n"), Ok(Some("dkt_x".to_owned())));
        assert_eq!(value_of(Err(VarError::NotUnicode("dkt_x".into()))), Err("its bytes are not UTF-8"));
    }

    /// Each form in which an editor or a shell may write a token.
    #[test]
    fn file_is_text_with_or_without_a_mark() {
        let utf_16: Vec<u8> = "\u{feff}dkt_x\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [b"dkt_x\n".as_slice(), b"\xEF\xBB\xBFdkt_x\r\n", &utf_16] {
            let token = text_of(bytes).and_then(|text| Token::parse(text.trim()));
            assert_eq!(token.map(|token| token.0), Ok("dkt_x".to_owned()), "{bytes:?}");
        }
        for bytes in [b"dkt_\xFF".as_slice(), b"\xFF\xFE\x00\xD8", b"\xFE\xFF\x00d"] {
            assert!(text_of(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn token_is_one_word() {
        assert!(Token::parse("dkt_x").is_ok());
        for text in ["", "dkt x", "dkt_x\n", "dkt_é", "dkt_\u{7f}"] {
            assert!(Token::parse(text).is_err(), "{text:?}");
        }
    }
}
