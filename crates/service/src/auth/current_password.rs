//! Checks the current password of a signed-in person before changes to their account. With a stolen session, guesses
//! are limited as on the sign-in page.

use std::net::IpAddr;

use secrecy::SecretString;

use super::attempts::Attempts;
use super::hashing::Requester;
use super::password::{PasswordCheck, Passwords};
use super::refusal;
use super::refusal_record::RefusalRecord;
use model::audit::{Action, AuditEvent};
use model::error::AppError;
use store::accounts::users::User;

/// Clones share their state.
#[derive(Clone)]
pub struct CurrentPassword {
    attempts: Attempts,
    refusals: RefusalRecord,
    passwords: Passwords,
}

impl CurrentPassword {
    pub fn new(attempts: Attempts, refusals: RefusalRecord, passwords: Passwords) -> Self {
        Self { attempts, refusals, passwords }
    }

    /// Checks a person's password; a wrong one counts as an attempt to sign in, and is recorded.
    pub async fn check(&self, user: &User, ip: IpAddr, password: String) -> Result<(), AppError> {
        let attempt = self.attempts.begin(&user.name, ip).await?;
        let stored = Some(user.password_hash.clone()).filter(|hash| !hash.is_empty());
        let check =
            match self.passwords.verify(SecretString::from(password), stored, Requester::new(ip, true)).await
            {
                Ok(check) => check,
                Err(error) => {
                    attempt.passed().await;
                    return Err(refusal::unchecked(error, &self.attempts, ip).await);
                }
            };
        if check == PasswordCheck::Wrong {
            let event = AuditEvent::new(Action::UserPassword).refused();
            self.refusals.note(&user.actor(&ip.to_string()), &event).await;
            return Err(AppError::bad_input("Incorrect current password. Nothing was changed."));
        }
        attempt.succeeded().await;
        Ok(())
    }
}
