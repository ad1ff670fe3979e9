//! The reasons why a passkey is refused, with their messages for people.

use std::fmt;

use thiserror::Error;
use webauthn_rs::prelude::WebauthnError;

use model::error::{AppError, ErrorCode};

#[derive(Debug, Error)]
pub(super) enum PasskeyError {
    #[error(
        "Passkeys need an https address with a host name, and Docket’s is {0}. Ask the administrator of this server (setting DOCKET_PUBLIC_URL)."
    )]
    NoAddress(String),
    #[error(
        "Another service signs you in, so a passkey of Docket’s is not needed. Add one there if it has them."
    )]
    NoPassword,
    #[error(
        "This request for a passkey took too long, was answered already, or was begun elsewhere. Start again."
    )]
    Over,
    #[error(
        "This request for a new passkey took too long, was answered already, or was begun elsewhere. Add the passkey again."
    )]
    AddingOver,
    #[error("The browser’s answer about the passkey could not be read. Reload the page and try again.")]
    Unreadable,
    #[error(
        "A passkey has a name of 1 to 64 visible characters. Choose another one, and add the passkey again."
    )]
    Name,
    #[error("This passkey is in use already. Use another device or another passkey.")]
    AlreadyAdded,
    #[error("You have 20 passkeys, which is the most. Remove one that you no longer use first.")]
    TooMany,
    #[error("This passkey no longer exists. Reload the page.")]
    Gone,
    #[error(
        "The passkey was not added: its device did not confirm that it is you, or answered for another address. Start again at Docket’s own address."
    )]
    NotAdded,
    #[error(
        "This passkey does not sign you in. Use another one, or your password; an administrator can reset your second factor."
    )]
    Refused,
    #[error(
        "This passkey was refused, because a copy of it may be in use. Sign in with your password, then remove it and add a new one."
    )]
    Copied,
    #[error(
        "Your second factor was switched on after you began to add this passkey. Add it again, and confirm with your second factor."
    )]
    Unproven,
    #[error(
        "Your passkey was not accepted as a confirmation. Try again, or enter a code or a recovery code."
    )]
    NotProven,
    #[error("Passkeys are unavailable right now. Try again in a moment.")]
    NotBegun,
}

impl PasskeyError {
    pub(super) fn not_begun(error: impl fmt::Display) -> Self {
        tracing::error!(%error, "a passkey could not be requested");
        Self::NotBegun
    }

    pub(super) fn not_added(error: WebauthnError) -> Self {
        tracing::warn!(%error, "a new passkey was refused");
        Self::NotAdded
    }
}

impl From<PasskeyError> for AppError {
    fn from(error: PasskeyError) -> Self {
        let code = match error {
            PasskeyError::NoAddress(_)
            | PasskeyError::NoPassword
            | PasskeyError::AddingOver
            | PasskeyError::Unproven
            | PasskeyError::AlreadyAdded
            | PasskeyError::TooMany
            | PasskeyError::Gone => ErrorCode::Conflict,
            PasskeyError::Unreadable
            | PasskeyError::Name
            | PasskeyError::NotAdded
            | PasskeyError::NotProven => ErrorCode::BadInput,
            PasskeyError::Over | PasskeyError::Refused | PasskeyError::Copied => ErrorCode::Unauthenticated,
            PasskeyError::NotBegun => ErrorCode::Internal,
        };
        Self::new(code, error.to_string())
    }
}
