//! The routes of the pages.

mod endpoints;
mod last_project;
mod pages;
mod sign_in_pages;

pub use pages::paths as page_paths;

use axum::Router;

use self::endpoints::ENDPOINTS;
use crate::server::assets;
use web::http::Site;
use web::state::AppState;

/// The pages, for the server.
pub const SITE: Site = Site {
    pages: routes,
    not_found: pages::not_found,
    files: assets::routes,
    package_dir: assets::package_dir,
    endpoints: ENDPOINTS,
};

fn routes(state: &AppState) -> Router<AppState> {
    pages::routes(state).merge(sign_in_pages::routes())
}
