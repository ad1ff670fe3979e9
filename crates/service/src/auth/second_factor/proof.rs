//! Proof of who a person is, before a second factor is added or removed: the password, and one of their second factors while one is
//! on. Otherwise a stolen session and a password would be enough to add another one, or to leave the weakest one.

use super::SecondFactors;
use model::audit::Action;
use model::error::AppError;
use store::authorization::Authorization;

/// The fields of a form that adds or removes a second factor.
#[derive(Default)]
pub struct ProofFields {
    pub password: String,
    /// A code of the authenticator, or a recovery code. Empty without one.
    pub code: String,
    /// The response of an existing passkey, in JSON. Empty without one.
    pub passkey: String,
    /// The token of the challenge for it. Empty without one.
    pub challenge: String,
}

/// A person showed their password, and perhaps a second factor.
#[derive(Debug)]
pub struct Proof {
    has_factor: bool,
}

impl Proof {
    /// Of a person who responded with a passkey, whose challenge required the password.
    pub(in crate::auth) const fn by_passkey() -> Self {
        Self { has_factor: true }
    }

    /// Whether the person showed a second factor.
    pub const fn has_factor(&self) -> bool {
        self.has_factor
    }
}

impl SecondFactors {
    /// Checks the password, and a code if a second factor is on. `action`: for which it is needed.
    pub(in crate::auth) async fn prove(
        &self,
        request: &Authorization,
        fields: ProofFields,
        action: Action,
    ) -> Result<Proof, AppError> {
        let (user, ip) = (request.user(), request.client_ip());
        self.current_password.check(user, ip, fields.password).await?;
        if !self.is_on(user).await? {
            return Ok(Proof { has_factor: false });
        }
        if action == Action::SecondFactorOn && self.has_authenticator(&user.id).await? {
            return Err(super::already_on());
        }
        if fields.code.trim().is_empty() {
            return Err(missing());
        }
        self.check_code(user, ip, &fields.code, action).await?;
        Ok(Proof { has_factor: true })
    }
}

/// The error without a proof of the second factor that is on.
pub(in crate::auth) fn missing() -> AppError {
    AppError::bad_input(
        "Your account has a second factor. Confirm with it first: enter a code or a recovery code, or use your passkey.",
    )
}
