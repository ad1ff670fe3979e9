//! Adding second factors to a person's own account, and removing them.

use crate::server::auth::guard::Caller;
use crate::server::auth::passkeys::{IssuedChallenge, browser};
use crate::server::auth::second_factor::{Proof, ProofFields};
use model::audit::Action;
use model::error::AppError;
use model::id::PasskeyId;

/// Proposes a secret for the caller's authenticator.
pub async fn begin_authenticator(caller: &Caller, fields: ProofFields) -> Result<(), AppError> {
    let proof = proof(caller, fields, Action::SecondFactorOn).await?;
    caller.state.second_factors.begin(caller.authorization(), proof).await
}

/// Removes the caller's authenticator. Returns whether a second factor remains.
pub async fn remove_authenticator(caller: &Caller, fields: ProofFields) -> Result<bool, AppError> {
    let proof = proof(caller, fields, Action::SecondFactorOff).await?;
    caller.state.second_factors.remove(caller.authorization(), proof).await
}

/// Begins adding a passkey of the caller.
pub async fn begin_passkey(caller: &Caller, fields: ProofFields) -> Result<IssuedChallenge, AppError> {
    let token = token_of(caller, &fields);
    caller.state.passkeys.begin_adding(caller.authorization(), &token, fields).await
}

/// Removes a passkey of the caller. Returns whether a second factor remains.
pub async fn remove_passkey(caller: &Caller, passkey: &str, fields: ProofFields) -> Result<bool, AppError> {
    let id: PasskeyId = passkey.parse().map_err(AppError::bad_input)?;
    let proof = proof(caller, fields, Action::PasskeyRemove).await?;
    caller.state.passkeys.remove(caller.authorization(), &id, proof).await
}

async fn proof(caller: &Caller, fields: ProofFields, action: Action) -> Result<Proof, AppError> {
    let token = token_of(caller, &fields);
    caller.state.passkeys.proof(caller.authorization(), &token, fields, action).await
}

/// The token of the challenge for a passkey that is part of the proof.
fn token_of(caller: &Caller, fields: &ProofFields) -> String {
    if fields.passkey.is_empty() { String::new() } else { browser::take_token(&caller.state.public_url) }
}
