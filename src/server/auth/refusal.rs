//! The errors of attempts that were not checked.

use super::address;
use super::attempts::Attempts;
use super::password::PasswordError;
use super::retry_later::retry_after;
use crate::error::{AppError, ErrorCode};
use crate::model::audit::{Action, Actor, AuditEvent};
use crate::server::process::clock::Clock;
use crate::server::store::Store;

/// How long a client waits after it was refused because of too many others.
const BUSY_SECONDS: u64 = 5;

/// The error for a password that could not be checked.
pub(super) async fn unchecked(
    error: PasswordError,
    attempts: &Attempts,
    store: &Store,
    clock: &Clock,
) -> AppError {
    match error {
        PasswordError::Busy => too_many(attempts, store, clock).await,
        PasswordError::Hash(_) => internal(error),
    }
}

/// The error when too many passwords wait to be checked. Written to the log and the audit log once an hour.
pub(super) async fn too_many(attempts: &Attempts, store: &Store, clock: &Clock) -> AppError {
    if attempts.is_new_overload() {
        tracing::warn!("too many passwords wait to be checked; some sign-ins are turned away");
        let event = AuditEvent::new(Action::SignIn).refused().with_detail("Too many sign-ins at once");
        let by = Actor::unknown(&address::current().to_string());
        if let Err(error) = store.record(&by, &event, clock.now()).await {
            tracing::error!(%error, "an overload could not be recorded");
        }
    }
    retry_after(BUSY_SECONDS);
    AppError::new(
        ErrorCode::Busy,
        "Too many people are signing in at the moment. Nothing was checked. Try again in a few seconds.",
    )
}

pub(super) fn internal(error: impl std::fmt::Display) -> AppError {
    tracing::error!(%error, "sign-in failed");
    AppError::new(ErrorCode::Internal, "Sign-in is unavailable right now. Try again in a moment.")
}
