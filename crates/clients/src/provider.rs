//! The provider: its metadata, its authorization URL, and its claims about a person.

mod http;

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreGenderClaim, CoreIdTokenVerifier,
    CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreProviderMetadata, CoreTokenResponse,
};
use openidconnect::{
    AccessToken, AdditionalClaims, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret,
    CsrfToken, HttpRequest, IdToken, IdTokenClaims, IssuerUrl, Nonce, OAuth2TokenResponse, PkceCodeChallenge,
    PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope, SignatureVerificationError, TokenResponse,
    UserInfoClaims,
};
use rustls::pki_types::CertificateDer;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use base::clock::Clock;
use base::config::SingleSignOnConfig;
use base::settings::Live;
use model::error::{AppError, ErrorCode};
use model::time::Timestamp;

/// How long the provider's metadata is cached, in seconds.
const KNOWN_SECONDS: i64 = 3600;
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
    issuer: IssuerUrl,
    callback: RedirectUrl,
    clock: Clock,
    /// Fetched at first use, by one request at a time.
    published: Arc<Mutex<Option<CachedMetadata>>>,
}

/// The provider's metadata and when it was requested; `None` if the provider did not respond.
struct CachedMetadata {
    at: Timestamp,
    published: Option<Arc<CoreProviderMetadata>>,
}

/// The provider's claims about a person.
pub struct Claims {
    pub subject: String,
    pub email: Option<String>,
    pub email_verified: bool,
    pub groups: Vec<String>,
}

/// Claims outside the standard, including groups.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ExtraClaims(Map<String, Value>);

impl AdditionalClaims for ExtraClaims {}

type Token =
    IdToken<ExtraClaims, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm>;
type Verified = IdTokenClaims<ExtraClaims, CoreGenderClaim>;

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
            issuer: IssuerUrl::new(config.issuer.clone())?,
            callback: RedirectUrl::new(callback)?,
            settings,
            clock,
            published: Arc::default(),
        })
    }

    /// The provider's authorization URL for one sign-in.
    pub async fn authorization_url(&self, handshake: &Handshake) -> Result<String, AppError> {
        let (config, published) = (self.config()?, self.published().await?);
        let verifier = PkceCodeVerifier::new(handshake.verifier.clone());
        let (state, nonce) = (handshake.state.clone(), handshake.nonce.clone());
        let (url, _, _) = CoreClient::from_provider_metadata((*published).clone(), id(&config), None)
            .set_redirect_uri(self.callback.clone())
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                || CsrfToken::new(state),
                || Nonce::new(nonce),
            )
            .add_scopes(config.scopes.iter().cloned().map(Scope::new))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
            .url();
        Ok(url.into())
    }

    /// The claims about the person whom the provider redirected back with `code`.
    pub async fn claims(&self, code: String, handshake: &Handshake) -> Result<Claims, AppError> {
        let response = self.redeem(code, handshake).await?;
        let token = response.id_token().ok_or_else(|| failed("a response without an ID token"))?;
        // Parsed again, with all of its claims.
        let token: Token = token.to_string().parse().map_err(failed)?;
        let verified = self.verified(&token, &Nonce::new(handshake.nonce.clone())).await?;
        let mut claims = Claims {
            subject: verified.subject().to_string(),
            email: verified.email().map(|email| email.to_string()),
            email_verified: verified.email_verified() == Some(true),
            groups: self.groups(verified.additional_claims())?,
        };
        // Many providers return a small ID token, and more claims from the userinfo endpoint.
        if (claims.email.is_none() || claims.groups.is_empty())
            && let Some(user_info) = self.user_info_of(response.access_token().clone(), &verified).await?
        {
            if let Some(email) = user_info.email() {
                claims.email = Some(email.to_string());
                claims.email_verified = user_info.email_verified() == Some(true);
            }
            claims.groups.extend(self.groups(user_info.additional_claims())?);
        }
        Ok(claims)
    }

    async fn redeem(&self, code: String, handshake: &Handshake) -> Result<CoreTokenResponse, AppError> {
        let (config, published) = (self.config()?, self.published().await?);
        let client =
            CoreClient::from_provider_metadata((*published).clone(), id(&config), Some(secret(&config)))
                .set_redirect_uri(self.callback.clone());
        let request = client.exchange_code(AuthorizationCode::new(code)).map_err(failed)?;
        let response = request
            .set_pkce_verifier(PkceCodeVerifier::new(handshake.verifier.clone()))
            .request_async(&self.exchange())
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
    async fn verified(&self, token: &Token, nonce: &Nonce) -> Result<Verified, AppError> {
        let (config, published) = (self.config()?, self.published().await?);
        let first = token.claims(&verifier(&config, &published), nonce);
        let checked = match first {
            // The provider may have rotated its keys since they were fetched.
            Err(ClaimsVerificationError::SignatureVerification(
                SignatureVerificationError::NoMatchingKey,
            )) => {
                let published = self.publish_anew().await?;
                token.claims(&verifier(&config, &published), nonce).cloned()
            }
            checked => checked.cloned(),
        };
        checked.map_err(|error| {
            tracing::warn!(%error, "an ID token was refused");
            AppError::new(
                ErrorCode::Forbidden,
                "Your provider's answer about you is not valid here. Sign in again; if that fails, ask an administrator.",
            )
        })
    }

    /// The claims from the userinfo endpoint, if the provider has one.
    async fn user_info_of(
        &self,
        access: AccessToken,
        verified: &Verified,
    ) -> Result<Option<UserInfoClaims<ExtraClaims, CoreGenderClaim>>, AppError> {
        let (config, published) = (self.config()?, self.published().await?);
        let client = CoreClient::from_provider_metadata((*published).clone(), id(&config), None);
        let Ok(request) = client.user_info(access, Some(verified.subject().clone())) else { return Ok(None) };
        request.request_async(&self.exchange()).await.map(Some).map_err(failed)
    }

    fn groups(&self, claims: &ExtraClaims) -> Result<Vec<String>, AppError> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Ok(match claims.0.get(&self.config()?.groups_claim) {
            Some(Value::Array(groups)) => groups.iter().filter_map(text).collect(),
            Some(one) => text(one).into_iter().collect(),
            None => Vec::new(),
        })
    }

    async fn published(&self) -> Result<Arc<CoreProviderMetadata>, AppError> {
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

    async fn publish_anew(&self) -> Result<Arc<CoreProviderMetadata>, AppError> {
        *self.published.lock().await = None;
        self.published().await
    }

    async fn discover(&self) -> Result<CoreProviderMetadata, AppError> {
        CoreProviderMetadata::discover_async(self.issuer.clone(), &self.exchange()).await.map_err(failed)
    }

    fn exchange(&self) -> impl Fn(HttpRequest) -> Exchange + use<> {
        exchange(self.http.clone())
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
        let exchange = exchange(http::client(config.issuer.starts_with("https:"), authorities)?);
        let issuer = IssuerUrl::new(config.issuer.clone())?;
        CoreProviderMetadata::discover_async(issuer, &exchange).await?;
        Ok(())
    };
    match tokio::time::timeout(REACH_DEADLINE, discover).await {
        Ok(reached) => reached.map_err(why),
        Err(_) => Err(why(anyhow!("it does not answer in time"))),
    }
}

fn id(config: &SingleSignOnConfig) -> ClientId {
    ClientId::new(config.client_id.clone())
}

fn secret(config: &SingleSignOnConfig) -> ClientSecret {
    ClientSecret::new(config.client_secret.expose_secret().to_owned())
}

fn verifier(config: &SingleSignOnConfig, published: &CoreProviderMetadata) -> CoreIdTokenVerifier<'static> {
    CoreIdTokenVerifier::new_confidential_client(
        id(config),
        secret(config),
        published.issuer().clone(),
        published.jwks().clone(),
    )
    .set_allowed_algs(published.id_token_signing_alg_values_supported().clone())
}

type Exchange =
    std::pin::Pin<Box<dyn Future<Output = Result<openidconnect::HttpResponse, http::ExchangeError>> + Send>>;

/// The provider cannot be reached or returns an invalid response.
fn failed(error: impl Display) -> AppError {
    tracing::error!(%error, "the single sign-on provider failed");
    AppError::new(
        ErrorCode::UpstreamFailed,
        "The sign-in provider cannot be reached or does not answer as it should. Try again in a moment, or sign in with a password.",
    )
}
