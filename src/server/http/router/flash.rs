//! Passes flash messages from a plain form to the next page. The message stays on the server; the browser has its id in
//! a cookie.

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use leptos::server_fn::error::SERVER_FN_ERROR_HEADER;
use url::form_urlencoded;

use super::server_fns::error_in;
use crate::api::REFRESH_HEADER;
use crate::error::AppError;
use crate::model::flash::{Confirmation, FlashMessage, PendingFlash};
use crate::server::auth::guard::Caller;
use crate::server::auth::origin::came_from;
use crate::server::config::PublicUrl;
use crate::server::http::flash::{COOKIE, ConfirmationSlot, LIFETIME, storable_fields};
use crate::server::http::{cookie, forms};
use crate::server::state::AppState;

pub(super) async fn carry(State(state): State<AppState>, request: Request, next: Next) -> Response {
    match *request.method() {
        Method::GET if is_navigation(request.headers()) => deliver(&state, request, next).await,
        Method::POST if is_plain_form(&request) => collect(&state, request, next).await,
        _ => next.run(request).await,
    }
}

/// Passes the pending message of this browser to the requested page. If the page does not show it, it stays pending.
async fn deliver(state: &AppState, mut request: Request, next: Next) -> Response {
    let Some(id) = cookie::get(request.headers(), COOKIE.at(&state.public_url)) else {
        return next.run(request).await;
    };
    let mut found = None;
    for owner in Owners::of(&request).all() {
        match state.flash.take(owner.as_deref(), &id).await {
            Ok(None) => {}
            Ok(Some((message, until))) => {
                found = Some((PendingFlash::new(message), owner, until));
                break;
            }
            Err(error) => {
                tracing::warn!(%error, "a flash message could not be read");
                return next.run(request).await;
            }
        }
    }
    if let Some((pending, ..)) = &found {
        request.extensions_mut().insert(pending.clone());
    }
    let mut response = next.run(request).await;
    let unshown = found.and_then(|(pending, owner, until)| Some((pending.unshown()?, owner, until)));
    let Some((message, owner, until)) = unshown else {
        set_cookie(&mut response, "", 0, &state.public_url);
        return response;
    };
    if let Err(error) = state.flash.put(owner.as_deref(), &id, message, until).await {
        tracing::warn!(%error, "a flash message that was not shown is lost");
    }
    response
}

/// Stores the outcome of a form, and redirects to the page of the form.
async fn collect(state: &AppState, request: Request, next: Next) -> Response {
    let owners = Owners::of(&request);
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
        (Err(error), storable_fields(owners.person.is_some(), typed))
    } else {
        let Some(confirmation) = slot.take() else { return response };
        (Ok(confirmation), Vec::new())
    };
    let has_secret = outcome.as_ref().is_ok_and(|confirmed| confirmed.secret.is_some());
    let owner = owners.session.filter(|_| has_secret).or(owners.person);
    match state.flash.add(owner.as_deref(), FlashMessage { form, outcome: outcome.clone(), typed }).await {
        Ok(id) => {
            set_cookie(&mut response, &id, LIFETIME.as_secs() as i64, &state.public_url);
            response
        }
        Err(error) => {
            tracing::warn!(%error, "the outcome of a form could not wait for the next page");
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
        Err(error) => (StatusCode::from(error.code), error.message).into_response(),
    }
}

/// The owners whose messages a request may get. A message with a secret belongs to the session that posted the form:
/// another session of the same person does not show it. The others belong to the person, because a changed password
/// begins a new session.
struct Owners {
    session: Option<String>,
    person: Option<String>,
}

impl Owners {
    fn of(request: &Request) -> Self {
        let caller = request.extensions().get::<Caller>();
        let session = caller.and_then(|caller| caller.session.clone());
        Self { session, person: caller.map(|caller| caller.user.id.clone()) }
    }

    /// `None` means without a session.
    fn all(self) -> impl Iterator<Item = Option<String>> {
        self.session.map(Some).into_iter().chain([self.person])
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

fn set_cookie(response: &mut Response, id: &str, seconds: i64, public_url: &PublicUrl) {
    response.headers_mut().append(header::SET_COOKIE, cookie::set(COOKIE, id, seconds, public_url));
}
