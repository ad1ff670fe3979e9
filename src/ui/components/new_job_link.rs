//! The primary action of pages with jobs, for those who may take it.

use std::sync::Arc;

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::components::loading::{nothing, suspended};
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::state::session::{self, AskedSession};

pub fn new_job_link(project: &str, session: AskedSession) -> AnyView {
    let href = links::new_job(project, "", "");
    let link = move || match session::can_start_jobs(session) {
        true => view! { <a class="button button-primary" href=href.clone()>{icon(icon::PLUS)} "New job"</a> }
            .erase(),
        false => ().into_any(),
    };
    suspended(nothing, Arc::new(link))
}
