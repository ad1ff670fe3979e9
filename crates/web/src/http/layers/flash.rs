//! Passes flash messages from a plain form to the next page.

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum_login::tower_sessions::Session;
use leptos::server_fn::error::SERVER_FN_ERROR_HEADER;
use url::form_urlencoded;

use super::server_fns::error_in;
use crate::auth::origin::came_from;
use crate::auth::session_store;
use crate::request::error_response::status_of;
use crate::request::flash::{COOKIE, ConfirmationSlot, LIFETIME, Owner, storable_fields};
use crate::request::{cookie, forms};
use crate::state::AppState;
use base::config::PublicUrl;
use model::error::AppError;
use model::flash::{Confirmation, FlashMessage, PendingFlash};
use model::headers::REFRESH_HEADER;
use service::caller::Caller;

pub(super) async fn carry(State(state): State<AppState>, request: Request, next: Next) -> Response {
    match *request.method() {
        Method::GET if is_navigation(request.headers()) => deliver(&state, request, next).await,
        Method::POST if is_plain_form(&request) => collect(&state, request, next).await,
        _ => next.run(request).await,
    }
}

/// Passes the pending message of this browser to the requested page. If the page does not show it, it stays pending.
async fn deliver(state: &AppState, mut request: Request, next: Next) -> Response {
    let Some(cookie) = cookie::get(request.headers(), COOKIE.at(&state.public_url)) else {
        return next.run(request).await;
    };
    let owner = owner(request.extensions().get());
    let pending = match state.flash.claim(&owner, &cookie).await {
        Ok(message) => message.map(PendingFlash::new),
        Err(error) => {
            tracing::warn!(%error, "a flash message could not be read");
            return next.run(request).await;
        }
    };
    if let Some(pending) = &pending {
        request.extensions_mut().insert(pending.clone());
    }
    let mut response = next.run(request).await;
    let ended = match &pending {
        Some(pending) if !pending.is_shown() => state.flash.release(&owner, &cookie).await,
        pending => {
            set_cookie(&mut response, "", 0, &state.public_url);
            if pending.is_some() { state.flash.remove(&owner, &cookie).await } else { Ok(()) }
        }
    };
    if let Err(error) = ended {
        tracing::warn!(%error, "whether a flash message was shown could not be recorded");
    }
    response
}

/// Stores the outcome of a form, and redirects to the page of the form.
async fn collect(state: &AppState, request: Request, next: Next) -> Response {
    let caller = request.extensions().get::<Caller>().cloned();
    let session = request.extensions().get::<Session>().cloned();
    let (mut parts, body) = request.into_parts();
    // Already complete, with limited size.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let slot = ConfirmationSlot::default();
    parts.extensions.insert(slot.clone());
    let (form, came_from) = (parts.uri.path().to_owned(), came_from(&parts.headers));
    let mut response = next.run(Request::from_parts(parts, Body::from(body.clone()))).await;
    let (outcome, typed) = if response.headers().contains_key(SERVER_FN_ERROR_HEADER) {
        let (_, error) = error_in(response).await;
        let typed =
            form_urlencoded::parse(&body).map(|(name, value)| (name.into_owned(), value.into_owned()));
        response = (StatusCode::SEE_OTHER, [(header::LOCATION, came_from)]).into_response();
        (Err(error), storable_fields(caller.is_some(), typed))
    } else {
        let Some(confirmation) = slot.take() else { return response };
        (Ok(confirmation), Vec::new())
    };
    let has_secret = outcome.as_ref().is_ok_and(|confirmation| confirmation.secret.is_some());
    // A changed password began a new session.
    let owner = match (owner(caller.as_ref()), session.and_then(|session| session.id())) {
        (Owner::Session(_), Some(id)) => Owner::Session(session_store::key(&id)),
        (owner, _) => owner,
    };
    match state.flash.add(&owner, FlashMessage { form, outcome: outcome.clone(), typed }).await {
        Ok(Some(cookie)) => {
            set_cookie(&mut response, &cookie, LIFETIME.as_secs() as i64, &state.public_url);
            response
        }
        // The form ended its own session: the next page is the one to sign in.
        Ok(None) if owner != Owner::Anonymous && !has_secret => response,
        stored => {
            if let Err(error) = stored {
                tracing::warn!(%error, "the outcome of a form could not wait for the next page");
            }
            respond_directly(outcome)
        }
    }
}

/// Responds with the outcome itself; the Back button leads to the form.
fn respond_directly(outcome: Result<Confirmation, AppError>) -> Response {
    match outcome {
        Ok(Confirmation { sentence, secret }) => {
            [Some(sentence), secret].into_iter().flatten().collect::<Vec<_>>().join("\n").into_response()
        }
        Err(error) => (status_of(error.code), error.message).into_response(),
    }
}

/// Whose messages a request may get.
fn owner(caller: Option<&Caller>) -> Owner {
    match caller {
        Some(Caller { session: Some(session), .. }) => Owner::Session(session.clone()),
        Some(Caller { session: None, user, .. }) => Owner::Person(user.id.clone()),
        None => Owner::Anonymous,
    }
}

/// Whether a person navigates to a page. Requests by scripts and prefetches leave the message pending.
fn is_navigation(headers: &HeaderMap) -> bool {
    let header_value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    // Browsers send the mode only over https and to localhost; Docket's scripts send their own header.
    let is_fetched = header_value("sec-fetch-mode").is_some_and(|mode| mode != "navigate")
        || header_value("sec-fetch-dest").is_some_and(|destination| destination != "document")
        || header_value(REFRESH_HEADER).is_some();
    !is_fetched && !forms::is_prefetch(headers)
}

fn is_plain_form(request: &Request) -> bool {
    request.uri().path().starts_with("/api/") && forms::accepts_html(request.headers())
}

fn set_cookie(response: &mut Response, value: &str, seconds: i64, public_url: &PublicUrl) {
    response.headers_mut().append(header::SET_COOKIE, cookie::set(COOKIE, value, seconds, public_url));
}
