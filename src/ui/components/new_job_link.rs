//! The link to start a job: the primary action of pages with jobs.

use leptos::prelude::*;

use crate::model::links;
use crate::ui::components::icon::{self, icon};

pub fn new_job_link(project: &str) -> AnyView {
    view! { <a class="button button-primary" href=links::new_job(project, "", "")>{icon(icon::PLUS)} "New job"</a> }.into_any()
}
