//! Signing in and out, and who is signed in.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::user::CurrentSession;
#[cfg(feature = "ssr")]
use crate::server::auth::{guard, sign_in};

/// Signs in and goes to `next`, if that is a path of ours, else to `/`. Who has a second factor is not signed in yet, and goes
/// to the page that asks for it.
#[server(prefix = "/api", endpoint = "session/login")]
pub async fn login(username: String, password: String, next: Option<String>) -> Result<(), AppError> {
    let place = sign_in::with_password(&username, &password, next.as_deref()).await?;
    leptos_axum::redirect(&place);
    Ok(())
}

/// Signs in whoever gave the right password before: `code` is of their authenticator, or one of their recovery codes.
#[server(name = EnterCode, prefix = "/api", endpoint = "session/code")]
pub async fn enter_code(code: String) -> Result<(), AppError> {
    let place = sign_in::with_code(&code).await?;
    leptos_axum::redirect(&place);
    Ok(())
}

/// Ends the session on the server.
#[server(prefix = "/api", endpoint = "session/logout")]
pub async fn logout() -> Result<(), AppError> {
    guard::of::<Logout>()?;
    sign_in::end().await?;
    leptos_axum::redirect("/login");
    Ok(())
}

/// Spends the token of a set-up link, once, and signs in: as the first administrator, called `username`, or as whoever was
/// invited with it.
#[server(prefix = "/api", endpoint = "session/setup")]
pub async fn set_up(token: String, username: Option<String>, password: String) -> Result<(), AppError> {
    sign_in::with_link(&token, username.as_deref(), password).await?;
    leptos_axum::redirect("/");
    Ok(())
}

/// Who is signed in, with the projects they may see.
#[server(name = GetCurrentSession, prefix = "/api", endpoint = "session/current")]
pub async fn current_session() -> Result<CurrentSession, AppError> {
    Ok(guard::of::<GetCurrentSession>()?.session())
}
