//! The link to start a job: the primary action of pages with jobs.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use model::links;

pub fn new_job_link(project: &str) -> AnyView {
    view! { <a class="button button-primary" href=links::new_job(project, "", "")>{icon(icon::PLUS)} "New job"</a> }.into_any()
}
