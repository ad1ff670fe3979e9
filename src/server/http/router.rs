//! All routes: those of the pages, and those of `web`.

mod endpoints;
mod last_project;
mod pages;
mod sign_in_pages;

pub use pages::paths as page_paths;

use axum::Router;

use crate::server::assets;
use web::http::Site;
use web::state::AppState;

/// The whole application as a service.
pub fn router(state: &AppState) -> Router {
    let site = Site {
        pages: Router::new().merge(pages::routes(state)).merge(sign_in_pages::routes()),
        not_found: pages::not_found(state),
        files: assets::routes(),
        endpoints: endpoints::ENDPOINTS,
    };
    web::http::router(site, state)
}
