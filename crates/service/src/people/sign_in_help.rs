//! What administrators do for people who cannot sign in: a link for a new password, and removing the second factor.
//! These are not for their own accounts: the account page requires the current password, so that a stolen session is
//! not enough.

use super::{LINK_SECONDS, People};
use crate::auth::token;
use crate::caller::Caller;
use model::error::AppError;
use model::flash::Confirmation;
use model::id::PersonId;
use store::accounts::one_time_links::LinkToken;
use store::accounts::users::User;

impl People {
    /// Creates a one-time link with which a person sets a new password. Their earlier link becomes invalid. Their password
    /// remains valid until the link is used.
    pub async fn create_password_link(
        &self,
        caller: &Caller,
        user: &PersonId,
    ) -> Result<Confirmation, AppError> {
        let (user, secret) = (self.other(caller, user).await?, token::new());
        if user.password_hash.is_empty() {
            return Err(AppError::conflict(format!("{} has no password in Docket.", user.name)));
        }
        let now = self.clock.now();
        let link = LinkToken { hash: token::hash(&secret), expires_at: now.plus_seconds(LINK_SECONDS) };
        if !self.store.put_password_link(caller.authority(), &user.id, &link).await? {
            return Err(AppError::conflict(format!("{} is disabled. Enable the account first.", user.name)));
        }
        tracing::info!(name = user.name, by = caller.user.name, "link for a new password created");
        let sentence = format!(
            "Send {} this link to set a new password. It is shown only once, works once, and expires after 48 hours.",
            user.name
        );
        Ok(Confirmation::new(sentence).with_secret(self.one_time_url(&secret)))
    }

    /// Removes a person's authenticator, passkeys and recovery codes, and ends their sessions.
    pub async fn reset_second_factor(
        &self,
        caller: &Caller,
        user: &PersonId,
    ) -> Result<Confirmation, AppError> {
        let user = self.other(caller, user).await?;
        if !self.store.reset_second_factors(caller.authority(), &user.id).await? {
            return Err(AppError::conflict(format!(
                "{} has no second factor. Someone else may have reset it. Reload the page.",
                user.name
            )));
        }
        tracing::info!(name = user.name, by = caller.user.name, "second factor reset");
        Ok(Confirmation::new(format!(
            "The second factor of {} was removed, and they are signed out everywhere. They can set up a new one.",
            user.name
        )))
    }

    /// A person other than the caller.
    async fn other(&self, caller: &Caller, user: &PersonId) -> Result<User, AppError> {
        let user = self.found(user).await?;
        if user.id == caller.user.id {
            return Err(AppError::conflict(
                "This is your own account. Change your password and second factor on your account page.",
            ));
        }
        Ok(user)
    }
}
