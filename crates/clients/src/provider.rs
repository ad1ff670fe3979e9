//! The provider: its metadata, its authorization URL, and its claims about a person.

mod claims;
mod http;
mod id_token;
mod metadata;

use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use oauth2::basic::{
    BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse, BasicTokenType,
};
use oauth2::{
    AccessToken, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndpointNotSet, EndpointSet,
    HttpRequest, HttpResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RefreshToken,
    RequestTokenError, Scope, StandardRevocableToken, TokenResponse,
};
use reqwest::header::ACCEPT;
use rustls::pki_types::CertificateDer;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use url::Url;

use self::claims::Stated;
use self::id_token::{Expected, Refused};
use self::metadata::Metadata;
use base::clock::Clock;
use base::config::SingleSignOnConfig;
use base::settings::Live;
use model::error::{AppError, ErrorCode};
use model::time::Timestamp;

/// How long the provider's metadata is cached, in seconds.
const KNOWN_SECONDS: i64 = 3600;
/// The maximum length of a person's id at the provider, by the specification.
const SUBJECT_MAX_BYTES: usize = 255;
/// How long a provider that did not respond gets no further request, in seconds. Other sign-ins would only wait for the
/// timeout.
const SILENT_SECONDS: i64 = 5;
/// The deadline of a check that only fetches metadata and keys.
const REACH_DEADLINE: Duration = Duration::from_secs(15);

/// The secrets of one sign-in at the provider, random and valid for it alone.
#[derive(Serialize, Deserialize)]
pub struct Handshake {
    pub state: String,
    pub nonce: String,
    /// The PKCE verifier. Without it, the code cannot be redeemed.
    pub verifier: String,
}

#[derive(Clone)]
pub struct Provider {
    settings: Live<Option<Arc<SingleSignOnConfig>>>,
    http: reqwest::Client,
    issuer: String,
    callback: RedirectUrl,
    clock: Clock,
    /// Fetched at first use, by one request at a time.
    published: Arc<Mutex<Option<CachedMetadata>>>,
}

/// The provider's metadata and when it was requested; `None` if the provider did not respond.
struct CachedMetadata {
    at: Timestamp,
    published: Option<Arc<Metadata>>,
}

/// The provider's claims about a person.
pub struct Claims {
    pub subject: String,
    pub email: Option<String>,
    /// `None`: not stated.
    pub email_verified: Option<bool>,
    pub groups: Vec<String>,
}

/// The response to a code, as far as Docket uses it. Other fields may have any form.
#[derive(Serialize, Deserialize)]
struct Redeemed {
    access_token: AccessToken,
    id_token: Option<String>,
}

/// Contains no token.
impl fmt::Debug for Redeemed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redeemed").finish_non_exhaustive()
    }
}

impl TokenResponse for Redeemed {
    type TokenType = BasicTokenType;

    fn access_token(&self) -> &AccessToken {
        &self.access_token
    }

    fn token_type(&self) -> &BasicTokenType {
        &BasicTokenType::Bearer
    }

    fn expires_in(&self) -> Option<Duration> {
        None
    }

    fn refresh_token(&self) -> Option<&RefreshToken> {
        None
    }

    fn scopes(&self) -> Option<&Vec<Scope>> {
        None
    }
}

/// With an authorization endpoint and a token endpoint.
type OAuthClient = oauth2::Client<
    BasicErrorResponse,
    Redeemed,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;

impl Provider {
    pub fn new(
        config: &SingleSignOnConfig,
        settings: Live<Option<Arc<SingleSignOnConfig>>>,
        authorities: &[CertificateDer<'static>],
        callback: String,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            http: http::client(config.issuer.starts_with("https:"), authorities)?,
            issuer: config.issuer.clone(),
            callback: RedirectUrl::new(callback)?,
            settings,
            clock,
            published: Arc::default(),
        })
    }

    /// The provider's authorization URL for one sign-in.
    pub async fn authorization_url(&self, handshake: &Handshake) -> Result<String, AppError> {
        let config = self.config()?;
        let client = self.client(&config, &*self.published().await?);
        let verifier = PkceCodeVerifier::new(handshake.verifier.clone());
        let state = handshake.state.clone();
        let scopes = ["openid"].into_iter().chain(config.scopes.iter().map(String::as_str));
        let request = client.authorize_url(|| CsrfToken::new(state));
        let (url, _) = request
            .add_scopes(scopes.map(|scope| Scope::new(scope.to_owned())))
            .add_extra_param("nonce", handshake.nonce.clone())
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
            .url();
        Ok(url.into())
    }

    /// The claims about the person whom the provider redirected back with `code`.
    pub async fn claims(&self, code: String, handshake: &Handshake) -> Result<Claims, AppError> {
        let config = self.config()?;
        let redeemed = self.redeem(code, &config, handshake).await?;
        let token = redeemed.id_token.ok_or_else(|| failed("a response without an ID token"))?;
        let claims = self.verified(&token, &config, &handshake.nonce).await?;
        let subject = subject(&claims).ok_or_else(|| failed("an ID token without a subject"))?;
        let mut stated = Stated::by(&claims, &config.groups_claim);
        // Many providers return a small ID token, and more claims from the userinfo endpoint.
        if stated.is_incomplete(config.trusts_email)
            && let Some(more) = self.user_info(&redeemed.access_token, subject).await?
        {
            stated = stated.and(Stated::by(&more, &config.groups_claim));
        }
        Ok(Claims {
            subject: subject.to_owned(),
            email: stated.email,
            email_verified: stated.email_verified,
            groups: groups(stated.groups, stated.has_groups_elsewhere, &config.groups_claim)?,
        })
    }

    fn client(&self, config: &SingleSignOnConfig, published: &Metadata) -> OAuthClient {
        oauth2::Client::new(ClientId::new(config.client_id.clone()))
            .set_client_secret(ClientSecret::new(config.client_secret.expose_secret().to_owned()))
            .set_auth_type(published.auth_type.clone())
            .set_auth_uri(published.authorization.clone())
            .set_token_uri(published.token.clone())
            .set_redirect_uri(self.callback.clone())
    }

    async fn redeem(
        &self,
        code: String,
        config: &SingleSignOnConfig,
        handshake: &Handshake,
    ) -> Result<Redeemed, AppError> {
        let client = self.client(config, &*self.published().await?);
        let response = client
            .exchange_code(AuthorizationCode::new(code))
            .set_pkce_verifier(PkceCodeVerifier::new(handshake.verifier.clone()))
            .request_async(&exchange(self.http.clone()))
            .await;
        response.map_err(|error| match error {
            RequestTokenError::ServerResponse(refusal) => {
                tracing::warn!(refusal = refusal.to_string(), "the provider refused a code");
                AppError::bad_input(
                    "Your provider no longer accepts this sign-in. Start again from the sign-in page.",
                )
            }
            // The error may contain parts of the response, including tokens, so it is not logged.
            RequestTokenError::Parse(..) => failed("a token response that cannot be read"),
            error => failed(error),
        })
    }

    /// The claims of an ID token whose signature, issuer, audience, times and nonce are valid.
    async fn verified(
        &self,
        token: &str,
        config: &SingleSignOnConfig,
        nonce: &str,
    ) -> Result<Map<String, Value>, AppError> {
        let expected = Expected {
            client_id: &config.client_id,
            client_secret: config.client_secret.expose_secret(),
            nonce,
            now: self.clock.now(),
        };
        let mut checked = id_token::verified(token, &*self.published().await?, &expected);
        if matches!(checked, Err(Refused::NoKey)) {
            // The provider may have rotated its keys since they were fetched.
            checked = id_token::verified(token, &*self.publish_anew().await?, &expected);
        }
        checked.map_err(|error| {
            tracing::warn!(%error, "an ID token was refused");
            AppError::new(
                ErrorCode::Forbidden,
                "Your provider's answer about you is not valid here. Sign in again; if that fails, ask an administrator.",
            )
        })
    }

    /// The claims from the userinfo endpoint, if the provider has one.
    async fn user_info(
        &self,
        access: &AccessToken,
        subject_of_token: &str,
    ) -> Result<Option<Map<String, Value>>, AppError> {
        let Some(url) = self.published().await?.user_info.clone() else { return Ok(None) };
        let claims = self.fetched_user_info(url, access).await?;
        match subject(&claims) == Some(subject_of_token) {
            true => Ok(Some(claims)),
            false => Err(failed("the userinfo endpoint answers about another person")),
        }
    }

    async fn fetched_user_info(
        &self,
        url: Url,
        access: &AccessToken,
    ) -> Result<Map<String, Value>, AppError> {
        let request = self.http.get(url).bearer_auth(access.secret()).header(ACCEPT, "application/json");
        http::json(&self.http, request.build().map_err(failed)?).await.map_err(failed)
    }

    async fn published(&self) -> Result<Arc<Metadata>, AppError> {
        let mut known = self.published.lock().await;
        let now = self.clock.now();
        if let Some(CachedMetadata { at, published }) = known.as_ref() {
            let age = now.seconds_since(*at);
            match published {
                Some(published) if age < KNOWN_SECONDS => return Ok(published.clone()),
                None if age < SILENT_SECONDS => return Err(failed("it did not answer a moment ago")),
                _ => {}
            }
        }
        let found = self.discover().await.map(Arc::new);
        *known = Some(CachedMetadata { at: self.clock.now(), published: found.as_ref().ok().cloned() });
        found
    }

    /// Fetches the metadata again. A failure keeps what is known.
    async fn publish_anew(&self) -> Result<Arc<Metadata>, AppError> {
        let mut known = self.published.lock().await;
        let found = Arc::new(self.discover().await?);
        *known = Some(CachedMetadata { at: self.clock.now(), published: Some(found.clone()) });
        Ok(found)
    }

    async fn discover(&self) -> Result<Metadata, AppError> {
        Metadata::fetch(&self.http, &self.issuer).await.map_err(failed)
    }

    /// The current configuration; its issuer never changes.
    pub fn config(&self) -> Result<Arc<SingleSignOnConfig>, AppError> {
        let config = self.settings.current();
        config.ok_or_else(|| failed("it is no longer configured"))
    }
}

fn exchange(client: reqwest::Client) -> impl Fn(HttpRequest) -> Exchange + use<> {
    move |request| Box::pin(http::exchange(client.clone(), request))
}

/// Whether a provider can be used: fetches its metadata and keys. Returns the reason if not. Signs nobody in.
pub async fn reach(
    config: &SingleSignOnConfig,
    authorities: &[CertificateDer<'static>],
) -> Result<(), String> {
    let why = |error: anyhow::Error| {
        format!("{} cannot be used ({error:#}). Check DOCKET_OIDC_ISSUER and DOCKET_CA_FILE.", config.issuer)
    };
    let discover = async {
        let http = http::client(config.issuer.starts_with("https:"), authorities)?;
        Metadata::fetch(&http, &config.issuer).await?;
        Ok(())
    };
    match tokio::time::timeout(REACH_DEADLINE, discover).await {
        Ok(reached) => reached.map_err(why),
        Err(_) => Err(why(anyhow!("it does not answer in time"))),
    }
}

fn subject(claims: &Map<String, Value>) -> Option<&str> {
    let subject = claims.get("sub").and_then(Value::as_str);
    subject.filter(|subject| (1..=SUBJECT_MAX_BYTES).contains(&subject.len()) && !subject.contains('\0'))
}

/// The groups, or why there are none: a person could not tell a missing claim from missing membership.
fn groups(stated: Option<Vec<String>>, are_elsewhere: bool, claim: &str) -> Result<Vec<String>, AppError> {
    match stated {
        Some(groups) if !are_elsewhere => Ok(groups),
        _ if are_elsewhere => Err(without_groups(
            claim,
            "You are in too many groups for your provider to send them. Ask an administrator to have it send only groups that may use Docket.".to_owned(),
        )),
        _ => Err(without_groups(
            claim,
            format!("Your provider does not say in which groups you are: it sends no claim “{claim}” about you. Perhaps you are in none. Ask an administrator."),
        )),
    }
}

fn without_groups(claim: &str, message: String) -> AppError {
    tracing::warn!(claim, "{message}");
    AppError::new(ErrorCode::Forbidden, message)
}

type Exchange = std::pin::Pin<Box<dyn Future<Output = Result<HttpResponse, http::ExchangeError>> + Send>>;

/// The provider cannot be reached or returns an invalid response.
fn failed(error: impl Display) -> AppError {
    tracing::error!(%error, "the single sign-on provider failed");
    AppError::new(
        ErrorCode::UpstreamFailed,
        "The sign-in provider cannot be reached or does not answer as it should. Try again in a moment, or sign in with a password.",
    )
}
