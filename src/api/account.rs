//! A person's own account. Plain forms return to its page.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::server::auth::guard;
#[cfg(feature = "ssr")]
use crate::server::http::flash;
#[cfg(feature = "ssr")]
use crate::server::people::account;
use model::account::Account;
use model::error::AppError;
use model::flash::Confirmation;
#[cfg(feature = "ssr")]
use model::links::ACCOUNT;

/// The caller's account page: sessions, projects and second factor.
#[server(name = GetAccount, prefix = "/api", endpoint = "account/get")]
pub async fn account() -> Result<Account, AppError> {
    let caller = guard::of::<GetAccount>()?;
    account::account(&caller).await
}

/// Changes the password, given the `old` one, and ends all other sessions.
#[server(prefix = "/api", endpoint = "account/password")]
pub async fn change_password(old: String, new: String) -> Result<Confirmation, AppError> {
    let caller = guard::of::<ChangePassword>()?;
    let outcome = account::change_password(&caller, old, new).await;
    flash::respond(ACCOUNT, outcome)
}

/// Ends one of the caller's sessions.
#[server(prefix = "/api", endpoint = "account/sign-out")]
pub async fn end_session(session: String) -> Result<Confirmation, AppError> {
    let caller = guard::of::<EndSession>()?;
    let outcome = account::sign_out(&caller, &session).await;
    flash::respond(ACCOUNT, outcome)
}

/// Ends all of the caller's sessions except this one.
#[server(prefix = "/api", endpoint = "account/sign-out-others")]
pub async fn end_other_sessions() -> Result<Confirmation, AppError> {
    let caller = guard::of::<EndOtherSessions>()?;
    let outcome = account::sign_out_others(&caller).await;
    flash::respond(ACCOUNT, outcome)
}
