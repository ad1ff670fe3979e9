//! The one place that knows every route, and the layers around them. Must not contain a rule of its own.

mod audit_export;
mod export;
mod headers;
mod outage;
mod pages;
mod probes;
mod request_id;
mod server_fns;
mod sign_in;

pub use pages::paths as page_paths;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum_login::AuthManagerLayerBuilder;
use axum_login::tower_sessions::cookie::{SameSite, time::Duration};
use axum_login::tower_sessions::{Expiry, SessionManagerLayer};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use crate::server::assets;
use crate::server::auth::address;
use crate::server::auth::backend::Backend;
use crate::server::auth::gate::gate;
use crate::server::auth::origin::same_origin;
use crate::server::auth::session_store::Sessions;
use crate::server::panel::Panel;

/// How many bytes a character of a prompt takes at its worst: four, each percent-encoded.
const BYTES_PER_CHARACTER: usize = 12;
/// Room in a request body for all that is not the prompt, in bytes.
const BYTES_BESIDE_PROMPT: usize = 128 * 1024;

/// The whole panel as a service.
pub fn router(panel: &Panel) -> Router {
    let most_bytes = panel.prompt_max as usize * BYTES_PER_CHARACTER + BYTES_BESIDE_PROMPT;
    let behind_the_gate = Router::new()
        .merge(pages::routes(panel))
        .merge(export::routes())
        .merge(audit_export::routes())
        .merge(sign_in::routes())
        .method_not_allowed_fallback(server_fns::wrong_method)
        .fallback_service(pages::not_found(panel).with_state(panel.clone()))
        .layer(from_fn(server_fns::one_list))
        .layer(from_fn(server_fns::status_of_error))
        .layer(from_fn(server_fns::url_encoded_only))
        .layer(from_fn_with_state(panel.clone(), gate))
        .layer(from_fn_with_state(panel.clone(), same_origin))
        .layer(AuthManagerLayerBuilder::new(Backend::new(panel.store.clone()), sessions(panel)).build())
        .layer(from_fn_with_state(panel.clone(), address::find_out))
        .layer(from_fn(outage::explain))
        .layer(DefaultBodyLimit::max(most_bytes))
        .layer(from_fn(headers::personal));
    Router::new()
        .merge(assets::routes())
        .merge(probes::routes())
        .merge(behind_the_gate)
        .layer(CompressionLayer::new().gzip(true).br(true).quality(tower_http::CompressionLevel::Fastest))
        .layer(CatchPanicLayer::custom(server_fns::panicked))
        .layer(from_fn_with_state(panel.clone(), headers::security))
        .layer(from_fn(request_id::identify))
        .with_state(panel.clone())
}

fn sessions(panel: &Panel) -> SessionManagerLayer<Sessions> {
    let secure = panel.public_url.is_https();
    let lifetime = Duration::seconds(panel.access.session_lifetime.as_secs() as i64);
    SessionManagerLayer::new(Sessions::new(panel))
        // A browser takes `__Host-` only over https.
        .with_name(if secure { "__Host-docket" } else { "docket" })
        .with_secure(secure)
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_expiry(Expiry::OnInactivity(lifetime))
}
