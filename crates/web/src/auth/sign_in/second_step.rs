//! The second step of signing in, for requests: the token is in a cookie, the code in the form.

use axum::http::request::Parts;

use leptos::prelude::{expect_context, use_context};

use crate::auth::session_store;
use crate::auth::step_cookie::{self, Purpose};
use crate::request::{cookie, flash};
use crate::state::AppState;
use base::instruments::SignInMeans;
use model::error::{AppError, ErrorCode};
use model::flash::{FlashMessage, WRONG_CODES};
use service::auth::second_factor::STEP_SECONDS;
use store::accounts::users::User;

/// The path of the page for the code.
pub const CODE_PAGE: &str = "/login/code";

/// Begins the second step after the right password.
pub(super) async fn begin(state: &AppState, user: &User, next: Option<&str>) -> Result<(), AppError> {
    let token = state.second_factors.begin_step(user, next).await?;
    cookie::send(step_cookie::set(Purpose::SecondFactor, &token, STEP_SECONDS, &state.public_url));
    tracing::info!(user = user.name, "second factor required");
    Ok(())
}

/// Opens a session if `code` is right, after the right password. Returns the path the person requested.
pub async fn with_code(code: &str) -> Result<String, AppError> {
    let state: AppState = expect_context();
    let outcome = by_code(&state, code).await;
    state.instruments.sign_in(SignInMeans::Code, outcome.as_ref().err());
    outcome
}

async fn by_code(state: &AppState, code: &str) -> Result<String, AppError> {
    let (user, next) = state.second_factors.finish_step(&token(state), super::request_ip()?, code).await?;
    super::open(&user).await?;
    forget(state);
    Ok(next)
}

/// The token of the second step in the cookie of the request; empty without one.
pub(super) fn token(state: &AppState) -> String {
    let token = use_context::<Parts>()
        .and_then(|parts| step_cookie::get(Purpose::SecondFactor, &parts.headers, &state.public_url));
    token.unwrap_or_default()
}

/// Removes the cookie of a step that has ended.
pub(super) fn forget(state: &AppState) {
    cookie::send(step_cookie::set(Purpose::SecondFactor, "", 0, &state.public_url));
}

/// Shows a signed-in person on the next page how many codes were wrong since their last sign-in.
pub(super) async fn report_wrong_codes(state: &AppState, user: &User) -> Result<(), AppError> {
    let what = match state.store.reset_wrong_codes(&user.id).await? {
        ..=0 => return Ok(()),
        1 => "1 wrong code was".to_owned(),
        wrong => format!("{wrong} wrong codes were"),
    };
    let sentence = format!(
        "{what} entered for your account since you last signed in. If that was not you, someone knows your password: change it at once."
    );
    let outcome = Err(AppError::new(ErrorCode::Forbidden, sentence));
    let message = FlashMessage { form: WRONG_CODES.to_owned(), outcome, typed: Vec::new() };
    let Some(session) = super::session(&super::parts()?)?.session.id() else { return Ok(()) };
    let owner = flash::Owner::Session(session_store::key(&session));
    if let Some(value) = state.flash.add(&owner, message).await? {
        cookie::send(cookie::set(flash::COOKIE, &value, flash::LIFETIME.as_secs() as i64, &state.public_url));
    }
    Ok(())
}
