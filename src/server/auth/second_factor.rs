//! The second factor: in addition to the password, a code of an authenticator or one of ten recovery codes (passkeys: `passkeys`). Must not
//! open sessions.

pub(super) mod recovery;
mod step;

use secrecy::SecretString;

use super::attempts::Attempts;
use super::hashing::Asker;
use super::password::{PasswordCheck, Passwords};
use super::{address, sign_in, token, totp};
use crate::error::AppError;
use crate::model::account::SecondFactor as State;
use crate::model::audit::{Action, AuditEvent};
use crate::server::clock::Clock;
use crate::server::config::PublicUrl;
use crate::server::store::second_factors::SecondFactor;
use crate::server::store::users::User;
use crate::server::store::{Store, StoreError};

pub use step::STEP_SECONDS;

/// How long a proposed secret can be confirmed, in seconds.
const PROPOSED_SECONDS: i64 = 15 * 60;

/// All second factors. Cloning gives another handle.
#[derive(Clone)]
pub struct SecondFactors {
    store: Store,
    clock: Clock,
    attempts: Attempts,
    passwords: Passwords,
    /// The name under which authenticators list the secret.
    issuer: String,
}

impl SecondFactors {
    pub fn new(
        store: Store,
        clock: Clock,
        attempts: Attempts,
        passwords: Passwords,
        public_url: &PublicUrl,
    ) -> Self {
        Self { store, clock, attempts, passwords, issuer: totp::issuer(public_url.origin()) }
    }

    /// Whether a person's sign-in asks for more than the password: a code or a passkey.
    pub async fn is_on(&self, user: &User) -> Result<bool, StoreError> {
        Ok(self.has_authenticator(&user.id).await? || self.store.has_passkey(&user.id).await?)
    }

    /// Whether a person has an authenticator for codes.
    pub(super) async fn has_authenticator(&self, user: &str) -> Result<bool, StoreError> {
        Ok(self.store.second_factor(user).await?.is_some_and(|factor| factor.confirmed))
    }

    /// The state of a person's second factor.
    pub async fn state(&self, user: &User) -> Result<State, AppError> {
        Ok(match self.store.second_factor(&user.id).await? {
            Some(factor) if factor.confirmed => {
                State::On { codes_left: self.store.recovery_codes_left(&user.id).await? }
            }
            Some(factor) if self.can_be_confirmed(&factor) => State::Proposed {
                address: totp::address(&factor.secret, &self.issuer, &user.name),
                secret: factor.secret,
            },
            _ if user.password_hash.is_empty() => State::NoPassword,
            _ => State::Off,
        })
    }

    /// Proposes a new secret, which takes effect once a code of it was entered.
    pub async fn begin(&self, user: &User, password: &str) -> Result<(), AppError> {
        self.check_password(user, password).await?;
        let secret = totp::new_secret();
        if !self.store.propose_second_factor(&user.id, &secret, self.clock.now()).await? {
            return Err(AppError::conflict("Your second factor is on already. Reload the page."));
        }
        Ok(())
    }

    /// Activates the proposed secret if `code` is valid, and returns its recovery codes, which cannot be read again.
    pub async fn confirm(&self, user: &User, code: &str) -> Result<Vec<String>, AppError> {
        let proposed = self.store.second_factor(&user.id).await?;
        let proposed = proposed.filter(|factor| self.can_be_confirmed(factor)).ok_or_else(|| {
            AppError::conflict("There is nothing left to confirm. Reload the page and start again.")
        })?;
        let now = self.clock.now();
        let step = totp::step_of(&proposed.secret, &written(code), now).ok_or_else(not_right)?;
        let codes = recovery::new_codes();
        let hashes = recovery::hashes(&codes);
        let by = user.actor(&address::current().to_string());
        if !self.store.confirm_second_factor(&by, &proposed.secret, step, &hashes, now).await? {
            return Err(AppError::conflict("Another set-up was started meanwhile. Reload the page."));
        }
        tracing::info!(user = user.name, "second factor switched on");
        Ok(codes)
    }

    /// Replaces all recovery codes with new ones.
    pub async fn renew_codes(&self, user: &User, code: &str) -> Result<Vec<String>, AppError> {
        self.check_code(user, code).await?;
        let codes = recovery::new_codes();
        let by = user.actor(&address::current().to_string());
        self.store.renew_recovery_codes(&by, &recovery::hashes(&codes), self.clock.now()).await?;
        tracing::info!(user = user.name, "recovery codes replaced");
        Ok(codes)
    }

    /// Removes the authenticator, and returns whether something else than the password is still asked for.
    pub async fn remove(&self, user: &User, password: &str, code: &str) -> Result<bool, AppError> {
        self.check_password(user, password).await?;
        self.check_code(user, code).await?;
        let by = user.actor(&address::current().to_string());
        self.store.remove_second_factor(&user.id, &by, self.clock.now()).await?;
        tracing::info!(user = user.name, "second factor switched off");
        Ok(self.is_on(user).await?)
    }

    fn can_be_confirmed(&self, factor: &SecondFactor) -> bool {
        !factor.confirmed && self.clock.now().seconds_since(factor.created_at) < PROPOSED_SECONDS
    }

    pub(super) async fn check_password(&self, user: &User, password: &str) -> Result<(), AppError> {
        // A stolen session must not allow faster password guessing than the sign-in page.
        let attempt = self.attempts.begin(&user.name, address::current()).map_err(sign_in::too_often)?;
        let stored = Some(user.password_hash.clone()).filter(|hash| !hash.is_empty());
        let asker = Asker::new(address::current(), true);
        let check = match self.passwords.verify(SecretString::from(password), stored, asker).await {
            Ok(check) => check,
            Err(error) => {
                attempt.passed();
                return Err(sign_in::unchecked(error).await);
            }
        };
        if check == PasswordCheck::Wrong {
            let event = AuditEvent::new(Action::UserPassword).refused();
            let by = user.actor(&address::current().to_string());
            self.store.record_often(&by, &event, self.clock.now()).await?;
            return Err(AppError::bad_input("Incorrect password. Nothing was changed."));
        }
        attempt.passed();
        Ok(())
    }

    pub(super) async fn check_code(&self, user: &User, code: &str) -> Result<(), AppError> {
        let attempt = self.attempts.begin(&user.name, address::current()).map_err(sign_in::too_often)?;
        if !self.spend(&user.id, code).await? {
            return Err(not_right());
        }
        attempt.passed();
        Ok(())
    }

    /// Whether `code` is valid for a person; a valid code is used up.
    async fn spend(&self, user: &str, code: &str) -> Result<bool, StoreError> {
        let code = written(code);
        if code.len() > totp::DIGITS {
            return self.store.spend_recovery_code(user, &token::hash(&code)).await;
        }
        let Some(factor) = self.store.second_factor(user).await?.filter(|factor| factor.confirmed) else {
            return Ok(false);
        };
        match totp::step_of(&factor.secret, &code, self.clock.now()) {
            Some(step) => self.store.spend_step(user, step).await,
            None => Ok(false),
        }
    }
}

/// A code without the separators that people type.
fn written(code: &str) -> String {
    code.chars().filter(|c| !c.is_whitespace() && *c != '-').map(|c| c.to_ascii_lowercase()).collect()
}

fn not_right() -> AppError {
    AppError::bad_input("Incorrect code, or it was used already. Enter the next one.")
}
