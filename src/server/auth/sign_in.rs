//! Signing in and out, for the server functions of the session.

use axum::http::request::Parts;
use leptos::prelude::{expect_context, use_context};
use secrecy::SecretString;

use super::backend::{AuthSession, Backend, BackendError, Credentials};
use super::{password, token};
use crate::error::{AppError, ErrorCode};
use crate::model::audit::{Action, Deed};
use crate::server::panel::Panel;

/// Opens a session for the person with this name and password.
pub async fn with_password(username: &str, password: &str) -> Result<(), AppError> {
    let (panel, mut session): (Panel, _) = (expect_context(), session()?);
    let (deed, now) = (Deed::new(Action::SignIn), panel.clock.now());
    let name = username.trim();
    let credentials = Credentials { username: name.to_owned(), password: SecretString::from(password) };
    let Some(user) = session.authenticate(credentials).await.map_err(not_possible)? else {
        tracing::warn!("sign-in refused");
        panel.store.record_refused_sign_in(name, "", &deed.refused(), now).await?;
        return Err(AppError::new(
            ErrorCode::Unauthenticated,
            "That username and password do not belong together.",
        ));
    };
    // A session that somebody signed in to already would go on under its id, which they know.
    session.session.cycle_id().await.map_err(|error| not_possible(error.into()))?;
    panel.store.record_often(&user.actor(""), &deed, now).await?;
    session.login(&user).await.map_err(not_possible)?;
    tracing::info!(user = user.name, "signed in");
    Ok(())
}

/// Ends the session, on the server too.
pub async fn end() -> Result<(), AppError> {
    let (panel, mut session): (Panel, _) = (expect_context(), session()?);
    if let Some(user) = &session.user {
        let deed = Deed::new(Action::SignOut);
        panel.store.record_often(&user.actor(""), &deed, panel.clock.now()).await?;
    }
    session.logout().await.map_err(not_possible)?;
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
    with_password(username, &password).await
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
