//! The authorization of a request, checked again at the start of each of its write transactions: between the check of
//! the session or the API token and the write, the account may have been disabled or changed.
//!
//! Sessions themselves, counts and rate limits are written without this check.

use std::net::IpAddr;

use sqlx::{AnyConnection, AssertSqlSafe, Row};
use thiserror::Error;

use super::accounts::admission::{self, Admitted, COLUMNS, JOIN};
use super::accounts::users::User;
use base::clock::Clock;
use model::audit::Actor;
use model::id::ApiTokenId;
use model::time::Timestamp;

/// Counts the session `$2` of an account `u`.
const SESSION: &str = "SELECT COUNT(*) FROM sessions WHERE id_hash = $2 AND user_id = u.id";

/// Counts the API token `$2` of an account `u`.
const TOKEN: &str = "SELECT COUNT(*) FROM api_tokens WHERE id = $2 AND user_id = u.id AND revoked_at IS NULL";

/// The account of an admitted request, and its session or API token.
#[derive(Clone)]
pub struct Authorization {
    user: Admitted,
    by: Credential,
    client_ip: IpAddr,
    clock: Clock,
}

/// What a request was admitted by.
#[derive(Clone)]
enum Credential {
    /// The stored hash of a session's id; `None` without a session of Docket (a trusted proxy named the user).
    Session(Option<String>),
    /// The id of an API token.
    Token(String),
}

/// The account, the session or the API token of a request changed after the request was admitted.
#[derive(Debug, Error)]
#[error("the account, the session or the API token changed after the request was admitted")]
pub struct Revoked;

impl Authorization {
    /// Of a request with a session; `None` if a trusted proxy named the user.
    pub fn of_session(user: Admitted, session: Option<String>, client_ip: IpAddr, clock: Clock) -> Self {
        Self { user, by: Credential::Session(session), client_ip, clock }
    }

    /// Of a request with an API token, which stays valid with a new password.
    pub fn of_token(user: Admitted, token: &ApiTokenId, client_ip: IpAddr, clock: Clock) -> Self {
        Self { user, by: Credential::Token(token.to_string()), client_ip, clock }
    }

    /// The account when the request was admitted.
    pub fn user(&self) -> &Admitted {
        &self.user
    }

    pub fn client_ip(&self) -> IpAddr {
        self.client_ip
    }

    /// The stored hash of the session's id, if the request has a session.
    pub fn session(&self) -> Option<&str> {
        match &self.by {
            Credential::Session(session) => session.as_deref(),
            Credential::Token(_) => None,
        }
    }

    /// The account as an actor of the audit log.
    pub fn actor(&self) -> Actor {
        self.user.actor(&self.client_ip.to_string())
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Fails with [`Revoked`] if the account, the session or the API token changed.
    pub(crate) async fn check(&self, transaction: &mut AnyConnection) -> Result<(), sqlx::Error> {
        let (count, credential) = match &self.by {
            Credential::Session(session) => (SESSION, session.as_deref()),
            Credential::Token(token) => (TOKEN, Some(token.as_str())),
        };
        let statement =
            format!("SELECT {COLUMNS}, ({count}) AS credentials FROM users u {JOIN} WHERE u.id = $1");
        let row = sqlx::query(AssertSqlSafe(statement))
            .bind(&self.user.id)
            .bind(credential.unwrap_or_default())
            .fetch_optional(transaction)
            .await?;
        let is_valid = match row {
            Some(row) => {
                let is_there = credential.is_none() || row.try_get::<i64, _>("credentials")? > 0;
                let account = admission::account(&row).map_err(|error| sqlx::Error::Decode(error.into()))?;
                is_there && account.admitted().is_some_and(|now| self.is_valid_for(&now))
            }
            None => false,
        };
        if is_valid { Ok(()) } else { Err(sqlx::Error::AnyDriverError(Revoked.into())) }
    }

    fn is_valid_for(&self, now: &User) -> bool {
        match self.by {
            Credential::Session(_) => self.user.has_same_session(now),
            Credential::Token(_) => self.user.has_same_access(now),
        }
    }
}
