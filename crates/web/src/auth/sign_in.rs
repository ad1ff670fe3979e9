//! Signing in and out, for the server functions of the session.

mod passkey;
mod second_step;

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue};
use leptos::prelude::{expect_context, use_context};
use leptos_axum::ResponseOptions;
use secrecy::SecretString;

use super::backend::{AuthSession, Backend, BackendError, Credentials, SessionUser};
use super::step_cookie::link;
use super::{client_ip, device, session_store};
use crate::state::AppState;
use base::instruments::SignInMeans;
use base::nfc::nfc;
use base::username;
use model::audit::{Action, AuditEvent};
use model::error::{AppError, ErrorCode};
use model::user::LinkPurpose;
use service::auth::hashing::Requester;
use service::auth::own_path::own_path;
use service::auth::password::PasswordError;
use service::auth::refusal::internal;
use service::auth::{one_time_link, password, refusal, token};
use store::accounts::admission::{Account, Admitted};
use store::accounts::one_time_links::{Link, LinkKind};

pub use passkey::{request_passkey, with_passkey};
pub use second_step::{CODE_PAGE, with_code};

pub(crate) const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");

/// Opens a session for the person with this name and password, or begins the second step. Returns the redirect path:
/// `next`, if it is a path of this server, or the page for the code.
pub async fn with_password(username: &str, password: &str, next: Option<&str>) -> Result<String, AppError> {
    let state: AppState = expect_context();
    let outcome = by_password(&state, username, password, next).await;
    match &outcome {
        // The sign-in ends with the right code.
        Ok(next) if next == CODE_PAGE => {}
        outcome => state.instruments.sign_in(SignInMeans::Password, outcome.as_ref().err()),
    }
    outcome
}

async fn by_password(
    state: &AppState,
    username: &str,
    password: &str,
    next: Option<&str>,
) -> Result<String, AppError> {
    // No name has a NUL character, and PostgreSQL refuses it in a query.
    let username = nfc(username.trim()).replace('\0', "\u{fffd}");
    let parts = parts()?;
    let ip = client_ip::of(&parts.extensions);
    let attempt = state.attempts.begin(&username, ip).await?;
    let password = SecretString::from(password);
    let credentials = Credentials { username: username.clone(), password, requester: attempt.requester() };
    let user = match session(&parts)?.authenticate(credentials).await {
        // The password was not checked, so the attempt does not count.
        Err(axum_login::Error::Backend(BackendError::Password(PasswordError::Busy))) => {
            attempt.passed().await;
            return Err(refusal::too_many(&state.attempts, ip).await);
        }
        user => user.map_err(not_possible)?,
    };
    let Some(user) = user else {
        tracing::warn!("sign-in refused");
        let event = AuditEvent::new(Action::SignIn).refused();
        state.refusals.note(&state.store.actor_named(&username, &ip.to_string()).await?, &event).await;
        return Err(AppError::new(ErrorCode::Unauthenticated, "Incorrect username or password."));
    };
    if state.second_factors.is_on(&user).await? {
        attempt.passed().await;
        second_step::begin(state, &user, next).await?;
        return Ok(CODE_PAGE.to_owned());
    }
    attempt.succeeded().await;
    open(&user).await?;
    Ok(own_path(next))
}

/// Signs in a person who is authenticated.
pub async fn open(user: &Admitted) -> Result<(), AppError> {
    let state: AppState = expect_context();
    open_for(&state, &parts()?, user).await?;
    second_step::report_wrong_codes(&state, user).await
}

/// Like [`open`], for the request of `parts`.
pub async fn open_for(state: &AppState, parts: &Parts, user: &Admitted) -> Result<(), AppError> {
    open_by(state, parts, user, "").await
}

/// Like [`open_for`]. `means` appears in the audit log, unless it is the password.
async fn open_by(state: &AppState, parts: &Parts, user: &Admitted, means: &str) -> Result<(), AppError> {
    let by = user.actor(&client_ip::of(&parts.extensions).to_string());
    let event = AuditEvent::new(Action::SignIn).with_detail(means);
    state.store.observe_often(&by, &event, state.clock.now()).await?;
    begin_session(state, parts, user).await?;
    tracing::info!(user = user.name, "signed in");
    Ok(())
}

/// Replaces the current session of a signed-in person with a new one.
pub async fn renew(user: &Admitted) -> Result<(), AppError> {
    begin_session(&expect_context(), &parts()?, user).await
}

async fn begin_session(state: &AppState, parts: &Parts, user: &Admitted) -> Result<(), AppError> {
    let mut session = session(parts)?;
    // An existing session would keep its id, which an attacker may know (session fixation).
    session.session.cycle_id().await.map_err(|error| not_possible(error.into()))?;
    session.login(&SessionUser(user.clone())).await.map_err(not_possible)?;
    session.session.save().await.map_err(|error| not_possible(error.into()))?;
    if let Some(id) = session.session.id() {
        let (device, address) = (device::of(parts), client_ip::of(&parts.extensions).to_string());
        state.store.own_session(&session_store::key(&id), &user.id, &device, &address).await?;
    }
    Ok(())
}

/// Ends the session in the browser and on the server.
pub async fn end() -> Result<(), AppError> {
    let (state, mut session): (AppState, _) = (expect_context(), session(&parts()?)?);
    if let Some(user) = &session.user {
        let by = user.actor(&request_ip()?.to_string());
        state.store.observe_often(&by, &AuditEvent::new(Action::SignOut), state.clock.now()).await?;
    }
    session.logout().await.map_err(not_possible)?;
    // Drafts in the browser are not for the next person who uses it.
    if let Some(response) = use_context::<ResponseOptions>() {
        response.insert_header(CLEAR_SITE_DATA, HeaderValue::from_static("\"storage\""));
    }
    Ok(())
}

/// The purpose of the one-time link with this token; `None` if it is not valid. Without a token, uses the one that the
/// browser has stored.
pub async fn read_link(link: Option<&str>) -> Result<Option<LinkPurpose>, AppError> {
    let state: AppState = expect_context();
    let link = link::of_request(&state, link);
    let link = state.store.link(&token::hash(&link), state.clock.now()).await?;
    Ok(link.map(|link| match link {
        Link::FirstAdministrator => LinkPurpose::FirstAdministrator,
        Link::Password(LinkKind::Invitation, name) => LinkPurpose::Invitation { name },
        Link::Password(LinkKind::NewPassword, name) => LinkPurpose::NewPassword { name },
    }))
}

/// Stores the token of an opened or pasted one-time link in the browser.
pub fn store_link(pasted: &str) -> Result<(), AppError> {
    let token = one_time_link::token_in(pasted).ok_or_else(|| {
        AppError::bad_input("This is not a one-time link of Docket. Copy the whole link and paste it again.")
    })?;
    link::store(&expect_context(), token);
    Ok(())
}

/// Uses a one-time link, by default the one stored in the browser, and signs its owner in. The owner is the first
/// administrator, who chooses a name, an invited person, or a person who sets a new password. The password of a link
/// does not replace the second factor. Returns the redirect path like [`with_password`].
pub async fn with_link(
    link: Option<&str>,
    username: Option<&str>,
    password: String,
) -> Result<String, AppError> {
    let state: AppState = expect_context();
    let link = link::of_request(&state, link);
    let ip = request_ip()?;
    let (link, now, from) = (token::hash(&link), state.clock.now(), ip.to_string());
    // Checked before hashing, which is expensive; links cannot be guessed.
    let purpose = state.store.link(&link, now).await?.ok_or_else(link_is_over)?;
    let name = match &purpose {
        Link::Password(_, name) => name.clone(),
        Link::FirstAdministrator => username::parse_typed(username.unwrap_or_default().trim())?,
    };
    let secret = SecretString::from(password);
    password::check_choice(&secret, &name)?;
    // A client with a valid link is known.
    let requester = Requester::new(ip, true);
    let hash = match state.passwords.hash(secret, requester).await {
        Ok(hash) => hash,
        Err(error) => return Err(refusal::unchecked(error, &state.attempts, ip).await),
    };
    let user = match purpose {
        Link::Password(kind, _) => state.store.use_link(kind, &link, &hash, &from, now).await?,
        Link::FirstAdministrator => {
            match state.store.spend_setup_link(&link, &name, &hash, &from, now).await? {
                true => state.store.account_by_name(&name).await?.and_then(Account::admitted),
                false => None,
            }
        }
    };
    let user = user.ok_or_else(link_is_over)?;
    link::store(&state, "");
    if state.second_factors.is_on(&user).await? {
        second_step::begin(&state, &user, None).await?;
        return Ok(CODE_PAGE.to_owned());
    }
    open(&user).await?;
    Ok("/".to_owned())
}

fn link_is_over() -> AppError {
    AppError::new(
        ErrorCode::Forbidden,
        "This link is no longer valid. Ask an administrator for a new one; if nobody has an account yet, restart Docket to get one in its log.",
    )
}

/// The client IP of the current request.
fn request_ip() -> Result<IpAddr, AppError> {
    Ok(client_ip::of(&parts()?.extensions))
}

fn parts() -> Result<Parts, AppError> {
    use_context().ok_or_else(|| internal("no request"))
}

fn session(parts: &Parts) -> Result<AuthSession, AppError> {
    parts.extensions.get::<AuthSession>().cloned().ok_or_else(|| internal("no session layer"))
}

fn not_possible(error: axum_login::Error<Backend>) -> AppError {
    match error {
        axum_login::Error::Backend(BackendError::Store(error)) => error.into(),
        axum_login::Error::Backend(BackendError::Password(error)) => internal(error),
        // Sessions fail only if the database does.
        axum_login::Error::Session(error) => {
            tracing::error!(%error, "session store failed");
            AppError::database_unavailable()
        }
    }
}
