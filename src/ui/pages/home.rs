//! `/`: redirects to the first project that this person may see.

use leptos::prelude::*;
use leptos_router::components::Redirect;

use crate::ui::components::failure::page_failure;
use crate::ui::pages::request;
use model::error::{AppError, ErrorCode};
use model::links;

const NO_PROJECT: &str =
    "You cannot see any project yet. Ask an administrator for access, then sign in again.";

#[component]
pub fn Home() -> impl IntoView {
    match request::session().projects.first() {
        Some(project) => view! { <Redirect path=links::overview(project.id.as_str()) /> }.into_any(),
        None => {
            request::set_status(ErrorCode::Forbidden);
            let error = AppError::new(ErrorCode::Forbidden, NO_PROJECT);
            view! { <main class="lone">{page_failure(&error)}</main> }.into_any()
        }
    }
}
