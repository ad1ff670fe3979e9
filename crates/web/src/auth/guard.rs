//! The guard at the top of every server function: the caller and their permission.

use axum::http::request::Parts;
use leptos::prelude::{expect_context, use_context};
use leptos::server_fn::ServerFn;

use super::roles::{self, PageData};
use crate::state::AppState;
use model::error::{AppError, ErrorCode};
use service::caller::Caller;
use store::authorization::Authorization;

/// The caller, if they may call the server function `F`, and the services.
pub fn of<F: ServerFn>() -> Result<(Caller, AppState), AppError> {
    of_path(F::PATH)
}

/// The caller, if they may see this data of a page, and the services.
pub fn of_page(data: PageData) -> Result<(Caller, AppState), AppError> {
    let caller = signed_in()?;
    caller.must_be(data.least())?;
    Ok((caller, expect_context()))
}

/// Not generic: there is one copy of it, not one for each server function.
fn of_path(path: &str) -> Result<(Caller, AppState), AppError> {
    let caller = signed_in()?;
    roles::check(caller.user.role, path)?;
    Ok((caller, expect_context()))
}

fn signed_in() -> Result<Caller, AppError> {
    let caller = use_context::<Parts>().and_then(|parts| parts.extensions.get::<Caller>().cloned());
    caller.ok_or_else(|| AppError::new(ErrorCode::Unauthenticated, "Sign in to continue."))
}

/// The person who was admitted by `authorization`.
pub fn caller(state: &AppState, authorization: Authorization, is_refresh: bool) -> Caller {
    let permits = state.query_permits.of(&authorization.user().id);
    Caller::new(authorization, is_refresh, state.projects(), permits)
}
