//! Signing in with a passkey, for requests: alone, or as the second step after the password.

use leptos::prelude::expect_context;

use super::second_step;
use crate::auth::step_cookie::challenge;
use crate::state::AppState;
use base::instruments::SignInMeans;
use model::error::AppError;

/// The options for the browser. `second`: in the second step after the password.
pub async fn request_passkey(second: bool) -> Result<String, AppError> {
    let state: AppState = expect_context();
    let challenge = match second {
        true => state.passkeys.begin_second_step(super::request_ip()?, &second_step::token(&state)).await?,
        false => state.passkeys.begin_sign_in(super::request_ip()?).await?,
    };
    Ok(challenge::store_challenge(challenge, &state.public_url))
}

/// Opens a session if `credential` is a valid response to the challenge. Returns the redirect path.
pub async fn with_passkey(credential: &str, next: Option<&str>) -> Result<String, AppError> {
    let state: AppState = expect_context();
    let outcome = by_passkey(&state, credential, next).await;
    state.instruments.sign_in(SignInMeans::Passkey, outcome.as_ref().err());
    outcome
}

async fn by_passkey(state: &AppState, credential: &str, next: Option<&str>) -> Result<String, AppError> {
    let token = challenge::take_token(&state.public_url);
    let (user, next) = state
        .passkeys
        .finish(super::request_ip()?, &token, &second_step::token(state), credential, next)
        .await?;
    super::open_by(state, &super::parts()?, &user, "passkey").await?;
    second_step::report_wrong_codes(state, &user).await?;
    second_step::forget(state);
    Ok(next)
}
