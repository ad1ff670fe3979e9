//! The authorization of a request, checked again at the start of each of its write transactions: between the check of
//! the session and the write, the account may have been disabled or changed.
//!
//! Sessions themselves, counts and rate limits are written without this check.

use sqlx::{AnyConnection, Row};
use thiserror::Error;

use super::accounts::users::{self, User};

tokio::task_local! {
    static CURRENT: Authorization;
}

/// The account and the session of an admitted request. Cloning is cheap enough for each statement.
#[derive(Clone)]
pub struct Authorization {
    user: User,
    /// The stored hash of the session's id; `None` without a session of Docket (a trusted proxy named the user).
    session: Option<String>,
}

/// The account or the session of a request changed after the request was admitted.
#[derive(Debug, Error)]
#[error("the account or the session changed after the request was admitted")]
pub struct Revoked;

impl Authorization {
    pub fn new(user: User, session: Option<String>) -> Self {
        Self { user, session }
    }

    /// Runs `request`: each of its write transactions begins with [`check`]. Tasks that it spawns are not included.
    pub async fn scope<T>(self, request: impl Future<Output = T>) -> T {
        CURRENT.scope(self, request).await
    }

    /// The authorization of the running request, if any.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.try_with(Self::clone).ok()
    }

    /// Fails with [`Revoked`] if the account or the session changed.
    pub(crate) async fn check(&self, transaction: &mut AnyConnection) -> Result<(), sqlx::Error> {
        let row = sqlx::query(
            "SELECT users.*, (SELECT COUNT(*) FROM sessions WHERE id_hash = $2 AND user_id = users.id) AS has_session
             FROM users WHERE id = $1",
        )
        .bind(&self.user.id)
        .bind(self.session.as_deref().unwrap_or_default())
        .fetch_optional(transaction)
        .await?;
        let is_valid = match row {
            Some(row) => {
                let has_session = self.session.is_none() || row.try_get::<i64, _>("has_session")? > 0;
                has_session && users::user(&row).is_ok_and(|now| self.user.has_same_access(&now))
            }
            None => false,
        };
        if is_valid { Ok(()) } else { Err(sqlx::Error::AnyDriverError(Revoked.into())) }
    }
}
