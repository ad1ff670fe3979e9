//! Single sign-on: an OpenID Connect provider says who somebody is and which groups they are in (authorization code, PKCE,
//! state and nonce). Must not open sessions, nor take a person for another because of a name.

mod http;
mod person;
mod provider;
mod under_way;

use rustls::pki_types::CertificateDer;
use serde::Deserialize;

use crate::error::{AppError, ErrorCode};
use crate::server::clock::Clock;
use crate::server::config::{PublicUrl, SingleSignOnConfig};
use crate::server::store::Store;
use crate::server::store::users::User;
use provider::Provider;
use under_way::UnderWay;

pub(super) use person::follow;
pub use under_way::UNDER_WAY_SECONDS;

/// Where the provider sends people back to.
pub const CALLBACK: &str = "/login/sso/callback";

/// The provider, for everybody. Cloning gives another handle.
#[derive(Clone)]
pub struct SingleSignOn {
    provider: Provider,
    store: Store,
    clock: Clock,
    name: String,
}

/// What the provider sends back through the browser.
#[derive(Default, Deserialize)]
pub struct Returned {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
}

/// The way to the provider.
pub struct Begun {
    pub address: String,
    /// What the browser keeps in its cookie until it is back.
    pub kept: String,
}

impl SingleSignOn {
    pub fn new(
        config: SingleSignOnConfig,
        authorities: &[CertificateDer<'static>],
        public_url: &PublicUrl,
        store: Store,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let name = config.name.clone();
        let callback = format!("{}{CALLBACK}", public_url.origin());
        let provider = Provider::new(config, authorities, callback, clock.clone())?;
        Ok(Self { provider, store, clock, name })
    }

    /// What people call the provider.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Begins a sign-in that leads to `next`.
    pub async fn begin(&self, next: Option<&str>) -> Result<Begun, AppError> {
        let under_way = UnderWay::new(next, self.clock.now());
        let address = self.provider.way_there(&under_way).await?;
        Ok(Begun { address, kept: under_way.into_cookie() })
    }

    /// The person whom the provider sent back, and where they wanted to go. `kept` is what their browser brought along.
    pub async fn finish(&self, kept: Option<&str>, returned: Returned) -> Result<(User, String), AppError> {
        let now = self.clock.now();
        let under_way = kept.and_then(|kept| UnderWay::from_cookie(kept, now)).ok_or_else(not_under_way)?;
        if !returned.state.as_deref().is_some_and(|state| under_way.is_of(state)) {
            return Err(not_under_way());
        }
        if let Some(error) = returned.error {
            tracing::warn!(error = error.escape_debug().to_string(), "the provider signed nobody in");
            return Err(AppError::new(
                ErrorCode::Forbidden,
                "Your provider did not sign you in. Try again, or ask whoever administers it.",
            ));
        }
        let code = returned.code.ok_or_else(not_under_way)?;
        let claims = self.provider.claims(code, &under_way).await?;
        let user = self.person(&claims).await?;
        Ok((user, under_way.next))
    }
}

fn not_under_way() -> AppError {
    AppError::bad_input(
        "This sign-in was not begun in this browser, took too long, or is over. Start it again from the sign-in page.",
    )
}
