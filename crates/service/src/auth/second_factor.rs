//! The second factor: in addition to the password, a code of an authenticator or one of ten recovery codes (passkeys:
//! `passkeys`).

mod proof;
pub(super) mod recovery;
mod step;

use std::net::IpAddr;

use unicode_normalization::UnicodeNormalization;

use super::attempts::Attempts;
use super::current_password::CurrentPassword;
use super::refusal_record::RefusalRecord;
use super::{token, totp};
use base::clock::Clock;
use base::config::PublicUrl;
use model::account::SecondFactor as State;
use model::audit::{Action, Actor, AuditEvent};
use model::error::{AppError, ErrorCode};
use store::accounts::second_factors::{Proposed, RemovedAuthenticator, SecondFactor};
use store::accounts::users::User;
use store::authorization::Authorization;
use store::{Store, StoreError};

pub(super) use proof::missing;
pub use proof::{Proof, ProofFields};
pub use step::STEP_SECONDS;

/// The number of wrong codes in a row after which codes are refused until an administrator sets a new password.
const MOST_WRONG: i64 = 100;

/// How long a proposed secret can be confirmed, in seconds.
const PROPOSED_SECONDS: i64 = 15 * 60;

/// All second factors. Clones share their state.
#[derive(Clone)]
pub struct SecondFactors {
    store: Store,
    clock: Clock,
    attempts: Attempts,
    refusals: RefusalRecord,
    current_password: CurrentPassword,
    /// The name under which authenticators list the secret.
    issuer: String,
}

impl SecondFactors {
    pub fn new(
        store: Store,
        clock: Clock,
        attempts: Attempts,
        refusals: RefusalRecord,
        current_password: CurrentPassword,
        public_url: &PublicUrl,
    ) -> Self {
        Self { store, clock, attempts, refusals, current_password, issuer: totp::issuer(public_url.origin()) }
    }

    /// Whether a person's sign-in requires a code or a passkey in addition to the password.
    pub async fn is_on(&self, user: &User) -> Result<bool, StoreError> {
        Ok(self.has_authenticator(&user.id).await? || self.store.has_passkey(&user.id).await?)
    }

    /// Whether a person has an authenticator for codes.
    pub(super) async fn has_authenticator(&self, user: &str) -> Result<bool, StoreError> {
        Ok(self.store.second_factor(user).await?.is_some_and(|factor| factor.confirmed))
    }

    /// Whether a person must set up a second factor before anything else, if people must have one. Providers and
    /// proxies have second factors of their own.
    pub async fn is_missing(&self, user: &User) -> Result<bool, StoreError> {
        Ok(!user.password_hash.is_empty() && !self.is_on(user).await?)
    }

    /// The state of a person's second factor. A proposed secret exists only in the session that proposed it.
    pub async fn state(&self, request: &Authorization) -> Result<State, AppError> {
        let user = request.user();
        Ok(match self.store.second_factor(&user.id).await? {
            Some(factor) if factor.confirmed => {
                State::On { codes_left: self.store.recovery_codes_left(&user.id).await? }
            }
            Some(factor) if self.can_be_confirmed(&factor, request) => State::Proposed {
                address: totp::url(&factor.secret, &self.issuer, &user.name),
                secret: factor.secret,
            },
            _ if user.password_hash.is_empty() => State::NoPassword,
            _ => State::Off,
        })
    }

    /// Proposes a new secret, which takes effect once a code of it was entered.
    pub async fn begin(&self, request: &Authorization, proof: Proof) -> Result<(), AppError> {
        let (user, secret) = (request.user(), totp::new_secret());
        let proposed = self.store.propose_second_factor(
            request.into(),
            &user.id,
            &secret,
            request.session(),
            proof.has_factor(),
        );
        match proposed.await? {
            Proposed::Done => Ok(()),
            Proposed::AlreadyOn => Err(already_on()),
            Proposed::Unproven => Err(proof::missing()),
        }
    }

    /// Activates the secret that the same session proposed if `code` is valid, and returns its recovery codes, which cannot be read again.
    pub async fn confirm(&self, request: &Authorization, code: &str) -> Result<Vec<String>, AppError> {
        let user = request.user();
        let proposed = self.store.second_factor(&user.id).await?;
        let proposed = proposed.filter(|factor| self.can_be_confirmed(factor, request)).ok_or_else(|| {
            AppError::conflict("There is nothing left to confirm. Reload the page and start again.")
        })?;
        let now = self.clock.now();
        let Some(step) = totp::step_of(&proposed.secret, &written(code), now) else {
            self.record_wrong_code(&request.actor(), Action::SecondFactorOn).await;
            return Err(not_right());
        };
        let codes = recovery::new_codes();
        let hashes = recovery::hashes(&codes);
        if !self.store.confirm_second_factor(request.into(), &proposed.secret, step, &hashes).await? {
            return Err(AppError::conflict("Another set-up was started meanwhile. Reload the page."));
        }
        tracing::info!(user = user.name, "second factor switched on");
        Ok(codes)
    }

    /// Replaces all recovery codes with new ones. Wrong codes count against the person, so the password comes first.
    pub async fn renew_codes(
        &self,
        request: &Authorization,
        password: String,
        code: &str,
    ) -> Result<Vec<String>, AppError> {
        let (user, ip) = (request.user(), request.client_ip());
        self.current_password.check(user, ip, password).await?;
        self.check_code(user, ip, code, Action::RecoveryCodes).await?;
        let codes = recovery::new_codes();
        if !self.store.renew_recovery_codes(request.into(), &recovery::hashes(&codes)).await? {
            return Err(no_longer_on());
        }
        tracing::info!(user = user.name, "recovery codes replaced");
        Ok(codes)
    }

    /// Removes the authenticator. Returns whether a sign-in still requires more than the password.
    pub async fn remove(&self, request: &Authorization, proof: Proof) -> Result<bool, AppError> {
        let user = request.user();
        let removed = self.store.remove_second_factor(request.into(), &user.id, proof.has_factor()).await?;
        let still_on = match removed {
            RemovedAuthenticator::Done { still_on } => still_on,
            RemovedAuthenticator::Unproven => return Err(proof::missing()),
            RemovedAuthenticator::NotFound => return Err(no_longer_on()),
        };
        tracing::info!(user = user.name, "second factor switched off");
        Ok(still_on)
    }

    /// Whether this request can confirm a proposed secret: it has the same session.
    fn can_be_confirmed(&self, factor: &SecondFactor, request: &Authorization) -> bool {
        !factor.confirmed
            && factor.proposed_by.as_deref() == request.session()
            && self.clock.now().seconds_since(factor.created_at) < PROPOSED_SECONDS
    }

    /// Checks a code before `action`, after the password: wrong ones count against the person, and are recorded.
    pub(super) async fn check_code(
        &self,
        user: &User,
        ip: IpAddr,
        code: &str,
        action: Action,
    ) -> Result<(), AppError> {
        let attempt = self.attempts.begin(&user.name, ip).await?;
        let spent = self.spend(&user.id, code).await?;
        if matches!(spent, Spent::Right) {
            attempt.passed().await;
            return Ok(());
        }
        self.record_wrong_code(&user.actor(&ip.to_string()), action).await;
        Err(if matches!(spent, Spent::TooOften) { too_many_wrong() } else { not_right() })
    }

    async fn record_wrong_code(&self, by: &Actor, action: Action) {
        let event = AuditEvent::new(action).refused().with_detail("wrong code");
        self.refusals.note(by, &event).await;
    }

    /// Checks a person's code; a valid one is used up. After too many wrong ones in a row, codes are no longer checked.
    async fn spend(&self, user: &str, code: &str) -> Result<Spent, StoreError> {
        // Counted before it is checked, so that parallel attempts cannot exceed the limit.
        if !self.store.count_code(user, MOST_WRONG).await? {
            return Ok(Spent::TooOften);
        }
        let is_right = self.is_right(user, code).await?;
        if !is_right {
            return Ok(Spent::Wrong);
        }
        self.store.note_right_code(user).await?;
        Ok(Spent::Right)
    }

    async fn is_right(&self, user: &str, code: &str) -> Result<bool, StoreError> {
        let code = written(code);
        if code.len() > totp::DIGITS {
            return self.store.spend_recovery_code(user, &token::hash(&code)).await;
        }
        let Some(factor) = self.store.second_factor(user).await?.filter(|factor| factor.confirmed) else {
            return Ok(false);
        };
        match totp::step_of(&factor.secret, &code, self.clock.now()) {
            Some(step) => self.store.spend_step(user, &factor.secret, step).await,
            None => Ok(false),
        }
    }
}

/// The result of checking a code.
enum Spent {
    Right,
    Wrong,
    /// Not checked: too many were wrong.
    TooOften,
}

/// A code without the separators that people type, and with the digits of ASCII: an input method may write full-width ones.
fn written(code: &str) -> String {
    code.nfkc().filter(|c| !c.is_whitespace() && *c != '-').map(|c| c.to_ascii_lowercase()).collect()
}

fn already_on() -> AppError {
    AppError::conflict("Your second factor is on already. Reload the page.")
}

fn no_longer_on() -> AppError {
    AppError::conflict("Your second factor was switched off meanwhile. Reload the page.")
}

fn not_right() -> AppError {
    AppError::bad_input("Incorrect code, or it was used already. Enter the next one.")
}

/// The error after too many wrong codes in a row.
fn too_many_wrong() -> AppError {
    AppError::new(
        ErrorCode::Forbidden,
        format!(
            "{MOST_WRONG} codes in a row were wrong, so codes of this account are no longer checked. Ask an administrator for a link to set a new password (or docket user passwd on the server)."
        ),
    )
}
