//! A provider's metadata (OpenID Connect Discovery 1.0) and keys, as far as Docket uses them.

use oauth2::{AuthType, AuthUrl, TokenUrl};
use openidconnect::core::{CoreJsonWebKey, CoreJwsSigningAlgorithm};
use openidconnect::{JsonWebKey, JsonWebKeySet};
use reqwest::header::ACCEPT;
use reqwest::{Client, Request};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;
use url::Url;

use super::http::{self, ExchangeError};

/// How much of a text of the provider an error shows.
const EXCERPT_CHARS: usize = 200;

pub(super) struct Metadata {
    pub(super) issuer: String,
    pub(super) authorization: AuthUrl,
    pub(super) token: TokenUrl,
    pub(super) user_info: Option<Url>,
    /// How Docket sends its secret.
    pub(super) auth_type: AuthType,
    /// The algorithms of ID tokens.
    pub(super) algorithms: Vec<CoreJwsSigningAlgorithm>,
    pub(super) keys: JsonWebKeySet<CoreJsonWebKey>,
}

/// The published document. Fields that Docket does not use may have any form.
#[derive(Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: AuthUrl,
    token_endpoint: TokenUrl,
    jwks_uri: Url,
    userinfo_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    id_token_signing_alg_values_supported: Option<Vec<Value>>,
}

/// Why a provider cannot be used. The text is for the log, and for `docket check`.
#[derive(Debug, Error)]
pub(super) enum Unusable {
    #[error("{0}")]
    Exchange(#[from] ExchangeError),
    #[error("{0}")]
    Request(#[from] reqwest::Error),
    #[error("its metadata has a URL that cannot be parsed: {0}")]
    Url(#[from] url::ParseError),
    #[error("its metadata has the URL {0}, which is not https as the issuer")]
    Plain(Url),
    #[error("its metadata names the issuer {}", excerpt(.0))]
    Issuer(String),
    #[error(
        "of the ways to send the secret, it supports only {}, and Docket only client_secret_basic and client_secret_post",
        excerpt(.0)
    )]
    AuthMethod(String),
    #[error("it signs ID tokens with no algorithm that Docket knows")]
    Algorithm,
}

impl Metadata {
    pub(super) async fn fetch(http: &Client, issuer: &str) -> Result<Self, Unusable> {
        let published = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let document: Document = http::json(http, get(http, &published)?).await?;
        if document.issuer != issuer {
            return Err(Unusable::Issuer(document.issuer));
        }
        let user_info = document.userinfo_endpoint.filter(|url| !url.is_empty());
        let user_info = user_info.as_deref().map(Url::parse).transpose()?;
        let urls = [document.authorization_endpoint.url(), document.token_endpoint.url(), &document.jwks_uri];
        if let Some(plain) = plain(issuer, urls.into_iter().chain(&user_info)) {
            return Err(Unusable::Plain(plain.clone()));
        }
        Ok(Self {
            issuer: document.issuer,
            authorization: document.authorization_endpoint,
            token: document.token_endpoint,
            user_info,
            auth_type: auth_type(&document.token_endpoint_auth_methods_supported.unwrap_or_default())?,
            algorithms: algorithms(document.id_token_signing_alg_values_supported)?,
            keys: http::json(http, get(http, document.jwks_uri.as_str())?).await?,
        })
    }

    /// The keys for a signature, by the id that its token names, if it names one.
    pub(super) fn keys(&self, id: Option<&str>) -> impl Iterator<Item = &CoreJsonWebKey> {
        let keys = self.keys.keys().iter();
        keys.filter(move |key| id.is_none_or(|id| key.key_id().is_some_and(|known| known.as_str() == id)))
    }
}

/// A URL that is not https although the issuer is. Codes, tokens and the secret would be sent in clear text.
fn plain<'a>(issuer: &str, urls: impl Iterator<Item = &'a Url>) -> Option<&'a Url> {
    urls.filter(|_| issuer.starts_with("https:")).find(|url| url.scheme() != "https")
}

fn get(http: &Client, url: &str) -> reqwest::Result<Request> {
    http.get(url).header(ACCEPT, "application/json").build()
}

/// The beginning of a text of the provider, escaped for a log.
fn excerpt(text: &str) -> String {
    text.escape_debug().take(EXCERPT_CHARS).collect()
}

/// Without a list, `client_secret_basic` is the default of the specification.
fn auth_type(methods: &[String]) -> Result<AuthType, Unusable> {
    let has = |method: &str| methods.iter().any(|known| known == method);
    if methods.is_empty() || has("client_secret_basic") {
        return Ok(AuthType::BasicAuth);
    }
    match has("client_secret_post") {
        true => Ok(AuthType::RequestBody),
        false => Err(Unusable::AuthMethod(methods.join(", "))),
    }
}

/// The known ones of the listed algorithms. Without a list it is RS256, which every provider must support.
fn algorithms(listed: Option<Vec<Value>>) -> Result<Vec<CoreJwsSigningAlgorithm>, Unusable> {
    let Some(listed) = listed else { return Ok(vec![CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256]) };
    let known = listed.into_iter().filter_map(|name| serde_json::from_value(name).ok());
    // The library cannot verify P-521.
    let unusable = [CoreJwsSigningAlgorithm::None, CoreJwsSigningAlgorithm::EcdsaP521Sha512];
    let known: Vec<_> = known.filter(|algorithm| !unusable.contains(algorithm)).collect();
    if known.is_empty() { Err(Unusable::Algorithm) } else { Ok(known) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_sent_as_the_metadata_says() {
        let method =
            |methods: &[&str]| auth_type(&methods.iter().map(|&name| name.into()).collect::<Vec<_>>());
        assert!(matches!(method(&[]), Ok(AuthType::BasicAuth)));
        assert!(matches!(method(&["client_secret_post", "client_secret_basic"]), Ok(AuthType::BasicAuth)));
        assert!(matches!(method(&["private_key_jwt", "client_secret_post"]), Ok(AuthType::RequestBody)));
        let refused = method(&["private_key_jwt", "tls_client_auth"]).err().map(|error| error.to_string());
        assert!(refused.is_some_and(|text| text.contains("only private_key_jwt, tls_client_auth")));
    }

    #[test]
    fn urls_are_https_as_the_issuer() {
        let urls = ["https://id.example.com/a", "http://id.example.com/b"].map(|url| Url::parse(url).ok());
        let urls: Vec<_> = urls.into_iter().flatten().collect();
        assert_eq!(plain("https://id.example.com", urls.iter()), urls.last());
        assert_eq!(plain("https://id.example.com", urls[..1].iter()), None);
        assert_eq!(plain("http://127.0.0.1:9000", urls.iter()), None);
        let error = Unusable::Issuer(format!("x\n{}", "y".repeat(1000))).to_string();
        assert!(error.contains("x\\ny") && error.len() < 300, "{error}");
    }

    #[test]
    fn unknown_algorithms_and_none_are_ignored() {
        let names = |names: &[&str]| algorithms(Some(names.iter().map(|&name| name.into()).collect()));
        let known = names(&["none", "RS256", "XY512", "ES512", "ES256"]).unwrap_or_default();
        assert_eq!(known.len(), 2);
        assert!(matches!(names(&["none", "XY512"]), Err(Unusable::Algorithm)));
        assert_eq!(algorithms(None).unwrap_or_default(), [CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256]);
    }
}
