//! The project that a browser visited last, in a cookie. Pages without a project use it for their navigation.

use axum::http::request::Parts;

use crate::ui::pages::frame::LastProject;
use base::config::PublicUrl;
use model::user::Project;
use web::request::cookie::{self, CookieName};

const COOKIE: CookieName = CookieName { https: "__Host-docket-project", http: "docket-project" };

/// How long a browser stores it, in seconds.
const LIFETIME_SECONDS: i64 = 365 * 24 * 3600;

/// The project of the requested page, which is then stored, or else the last visited project that this person may see.
pub(super) fn of(parts: &Parts, public_url: &PublicUrl, projects: &[Project]) -> LastProject {
    let known = |id: &str| projects.iter().find(|project| project.id.as_str() == id);
    let noted = cookie::get(&parts.headers, COOKIE.at(public_url));
    let within = parts.uri.path().strip_prefix("/p/").and_then(|rest| rest.split('/').next());
    if let Some(here) = within.and_then(known) {
        let id = here.id.to_string();
        let is_noted = noted.as_deref() == Some(id.as_str());
        if !is_noted {
            cookie::send(cookie::set(COOKIE, &id, LIFETIME_SECONDS, public_url));
        }
        return LastProject(id);
    }
    let last = noted.as_deref().and_then(known).or(projects.first());
    LastProject(last.map(|project| project.id.to_string()).unwrap_or_default())
}
