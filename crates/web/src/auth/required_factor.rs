//! Where a second factor is required, a person without one gets only the page that sets it up, and signing out. This
//! applies to sign-ins with a password.

use axum::response::{IntoResponse, Redirect, Response};

use super::roles::{self, Access};
use crate::request::error_response::status_of;
use crate::state::AppState;
use model::error::{AppError, ErrorCode};
use model::links;
use store::accounts::users::User;

const OPEN: &[&str] = &[
    links::SECOND_FACTOR,
    "/api/account/get",
    "/api/passkeys/add",
    "/api/passkeys/begin",
    "/api/second-factor/begin",
    "/api/second-factor/confirm",
    "/api/session/current",
    "/api/session/logout",
];

/// The response to a person who has to set up a second factor before `path`; `None` for everybody else.
pub(super) async fn first(state: &AppState, user: &User, path: &str, wants_html: bool) -> Option<Response> {
    let is_open = OPEN.contains(&path) || roles::of(path) == Some(Access::Anybody);
    if !state.settings().access.require_second_factor || is_open {
        return None;
    }
    match state.second_factors.is_missing(user).await {
        Ok(false) => None,
        Ok(true) if wants_html => Some(Redirect::to(links::SECOND_FACTOR).into_response()),
        Ok(true) => Some(refused(AppError::new(
            ErrorCode::SecondFactorRequired,
            "Set up a second factor first: Docket requires one of everybody. Open Docket in a browser to do that.",
        ))),
        Err(error) => Some(refused(error.into())),
    }
}

fn refused(error: AppError) -> Response {
    (status_of(error.code), axum::Json(error)).into_response()
}
