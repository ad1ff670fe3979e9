//! HTTP: the routes that need no page, the layers around all routes, and the description of the JSON API.

mod api_reference;
mod audit_export;
mod export;
pub mod layers;
mod metrics;
mod probes;
mod starting;
mod v1;

pub use metrics::metrics_router;
pub use starting::starting_router;
pub use v1::{codes, reference};

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::MethodRouter;

use self::layers::{Endpoints, around, headers, host, measure, server_fns};
use crate::state::AppState;

/// What the pages add to the server.
#[derive(Clone, Copy)]
pub struct Site {
    /// Pages and server functions.
    pub pages: fn(&AppState) -> Router<AppState>,
    /// The page for all other paths.
    pub not_found: fn(&AppState) -> MethodRouter<AppState>,
    /// Files that need no session.
    pub files: fn() -> Router<AppState>,
    /// See [`AppStateConfig::package_dir`](crate::state::AppStateConfig::package_dir).
    pub package_dir: fn() -> String,
    pub endpoints: Endpoints,
}

/// The whole application as a service.
pub fn router(site: Site, state: &AppState) -> Router {
    let Site { pages, not_found, files, endpoints, .. } = site;
    let app = pages(state)
        .merge(export::routes())
        .merge(audit_export::routes())
        .method_not_allowed_fallback(server_fns::wrong_method)
        .fallback_service(not_found(state).with_state(state.clone()));
    let app = layers::with_session(layers::with_responses(app, state, endpoints), state);
    let app = layers::with_request_checks(app, state, endpoints);
    let routes = Router::new().merge(files()).merge(app);
    let routes = routes.layer(from_fn_with_state(state.public_url.clone(), host::ours_only));
    let routes = routes.merge(probes::routes()).merge(metrics::routes()).merge(v1::routes(state));
    let access = state.settings().access.clone();
    let hsts = headers::insist_on_https(&state.public_url, access.hsts_subdomains);
    around(routes.with_state(state.clone()), hsts, (access, endpoints))
        .layer(from_fn_with_state(state.instruments.clone(), measure::count))
}
