//! Signing in and out, for the server functions of the session.

mod second_step;

pub use second_step::{CODE_PAGE, with_code};

use axum::http::request::Parts;
use leptos::prelude::{expect_context, use_context};
use secrecy::SecretString;

use super::backend::{AuthSession, Backend, BackendError, Credentials};
use super::{password, token};
use crate::error::{AppError, ErrorCode};
use crate::server::panel::Panel;
use crate::server::store::users::User;

/// Opens a session for the person with this name and password, or asks them for their second factor. Gives where to go:
/// to `next`, if that is a path of ours, or to the page that takes the code.
pub async fn with_password(username: &str, password: &str, next: Option<&str>) -> Result<String, AppError> {
    let panel: Panel = expect_context();
    let mut session = session()?;
    let credentials =
        Credentials { username: username.trim().to_owned(), password: SecretString::from(password) };
    let Some(user) = session.authenticate(credentials).await.map_err(not_possible)? else {
        tracing::warn!("sign-in refused");
        return Err(AppError::new(
            ErrorCode::Unauthenticated,
            "That username and password do not belong together.",
        ));
    };
    if panel.second_factors.is_on(&user).await? {
        second_step::begin(&panel, &user, next).await?;
        return Ok(CODE_PAGE.to_owned());
    }
    open(&mut session, &user).await?;
    Ok(own_path(next))
}

/// Opens a session for a person who has shown who they are.
pub async fn open(session: &mut AuthSession, user: &User) -> Result<(), AppError> {
    // A session that somebody signed in to already would go on under its id, which they know.
    session.session.cycle_id().await.map_err(|error| not_possible(error.into()))?;
    session.login(user).await.map_err(not_possible)?;
    tracing::info!(user = user.name, "signed in");
    Ok(())
}

/// Ends the session, on the server too.
pub async fn end() -> Result<(), AppError> {
    session()?.logout().await.map_err(not_possible)?;
    Ok(())
}

/// Spends the set-up link for the first administrator, and signs them in.
pub async fn first_administrator(link: &str, username: &str, password: String) -> Result<(), AppError> {
    let panel: Panel = expect_context();
    let username = username.trim();
    check_username(username).map_err(AppError::bad_input)?;
    let secret = SecretString::from(password.as_str());
    password::check_choice(&secret).map_err(AppError::bad_input)?;
    let hash = password::hash(secret).await.map_err(internal)?;
    if !panel.store.spend_setup_link(&token::hash(link), username, &hash, panel.clock.now()).await? {
        return Err(AppError::new(
            ErrorCode::Forbidden,
            "This set-up link is not valid any more. If nobody has an account yet, restart Docket to get a new one in its log.",
        ));
    }
    with_password(username, &password, None).await?;
    Ok(())
}

/// Whether a name can be a username: 1 to 64 characters without spaces at its ends or control characters.
pub fn check_username(name: &str) -> Result<(), &'static str> {
    let good = (1..=64).contains(&name.chars().count())
        && !name.chars().any(char::is_control)
        && name.trim() == name;
    if good { Ok(()) } else { Err("A username has 1 to 64 characters, none of them a control character.") }
}

/// `next` if it is a path of this panel, else `/`.
pub fn own_path(next: Option<&str>) -> String {
    next.filter(|next| is_own_path(next)).unwrap_or("/").to_owned()
}

/// A path that no browser takes for another host's, and that is no endpoint.
pub fn is_own_path(path: &str) -> bool {
    let mut bytes = path.bytes();
    bytes.next() == Some(b'/')
        && !matches!(bytes.next(), Some(b'/' | b'\\'))
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
        && !path.starts_with("/api/")
}

fn session() -> Result<AuthSession, AppError> {
    let session = use_context::<Parts>().and_then(|parts| parts.extensions.get::<AuthSession>().cloned());
    session.ok_or_else(|| internal("no session layer"))
}

fn not_possible(error: axum_login::Error<Backend>) -> AppError {
    match error {
        axum_login::Error::Backend(BackendError::Store(error)) => error.into(),
        axum_login::Error::Backend(BackendError::Password(error)) => internal(error),
        // Sessions fail only where the database does.
        axum_login::Error::Session(error) => {
            tracing::error!(%error, "session");
            AppError::database_unavailable()
        }
    }
}

fn internal(error: impl std::fmt::Display) -> AppError {
    tracing::error!(%error, "sign-in");
    AppError::new(ErrorCode::Internal, "Signing in does not work right now. Please try again in a moment.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_paths_are_gone_to_after_signing_in() {
        assert_eq!(own_path(Some("/p/docs/jobs?status=active")), "/p/docs/jobs?status=active");
        for hostile in [
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "",
            "p/docs",
            "/a\\b",
            "/\t/evil.example",
            "/a\r\nSet-Cookie: x",
            "\\\\evil",
            "/api/session/logout",
            "/é",
        ] {
            assert_eq!(own_path(Some(hostile)), "/", "{hostile:?}");
        }
        assert_eq!(own_path(None), "/");
    }
}
