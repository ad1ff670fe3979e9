//! Single sign-on: an OpenID Connect provider identifies people and their groups (authorization code flow with PKCE,
//! state and nonce). People are never matched by name.

mod pending;
mod person;

use std::net::IpAddr;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use serde::Deserialize;

use super::attempts::Attempts;
use super::shared_key::SharedKey;
use base::clock::Clock;
use base::config::{PublicUrl, SingleSignOnConfig};
use base::settings::Live;
use clients::provider::Provider;
use model::error::{AppError, ErrorCode};
use pending::PendingSignIn;
use store::Store;
use store::accounts::admission::Admitted;

pub use pending::PENDING_SIGN_IN_SECONDS;
pub use person::{admitted, follow};

/// The path of the redirect URI.
pub const CALLBACK: &str = "/login/sso/callback";

/// The configured provider. Clones share their state.
#[derive(Clone)]
pub struct SingleSignOn {
    provider: Provider,
    store: Store,
    clock: Clock,
    attempts: Attempts,
    /// Signs the cookies of sign-ins that this server began.
    key: SharedKey,
}

/// The query of the provider's redirect.
#[derive(Default, Deserialize)]
pub struct AuthorizationResponse {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
}

/// The redirect to the provider.
pub struct AuthorizationRedirect {
    pub address: String,
    /// The value of the cookie that stores the state of the sign-in.
    pub cookie: String,
}

impl SingleSignOn {
    pub fn new(
        config: &SingleSignOnConfig,
        settings: Live<Option<Arc<SingleSignOnConfig>>>,
        authorities: &[CertificateDer<'static>],
        public_url: &PublicUrl,
        store: Store,
        clock: Clock,
        attempts: Attempts,
    ) -> anyhow::Result<Self> {
        let callback = format!("{}{CALLBACK}", public_url.origin());
        let provider = Provider::new(config, settings, authorities, callback, clock.clone())?;
        let key = SharedKey::new(store.clone(), "single sign-on");
        Ok(Self { provider, store, clock, attempts, key })
    }

    /// The provider's name on the sign-in page.
    pub fn name(&self) -> Result<String, AppError> {
        Ok(self.provider.config()?.name.clone())
    }

    /// Begins a sign-in that ends at `next`.
    pub async fn begin(&self, next: Option<&str>) -> Result<AuthorizationRedirect, AppError> {
        let pending = PendingSignIn::new(next, self.clock.now());
        let address = self.provider.authorization_url(&pending.handshake).await?;
        Ok(AuthorizationRedirect { address, cookie: pending.into_cookie(&self.key).await? })
    }

    /// The signed-in person, and the path they requested. `address` is the client IP, `cookie` the value of the cookie.
    pub async fn finish(
        &self,
        cookie: Option<&str>,
        response: AuthorizationResponse,
        address: IpAddr,
    ) -> Result<(Admitted, String), AppError> {
        let pending =
            self.pending(cookie, response.state.as_deref()).await?.ok_or_else(no_pending_sign_in)?;
        if let Some(error) = response.error {
            tracing::warn!(error = error.escape_debug().to_string(), "the provider returned an error");
            return Err(AppError::new(
                ErrorCode::Forbidden,
                "Your provider did not sign you in. Try again, or ask its administrator.",
            ));
        }
        let code = response.code.ok_or_else(no_pending_sign_in)?;
        let callback = self.attempts.callback(address).await?;
        let claims = self.provider.claims(code, &pending.handshake).await?;
        let user = self.person(&claims).await?;
        callback.succeeded().await;
        Ok((user, pending.next))
    }

    /// The sign-in of the cookie, if this server began it and the provider's `state` matches.
    async fn pending(
        &self,
        cookie: Option<&str>,
        state: Option<&str>,
    ) -> Result<Option<PendingSignIn>, AppError> {
        let (Some(cookie), Some(state)) = (cookie, state) else { return Ok(None) };
        let pending = PendingSignIn::from_cookie(cookie, &self.key, self.clock.now()).await?;
        Ok(pending.filter(|pending| pending.is_of(state)))
    }
}

fn no_pending_sign_in() -> AppError {
    AppError::bad_input(
        "This sign-in was not started in this browser, took too long, or has ended. Start again from the sign-in page.",
    )
}
