//! The gate in front of all routes. Without a session, only the sign-in pages, the assets and the probes are served.

use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Redirect, Response};
use url::form_urlencoded::byte_serialize;

use super::backend::AuthSession;
use super::origin::came_from;
use super::roles::{self, Access};
use super::{
    background, client_ip, guard, made_for, required_factor, session_store, sign_in, trusted_header, unsent,
};
use crate::request::error_response::{ErrorResponse, status_of};
use crate::request::{cookie, flash};
use crate::state::AppState;
use model::audit::{Action, AuditEvent};
use model::error::{AppError, ErrorCode};
use model::flash::{FlashMessage, SESSION_ENDED};
use model::headers::PERSON_HEADER;
use service::auth::own_path::is_own_path;
use service::auth::single_sign_on;
use service::caller::Caller;
use store::authorization::Authorization;

/// Pages served without a session. Assets are outside of the gate.
const OPEN: &[&str] = &["/login", sign_in::CODE_PAGE, "/login/sso", single_sign_on::CALLBACK, "/setup"];

/// The admitted person, in the extensions of a response.
#[derive(Clone)]
pub struct Passed {
    /// Their id.
    pub person: String,
    /// Whether the page refreshed itself.
    pub is_refresh: bool,
}

/// Admits a signed-in person as a [`Caller`], except to endpoints that [`roles`] does not list. Redirects everybody
/// else to `/login`.
pub async fn gate(
    State(state): State<AppState>,
    session: AuthSession,
    mut request: Request,
    next: Next,
) -> Response {
    let vouched = match trusted_header::person(&state, &mut request).await {
        Ok(vouched) => vouched,
        Err(error) => return reject(&request, error),
    };
    let is_vouched = vouched.is_some();
    let (path, from_page) = (request.uri().path(), wants_html(request.uri(), request.headers()));
    if let Some(user) = session.user.as_ref().filter(|_| !is_vouched)
        && let Some(response) = required_factor::first(&state, user, path, from_page).await
    {
        return response;
    }
    match vouched.or(session.user.map(|user| user.0)) {
        Some(user) if made_for::is_for_another(&request, &user.id) => {
            refuse_another(request, made_for::refusal(&user.name)).await
        }
        Some(_) if path == "/login" => Redirect::to("/").into_response(),
        Some(_) if path.starts_with("/api/") && roles::of(path).is_none() => {
            ErrorResponse::from(roles::no_such_endpoint()).into_response()
        }
        Some(user) => {
            let session = session.session.id().filter(|_| !is_vouched).map(|id| session_store::key(&id));
            let client_ip = client_ip::of(request.extensions());
            let is_refresh = background::is_background(&request);
            let is_use = background::is_use(&request);
            match &session {
                Some(session) => state.presence.note(session, &user.id, client_ip, is_use).await,
                None if is_use => state.presence.note_visit(&user.id).await,
                None => {}
            }
            let authorization = Authorization::of_session(user, session, client_ip, state.clock.clone());
            let (caller, path) = (guard::caller(&state, authorization, is_refresh), path.to_owned());
            request.extensions_mut().insert(caller.clone());
            let mut response = next.run(request).await;
            if response.status() == StatusCode::FORBIDDEN {
                note_refusal(&state, &caller, &path).await;
            }
            response.extensions_mut().insert(Passed { person: caller.user.id.clone(), is_refresh });
            response
        }
        None if OPEN.contains(&path) || roles::of(path) == Some(Access::Anybody) => next.run(request).await,
        None => refuse(&state, request.uri(), request.headers()).await,
    }
}

/// Whether a request has a session, or comes from a trusted proxy that names its user. The bodies of other requests
/// have the smallest limit. The gate itself decides when the body is complete.
pub async fn is_known(state: &AppState, parts: &Parts) -> Result<bool, AppError> {
    if trusted_header::is_named(state, parts) {
        return Ok(true);
    }
    let cookie = cookie::get(&parts.headers, session_store::COOKIE.at(&state.public_url));
    let Some(id) = cookie.and_then(|id| id.parse().ok()) else { return Ok(false) };
    Ok(session_store::Sessions::new(state).is_open(&id).await?)
}

/// The response to a request without a session.
pub async fn refuse(state: &AppState, uri: &Uri, headers: &HeaderMap) -> Response {
    let mut response = redirect_to_sign_in(uri, headers);
    add_session_notice(state, headers, &mut response).await;
    response
}

/// Records a refused request in the audit log.
async fn note_refusal(state: &AppState, caller: &Caller, path: &str) {
    let event = AuditEvent::new(Action::Denied).refused().on(path);
    state.refusals.note(&caller.actor(), &event).await;
}

/// A response with the error alone: a sign-in page would only lead back.
fn reject(request: &Request, error: AppError) -> Response {
    let status = status_of(error.code);
    match wants_html(request.uri(), request.headers()) {
        true => (status, error.message).into_response(),
        false => (status, axum::Json(error)).into_response(),
    }
}

/// The response to a request of another person's page. A form that the browser posted would lose its text: the response shows it, to copy.
async fn refuse_another(request: Request, error: AppError) -> Response {
    let is_form = request.method() == Method::POST && wants_html(request.uri(), request.headers());
    let mut response = match is_form {
        false => reject(&request, error),
        true => {
            let back = came_from(request.headers());
            // It is in memory already, and limited.
            let body = to_bytes(request.into_body(), usize::MAX).await.unwrap_or_default();
            let page = unsent::page(&error.message, &back, &body);
            (status_of(error.code), Html(page)).into_response()
        }
    };
    response.headers_mut().insert(PERSON_HEADER, made_for::ANOTHER);
    response
}

fn redirect_to_sign_in(uri: &Uri, headers: &HeaderMap) -> Response {
    let from_page = wants_html(uri, headers);
    if !from_page {
        let error = AppError::new(ErrorCode::Unauthenticated, "Your session has ended. Sign in to continue.");
        return (StatusCode::UNAUTHORIZED, axum::Json(error)).into_response();
    }
    // A plain form returns to its page, and a page to itself.
    let wanted = if uri.path().starts_with("/api/") {
        came_from(headers)
    } else {
        uri.path_and_query().map_or("/", |path| path.as_str()).to_owned()
    };
    match wanted.as_str() {
        "/" => Redirect::to("/login").into_response(),
        path if is_own_path(path) => {
            let next: String = byte_serialize(path.as_bytes()).collect();
            Redirect::to(&format!("/login?next={next}")).into_response()
        }
        _ => Redirect::to("/login").into_response(),
    }
}

/// Makes the sign-in page show that the session ended, if the browser had one. This response removes its cookie, even
/// if a script receives it.
async fn add_session_notice(state: &AppState, headers: &HeaderMap, response: &mut Response) {
    let had_session = cookie::get(headers, session_store::COOKIE.at(&state.public_url)).is_some();
    if !had_session {
        return;
    }
    let sentence = "Your session has ended: it expired, or your password or access was changed. Sign in to continue where you were.";
    let outcome = Err(AppError::new(ErrorCode::Unauthenticated, sentence));
    let message = FlashMessage { form: SESSION_ENDED.to_owned(), outcome, typed: Vec::new() };
    let Ok(Some(value)) = state.flash.add(&flash::Owner::Anonymous, message).await else { return };
    let flash_cookie =
        cookie::set(flash::COOKIE, &value, flash::LIFETIME.as_secs() as i64, &state.public_url);
    response.headers_mut().append(header::SET_COOKIE, flash_cookie);
}

fn wants_html(uri: &Uri, headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let api = uri.path().starts_with("/api/");
    accept.map_or(!api, |accept| accept.contains("text/html") || (!api && accept.contains("*/*")))
}
