//! The connections to code hosts, which report the state of pull requests. Read-only.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ring::signature::RsaKeyPair;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use url::Url;

use super::api_key::ApiKey;
use super::error::ConfigError;
use super::key::missing;
use super::setting::{OptionalSetting, Setting, number_between};
use super::source::Source;
use super::upstream::safe_address;

/// Empty by default: links to pull requests have no state.
#[derive(Clone, Default)]
pub struct CodeHostsConfig {
    pub github: Option<GitHubConfig>,
    pub gitlab: Option<GitLabConfig>,
}

#[derive(Clone)]
pub struct GitHubConfig {
    /// The web address, without a path.
    pub url: Url,
    pub access: GitHubAccess,
}

#[derive(Clone)]
pub enum GitHubAccess {
    /// A token, and the file that it comes from, if any.
    Token {
        token: ApiKey,
        file: Option<PathBuf>,
    },
    App {
        id: String,
        key_file: PathBuf,
    },
}

#[derive(Clone)]
pub struct GitLabConfig {
    /// The web address, perhaps with a path.
    pub url: Url,
    pub token: ApiKey,
    /// The file that the token comes from.
    pub file: PathBuf,
}

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// How long an open pull request may wait until it is stale.
pub(super) fn review_stale_after(source: &Source) -> Result<Duration, ConfigError> {
    Ok(DAY * source.raw.review_stale_days.parse(number_between(1, 365))?)
}

const GITHUB: &str = "github.com";
/// The domain of enterprises whose data stays in a region.
const GITHUB_REGIONS: &str = ".ghe.com";

impl CodeHostsConfig {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        Ok(Self { github: github(source)?, gitlab: gitlab(source)? })
    }
}

impl GitHubConfig {
    /// The base address of the REST API.
    pub fn api(&self) -> Url {
        match self.api_host() {
            Some(host) => at_host(&self.url, &host, "/"),
            None => at_path(&self.url, "/api/v3/"),
        }
    }

    /// The address of the GraphQL API.
    pub fn graphql(&self) -> Url {
        match self.api_host() {
            Some(host) => at_host(&self.url, &host, "/graphql"),
            None => at_path(&self.url, "/api/graphql"),
        }
    }

    /// The host of the API, if it is not that of the pages.
    fn api_host(&self) -> Option<String> {
        let host = self.url.host_str()?;
        (host == GITHUB || host.ends_with(GITHUB_REGIONS)).then(|| format!("api.{host}"))
    }
}

impl GitLabConfig {
    /// The base address of the REST API.
    pub fn api(&self) -> Url {
        at_path(&self.url, &format!("{}/api/v4/", self.url.path().trim_end_matches('/')))
    }
}

fn at_path(url: &Url, path: &str) -> Url {
    let mut url = url.clone();
    url.set_path(path);
    url
}

fn at_host(url: &Url, host: &str, path: &str) -> Url {
    let mut url = at_path(url, path);
    // The host is valid with this prefix, too.
    let _ = url.set_host(Some(host));
    url
}

fn github(source: &Source) -> Result<Option<GitHubConfig>, ConfigError> {
    let raw = &source.raw;
    let token = raw.github_token_file.parse(token_in)?;
    let id = raw.github_app_id.parse(app_id)?;
    let key_file = raw.github_app_key_file.parse(key_in)?;
    let access = match (token, id, key_file) {
        (None, None, None) => None,
        (Some((token, file)), None, None) => Some(GitHubAccess::Token { token, file: Some(file) }),
        (None, Some(id), Some(key_file)) => Some(GitHubAccess::App { id, key_file }),
        (None, Some(_), None) => return Err(missing("github_app_key_file")),
        (None, None, Some(_)) => return Err(missing("github_app_id")),
        (Some(_), ..) => {
            return Err(ConfigError(
                "DOCKET_GITHUB_TOKEN_FILE and DOCKET_GITHUB_APP_ID are two ways to connect to GitHub: set one of them."
                    .to_owned(),
            ));
        }
    };
    let Some(access) = access else {
        return no_url_alone(&raw.github_url, "github_token_file").map(|()| None);
    };
    Ok(Some(GitHubConfig { url: raw.github_url.parse(|text| host_address(text, false))?, access }))
}

fn gitlab(source: &Source) -> Result<Option<GitLabConfig>, ConfigError> {
    let raw = &source.raw;
    let Some((token, file)) = raw.gitlab_token_file.parse(token_in)? else {
        return no_url_alone(&raw.gitlab_url, "gitlab_token_file").map(|()| None);
    };
    Ok(Some(GitLabConfig { url: raw.gitlab_url.parse(|text| host_address(text, true))?, token, file }))
}

/// An address without a token would connect to nothing, without an error.
fn no_url_alone(url: &Setting, token: &str) -> Result<(), ConfigError> {
    url.parse(|text| host_address(text, true))?;
    if url.is_set() { Err(missing(token)) } else { Ok(()) }
}

fn token_in(path: &str) -> Result<(ApiKey, PathBuf), String> {
    let file = PathBuf::from(path);
    let token = ApiKey::read(&file).map_err(|error| format!("{path}: {error}"))?;
    Ok((token, file))
}

fn key_in(path: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(path);
    private_key(&file).map(|_| file)
}

/// The App's private key, as GitHub generates it: PEM with an RSA key in the form of PKCS #1. PKCS #8 is read too.
pub fn private_key(file: &Path) -> Result<RsaKeyPair, String> {
    let name = file.display();
    let text = std::fs::read(file).map_err(|error| format!("{name} cannot be read ({error})"))?;
    let der =
        PrivateKeyDer::from_pem_slice(&text).map_err(|_| format!("{name} has no private key in PEM form"))?;
    let key = match &der {
        PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
        PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
        _ => return Err(format!("{name} has no RSA key")),
    };
    key.map_err(|_| format!("{name} has no RSA key of at least 2,048 bits"))
}

fn app_id(text: &str) -> Result<String, String> {
    let is_id = !text.is_empty() && text.len() <= 40 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match is_id {
        true => Ok(text.to_owned()),
        false => Err(format!("“{text}” is no id of a GitHub App")),
    }
}

fn host_address(text: &str, may_have_path: bool) -> Result<Url, String> {
    let url = safe_address(text)?;
    match may_have_path || url.path() == "/" {
        true => Ok(url),
        false => Err(format!("“{text}” has a path; it must be the address of the first page")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(url: &str) -> GitHubConfig {
        let access = GitHubAccess::App { id: "1".to_owned(), key_file: PathBuf::new() };
        GitHubConfig { url: Url::parse(url).expect("an address"), access }
    }

    #[test]
    fn api_addresses_follow_from_the_web_address() {
        for (web, api, graphql) in [
            ("https://github.com", "https://api.github.com/", "https://api.github.com/graphql"),
            ("https://acme.ghe.com", "https://api.acme.ghe.com/", "https://api.acme.ghe.com/graphql"),
            (
                "https://git.example:8443",
                "https://git.example:8443/api/v3/",
                "https://git.example:8443/api/graphql",
            ),
            (
                "https://github.com.example",
                "https://github.com.example/api/v3/",
                "https://github.com.example/api/graphql",
            ),
        ] {
            let config = config(web);
            assert_eq!((config.api().as_str(), config.graphql().as_str()), (api, graphql));
        }
        let token = ApiKey::parse("glpat-1").expect("a token");
        let gitlab = |url: &str| {
            let url = Url::parse(url).expect("an address");
            GitLabConfig { url, token: token.clone(), file: PathBuf::new() }.api().to_string()
        };
        assert_eq!(gitlab("https://gitlab.com"), "https://gitlab.com/api/v4/");
        assert_eq!(gitlab("https://git.example/lab/"), "https://git.example/lab/api/v4/");
    }

    fn read(environment: &[(&str, &str)]) -> Result<CodeHostsConfig, String> {
        let variables = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let source = Source::new("", "Leptos.toml", variables).map_err(|error| error.to_string())?;
        CodeHostsConfig::from_source(&source).map_err(|error| error.to_string())
    }

    #[test]
    fn incomplete_connection_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        std::fs::write(&path, "github_pat_1\n").expect("a file");
        let path = path.display().to_string();
        assert!(read(&[]).is_ok_and(|config| config.github.is_none() && config.gitlab.is_none()));
        let both = read(&[("DOCKET_GITHUB_TOKEN_FILE", &path), ("DOCKET_GITLAB_TOKEN_FILE", &path)]);
        assert!(both.is_ok_and(|config| config.github.is_some() && config.gitlab.is_some()));
        for (environment, named) in [
            (&[("DOCKET_GITHUB_APP_ID", "7")][..], "DOCKET_GITHUB_APP_KEY_FILE is required"),
            (&[("DOCKET_GITHUB_APP_KEY_FILE", &path)], "has no private key in PEM form"),
            (&[("DOCKET_GITHUB_TOKEN_FILE", &path), ("DOCKET_GITHUB_APP_ID", "7")], "set one of them"),
            (&[("DOCKET_GITHUB_TOKEN_FILE", "/nowhere")], "/nowhere"),
            (&[("DOCKET_GITHUB_URL", "https://git.example")], "DOCKET_GITHUB_TOKEN_FILE is required"),
            (&[("DOCKET_GITLAB_URL", "https://git.example")], "DOCKET_GITLAB_TOKEN_FILE is required"),
            (
                &[("DOCKET_GITHUB_TOKEN_FILE", &path), ("DOCKET_GITHUB_URL", "http://git.example")],
                "use https",
            ),
            (
                &[("DOCKET_GITHUB_TOKEN_FILE", &path), ("DOCKET_GITHUB_URL", "https://git.example/x")],
                "has a path",
            ),
            (&[("DOCKET_GITHUB_APP_ID", "../7")], "is no id of a GitHub App"),
        ] {
            let error = read(environment).err().expect("an error");
            assert!(error.contains(named), "{named}: {error}");
        }
    }
}
