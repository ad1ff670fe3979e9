//! Adding second factors to a person's own account.

use crate::error::AppError;
use crate::model::audit::Action;
use crate::server::auth::guard::Caller;
use crate::server::auth::passkeys::{IssuedChallenge, browser};
use crate::server::auth::second_factor::ProofFields;

/// Proposes a secret for the caller's authenticator.
pub async fn begin_authenticator(caller: &Caller, fields: ProofFields) -> Result<(), AppError> {
    let state = &caller.state;
    let token = token_of(caller, &fields);
    let proof =
        state.passkeys.proof(caller.authorization(), &token, fields, Action::SecondFactorOn).await?;
    state.second_factors.begin(caller.authorization(), proof).await
}

/// Begins adding a passkey of the caller.
pub async fn begin_passkey(caller: &Caller, fields: ProofFields) -> Result<IssuedChallenge, AppError> {
    let token = token_of(caller, &fields);
    caller.state.passkeys.begin_adding(caller.authorization(), &token, fields).await
}

/// The token of the challenge for a passkey that is part of the proof.
fn token_of(caller: &Caller, fields: &ProofFields) -> String {
    if fields.passkey.is_empty() { String::new() } else { browser::take_token(&caller.state.public_url) }
}
