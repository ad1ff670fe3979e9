//! The present password of a signed-in person, before changes to their own account. A stolen session must not allow guessing it
//! faster than the sign-in page does.

use secrecy::SecretString;

use super::guard::Caller;
use super::hashing::Asker;
use super::password::PasswordCheck;
use super::sign_in;
use crate::error::AppError;
use crate::model::audit::{Action, AuditEvent};

/// Checks the caller's password; a wrong one counts as an attempt to sign in, and is recorded.
pub async fn check_current(caller: &Caller, password: String) -> Result<(), AppError> {
    let Caller { state, user, address, .. } = caller;
    let attempt = state.attempts.begin(&user.name, *address).map_err(sign_in::too_often)?;
    let stored = Some(user.password_hash.clone()).filter(|hash| !hash.is_empty());
    let asker = Asker::new(*address, true);
    let check = match state.passwords.verify(SecretString::from(password), stored, asker).await {
        Ok(check) => check,
        Err(error) => {
            attempt.passed();
            return Err(sign_in::unchecked(error).await);
        }
    };
    if check == PasswordCheck::Wrong {
        let event = AuditEvent::new(Action::UserPassword).refused();
        state.store.record_often(&caller.actor(), &event, state.clock.now()).await?;
        return Err(AppError::bad_input("Incorrect current password. Nothing was changed."));
    }
    attempt.succeeded().await;
    Ok(())
}
