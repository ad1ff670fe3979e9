//! The second step of signing in. Between the right password and the right code there is no session, only a token for
//! this step.

use std::net::IpAddr;

use super::{SecondFactors, Spent, token, too_many_wrong};
use crate::auth::own_path::own_path;
use model::audit::{Action, AuditEvent};
use model::error::{AppError, ErrorCode};
use store::StoreError;
use store::accounts::admission::{Account, Admitted};
use store::accounts::second_factors::SignInStep;
use store::accounts::users::User;

/// How long a person may take to enter a code, in seconds.
pub const STEP_SECONDS: i64 = 10 * 60;
/// How many codes may be tried before the password is required again.
const MOST_TRIES: i64 = 5;

impl SecondFactors {
    /// Begins the second step after the right password, and returns the token for the browser's cookie.
    pub async fn begin_step(&self, user: &User, next: Option<&str>) -> Result<String, StoreError> {
        let (token, now) = (token::new(), self.clock.now());
        let step = SignInStep {
            user_id: user.id.clone(),
            session_stamp: user.session_stamp.clone(),
            next: own_path(next),
        };
        let until = now.plus_seconds(STEP_SECONDS);
        self.store.put_sign_in_step(&token::hash(&token), &step, now, until).await?;
        Ok(token)
    }

    /// Whether this token is valid for entering a code.
    pub async fn waits(&self, token: &str) -> Result<bool, StoreError> {
        let step = self.store.sign_in_step(&token::hash(token), MOST_TRIES, self.clock.now()).await?;
        Ok(step.is_some())
    }

    /// The person of this step, and the path they requested.
    pub async fn person_of_step(&self, token: &str) -> Result<(Admitted, String), AppError> {
        let step = self.store.sign_in_step(&token::hash(token), MOST_TRIES, self.clock.now()).await?;
        let step = step.ok_or_else(over)?;
        // A change of the password, role or the like ends this step too.
        let account = self.store.account_by_id(&step.user_id).await?;
        let user = account.and_then(Account::admitted);
        let user = user.filter(|user| user.session_stamp == step.session_stamp);
        Ok((user.ok_or_else(over)?, step.next))
    }

    /// Ends a step whose person has shown a second factor.
    pub async fn end_step(&self, token: &str) -> Result<(), AppError> {
        self.store.end_sign_in_step(&token::hash(token)).await?.then_some(()).ok_or_else(over)
    }

    /// The person, if the code is right, and the path they requested.
    pub async fn finish_step(
        &self,
        token: &str,
        ip: IpAddr,
        code: &str,
    ) -> Result<(Admitted, String), AppError> {
        let (hash, now) = (token::hash(token), self.clock.now());
        let (user, next) = self.person_of_step(token).await?;
        let attempt = self.attempts.begin(&user.name, ip).await?;
        // Counted before it is checked, so that parallel attempts cannot exceed the limit.
        if !self.store.count_try(&hash, MOST_TRIES, now).await? {
            return Err(over());
        }
        let spent = self.spend(&user.id, code).await?;
        if !matches!(spent, Spent::Right) {
            tracing::warn!(user = user.name, "a second factor was refused");
            let by = user.actor(&ip.to_string());
            let event = AuditEvent::new(Action::SignIn).refused().with_detail("second factor");
            self.refusals.note(&by, &event).await;
            if matches!(spent, Spent::TooOften) {
                return Err(too_many_wrong());
            }
            if !self.waits(token).await? {
                return Err(over());
            }
            return Err(AppError::new(
                ErrorCode::Unauthenticated,
                "Incorrect code, or it was used already. Enter the next one.",
            ));
        }
        self.end_step(token).await?;
        attempt.succeeded().await;
        Ok((user, next))
    }
}

fn over() -> AppError {
    AppError::new(
        ErrorCode::Unauthenticated,
        "This sign-in took too long, or too many codes were wrong. Enter your username and password again.",
    )
}
