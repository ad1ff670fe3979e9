//! Signing in and out, and the current session.

use leptos::prelude::*;

use model::error::AppError;
#[cfg(feature = "ssr")]
use model::links;
use model::user::{CurrentSession, LinkPurpose};
#[cfg(feature = "ssr")]
use web::auth::{guard, sign_in};

/// Signs in and redirects to `next` if that is a path of this server, otherwise to `/`. People with a second factor are
/// redirected to the page for the code instead.
#[server(prefix = "/api", endpoint = "session/login")]
pub async fn login(username: String, password: String, next: Option<String>) -> Result<(), AppError> {
    let location = sign_in::with_password(&username, &password, next.as_deref()).await?;
    leptos_axum::redirect(&location);
    Ok(())
}

/// Completes a sign-in with a second factor: `code` is from the authenticator, or a recovery code.
#[server(name = EnterCode, prefix = "/api", endpoint = "session/code")]
pub async fn enter_code(code: String) -> Result<(), AppError> {
    let location = sign_in::with_code(&code).await?;
    leptos_axum::redirect(&location);
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

/// The purpose of the one-time link with this token, by default the token in the browser's cookie; `None` if it is not valid.
#[server(name = ReadLink, prefix = "/api", endpoint = "session/link")]
pub async fn read_link(token: Option<String>) -> Result<Option<LinkPurpose>, AppError> {
    sign_in::read_link(token.as_deref()).await
}

/// Stores the token of a one-time link in a cookie. A plain form is redirected to the page that uses it.
#[server(name = OpenLink, prefix = "/api", endpoint = "session/open-link")]
pub async fn open_link(token: String) -> Result<(), AppError> {
    sign_in::store_link(&token)?;
    leptos_axum::redirect(links::SET_UP);
    Ok(())
}

/// Uses the token of a one-time link, by default the token in the browser's cookie, and signs in: as the first administrator
/// with the name `username`, or as the person of the link. People with a second factor are redirected to the page for the code
/// instead.
#[server(prefix = "/api", endpoint = "session/setup")]
pub async fn set_up(
    token: Option<String>,
    username: Option<String>,
    password: String,
) -> Result<(), AppError> {
    let location = sign_in::with_link(token.as_deref(), username.as_deref(), password).await?;
    leptos_axum::redirect(&location);
    Ok(())
}

/// The signed-in person, with their projects.
#[server(name = GetCurrentSession, prefix = "/api", endpoint = "session/current")]
pub async fn current_session() -> Result<CurrentSession, AppError> {
    let (caller, _) = guard::of::<GetCurrentSession>()?;
    Ok(caller.session())
}
