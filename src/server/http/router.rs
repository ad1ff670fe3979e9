//! All routes, and the layers around them.

mod access_log;
mod addresses;
mod audit_export;
mod bodies;
mod export;
mod flash;
mod headers;
mod host;
mod large_responses;
mod last_project;
mod measure;
mod metrics;
mod one_time_links;
mod outage;
mod pages;
mod panics;
mod probes;
mod request_id;
mod server_fns;
mod sign_in_pages;
mod starting;
mod v1;

pub use metrics::metrics_router;
pub use pages::paths as page_paths;
pub use starting::starting_router;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::HeaderValue;
use axum::middleware::{from_fn, from_fn_with_state};
use axum_login::tower_sessions::cookie::{SameSite, time::Duration};
use axum_login::tower_sessions::{Expiry, SessionManagerLayer};
use axum_login::{AuthManagerLayer, AuthManagerLayerBuilder};
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use self::outage::Pulse;
use crate::server::assets;
use crate::server::auth::backend::Backend;
use crate::server::auth::client_ip;
use crate::server::auth::gate::gate;
use crate::server::auth::origin::same_origin;
use crate::server::auth::session_store::{self, Sessions, with_owner};
use crate::server::request::cookie;
use crate::server::state::AppState;
use base::config::AccessConfig;

/// The whole application as a service.
pub fn router(state: &AppState) -> Router {
    let app = Router::new()
        .merge(pages::routes(state))
        .merge(export::routes())
        .merge(audit_export::routes())
        .merge(sign_in_pages::routes())
        .method_not_allowed_fallback(server_fns::wrong_method)
        .fallback_service(pages::not_found(state).with_state(state.clone()));
    let app = with_request_checks(with_session(with_responses(app, state), state), state);
    let routes = Router::new().merge(assets::routes()).merge(app);
    let routes = routes.layer(from_fn_with_state(state.public_url.clone(), host::ours_only));
    let routes = routes.merge(probes::routes()).merge(metrics::routes()).merge(v1::routes(state));
    let access = state.settings().access.clone();
    let hsts = headers::insist_on_https(&state.public_url, access.hsts_subdomains);
    around(routes.with_state(state.clone()), hsts, &access)
        .layer(from_fn_with_state(state.instruments.clone(), measure::count))
}

/// The layers that complete the responses of pages and server functions: status codes, flash messages and one-time links.
fn with_responses(routes: Router<AppState>, state: &AppState) -> Router<AppState> {
    routes
        .layer(from_fn(server_fns::one_list))
        .layer(from_fn(large_responses::limit))
        .layer(from_fn_with_state(state.clone(), server_fns::status_of_error))
        .layer(from_fn_with_state(state.clone(), flash::carry))
        .layer(from_fn_with_state(state.clone(), one_time_links::exchange))
}

/// The session, and the checks that depend on it.
fn with_session(routes: Router<AppState>, state: &AppState) -> Router<AppState> {
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
fn with_request_checks(routes: Router<AppState>, state: &AppState) -> Router<AppState> {
    routes
        .layer(from_fn_with_state(state.clone(), bodies::whole))
        .layer(from_fn(bodies::url_encoded_only))
        .layer(from_fn_with_state(forwarding(state), client_ip::identify))
        .layer(from_fn_with_state((state.clone(), Pulse::default()), outage::explain))
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn(addresses::unambiguous))
        .layer(from_fn(cookie::ascii_only))
        .layer(from_fn_with_state(state.public_url.clone(), headers::secure_cookies))
        .layer(from_fn(headers::personal))
}

/// The proxies whose forwarding headers count.
fn forwarding(state: &AppState) -> client_ip::Forwarding {
    client_ip::Forwarding {
        access: state.settings().access.clone(),
        unknown_proxy: state.unknown_proxy.clone(),
        clock: state.clock.clone(),
    }
}

/// The layers around every response.
fn around(routes: Router, hsts: Option<HeaderValue>, access: &Arc<AccessConfig>) -> Router {
    routes
        .layer(compression())
        .layer(CatchPanicLayer::custom(panics::explain))
        .layer(from_fn_with_state(hsts, headers::security))
        .layer(from_fn_with_state(access.clone(), request_id::identify))
}

/// Compresses without reading far ahead of the client.
pub(crate) fn compression() -> CompressionLayer {
    CompressionLayer::new().gzip(true).br(true).quality(CompressionLevel::Fastest)
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
