//! A person's own account. Plain forms return to its page.

use leptos::prelude::*;

use model::account::Account;
use model::error::AppError;
use model::flash::Confirmation;
#[cfg(feature = "ssr")]
use model::links::ACCOUNT;
#[cfg(feature = "ssr")]
use web::{
    auth::{device, guard, session_store::Sessions, sign_in},
    request::flash,
};

/// The caller's account page: sessions, projects and second factor.
#[server(name = GetAccount, prefix = "/api", endpoint = "account/get")]
pub async fn account() -> Result<Account, AppError> {
    let (caller, state) = guard::of::<GetAccount>()?;
    let idle_since = Sessions::new(&state).idle_since();
    state.own_account.account(&caller, idle_since, device::of_request()).await
}

/// Changes the password, given the `old` one, and ends all other sessions.
#[server(prefix = "/api", endpoint = "account/password")]
pub async fn change_password(old: String, new: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<ChangePassword>()?;
    let outcome = match state.own_account.change_password(&caller, old, new).await {
        Ok(Some(user)) => sign_in::renew(&user).await,
        outcome => outcome.map(|_| ()),
    };
    let changed = || Confirmation::new("Password changed. You are signed out everywhere else.");
    flash::respond(ACCOUNT, outcome.map(|()| changed()))
}

/// Ends one of the caller's sessions.
#[server(prefix = "/api", endpoint = "account/sign-out")]
pub async fn end_session(session: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<EndSession>()?;
    let outcome = state.own_account.sign_out(&caller, &session.parse()?).await;
    flash::respond(ACCOUNT, outcome)
}

/// Ends all of the caller's sessions except this one.
#[server(prefix = "/api", endpoint = "account/sign-out-others")]
pub async fn end_other_sessions() -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<EndOtherSessions>()?;
    let outcome = state.own_account.sign_out_others(&caller).await;
    flash::respond(ACCOUNT, outcome)
}
