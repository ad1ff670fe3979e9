//! The errors of attempts that were not checked, and of people who may not enter.

use std::net::IpAddr;

use super::attempts::Attempts;
use super::password::PasswordError;
use model::error::{AppError, ErrorCode};
use store::accounts::admission::NotAdmitted;

/// How long a client waits after it was refused because of too many others.
const BUSY_SECONDS: u64 = 5;

/// The error for a password that could not be checked.
pub async fn unchecked(error: PasswordError, attempts: &Attempts, ip: IpAddr) -> AppError {
    match error {
        PasswordError::Busy => too_many(attempts, ip).await,
        PasswordError::Hash(_) => internal(error),
    }
}

/// The error when too many passwords wait to be checked.
pub async fn too_many(attempts: &Attempts, ip: IpAddr) -> AppError {
    attempts.record_overload(ip).await;
    attempts.tell_wait(BUSY_SECONDS);
    AppError::new(
        ErrorCode::Busy,
        "Too many people are signing in at the moment. Nothing was checked. Try again in a few seconds.",
    )
}

/// The message to a person whom a provider or a proxy identified, and who may not enter.
pub fn not_admitted(why: NotAdmitted) -> &'static str {
    match why {
        NotAdmitted::Disabled => "Your account here is disabled. Ask an administrator to enable it.",
        NotAdmitted::Invited { .. } => {
            "Accept your invitation first, with the link that an administrator sent you."
        }
        NotAdmitted::InvitationOnHold => {
            "Your invitation is on hold, because the person who invited you is no longer an administrator. Ask an administrator to release it."
        }
    }
}

pub fn internal(error: impl std::fmt::Display) -> AppError {
    tracing::error!(%error, "sign-in failed");
    AppError::new(ErrorCode::Internal, "Sign-in is unavailable right now. Try again in a moment.")
}
