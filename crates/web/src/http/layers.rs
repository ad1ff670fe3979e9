//! The layers around the routes.

mod access_log;
pub(super) mod addresses;
pub(super) mod bodies;
pub mod compression;
mod flash;
pub(super) mod headers;
pub(super) mod host;
pub(super) mod large_responses;
pub(super) mod measure;
mod one_time_links;
pub(super) mod outage;
pub(super) mod panics;
mod request_id;
pub(super) mod server_fns;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::HeaderValue;
use axum::middleware::{from_fn, from_fn_with_state};
use axum_login::tower_sessions::cookie::{SameSite, time::Duration};
use axum_login::tower_sessions::{Expiry, SessionManagerLayer};
use axum_login::{AuthManagerLayer, AuthManagerLayerBuilder};
use tower_http::catch_panic::CatchPanicLayer;

use self::outage::Pulse;
use crate::auth::backend::Backend;
use crate::auth::client_ip;
use crate::auth::gate::gate;
use crate::auth::origin::same_origin;
use crate::auth::session_store::{self, Sessions, with_owner};
use crate::request::cookie;
use crate::request::error_response::with_retry_after;
use crate::state::AppState;
use base::config::AccessConfig;

/// The server functions that the layers treat differently from others.
#[derive(Debug, Clone, Copy, Default)]
pub struct Endpoints {
    /// The one that open pages poll.
    pub polled: &'static str,
    /// Those with a prompt, which have a larger limit of their body.
    pub with_prompt: &'static [&'static str],
    /// Those whose forms repeat fields, and each of these fields.
    pub with_repeated_fields: &'static [(&'static str, &'static str)],
}

/// The layers that complete the responses of pages and server functions: status codes, flash messages and one-time links.
pub(super) fn with_responses(
    routes: Router<AppState>,
    state: &AppState,
    endpoints: Endpoints,
) -> Router<AppState> {
    routes
        .layer(from_fn_with_state(endpoints, server_fns::one_list))
        .layer(from_fn(large_responses::limit))
        .layer(from_fn_with_state(state.clone(), server_fns::status_of_error))
        .layer(from_fn_with_state(state.clone(), flash::carry))
        .layer(from_fn_with_state(state.clone(), one_time_links::exchange))
}

/// The session, and the checks that depend on it.
pub(super) fn with_session(routes: Router<AppState>, state: &AppState) -> Router<AppState> {
    routes
        .layer(from_fn_with_state(state.clone(), gate))
        .layer(from_fn_with_state(state.clone(), same_origin))
        .layer(session_layer(state))
        .layer(from_fn(with_owner))
}

/// Loads the session of a request and its person, and sets the cookie of a new session.
pub fn session_layer(state: &AppState) -> AuthManagerLayer<Backend, Sessions> {
    let backend = Backend::new(state.store.clone(), state.passwords.clone());
    AuthManagerLayerBuilder::new(backend, sessions(state)).build()
}

/// The checks before the session is loaded: path, client IP, database, and the complete body. A body arrives before the session is loaded, so an account
/// that is disabled meanwhile is refused.
pub(super) fn with_request_checks(
    routes: Router<AppState>,
    state: &AppState,
    endpoints: Endpoints,
) -> Router<AppState> {
    routes
        .layer(from_fn_with_state((state.clone(), endpoints), bodies::whole))
        .layer(from_fn(bodies::url_encoded_only))
        .layer(from_fn_with_state(forwarding(state), client_ip::identify))
        .layer(from_fn_with_state((state.clone(), Pulse::default()), outage::explain))
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn(addresses::unambiguous))
        .layer(from_fn(cookie::ascii_only))
        .layer(from_fn_with_state(state.public_url.clone(), headers::secure_cookies))
        .layer(from_fn_with_state(endpoints, headers::personal))
}

/// The proxies whose forwarding headers count.
pub(super) fn forwarding(state: &AppState) -> client_ip::Forwarding {
    client_ip::Forwarding {
        access: state.settings().access.clone(),
        unknown_proxy: state.unknown_proxy.clone(),
        clock: state.clock.clone(),
    }
}

/// The layers around every response.
pub(super) fn around(
    routes: Router,
    hsts: Option<HeaderValue>,
    logged: (Arc<AccessConfig>, Endpoints),
) -> Router {
    routes
        .layer(compression::layer())
        .layer(CatchPanicLayer::custom(panics::explain))
        .layer(from_fn(with_retry_after))
        .layer(from_fn_with_state(hsts, headers::security))
        .layer(from_fn_with_state(logged, request_id::identify))
}

/// Browsers store the cookie beyond the end of the session, so that the sign-in page can report the end. The session
/// store decides when the session ends.
const COOKIE_AFTER_SESSION: Duration = Duration::days(30);

fn sessions(state: &AppState) -> SessionManagerLayer<Sessions> {
    let secure = state.public_url.is_https();
    let lifetime = Duration::seconds(state.settings().access.session_lifetime.as_secs() as i64);
    let in_browsers = lifetime + COOKIE_AFTER_SESSION;
    SessionManagerLayer::new(Sessions::new(state))
        .with_name(session_store::COOKIE.at(&state.public_url))
        .with_secure(secure)
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_expiry(Expiry::OnInactivity(in_browsers))
}
