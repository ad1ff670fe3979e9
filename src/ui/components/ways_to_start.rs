//! The primary action of pages with jobs: a new job, and beside it a menu of other ways to start one.

use leptos::prelude::*;

use crate::model::links;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::new_job_link::new_job_link;

pub fn ways_to_start(project: &str) -> AnyView {
    let ways = [
        ("Batch", links::new_batch(project, "")),
        ("Import a job", links::import_job(project)),
        ("From a template", links::templates(project)),
    ];
    let ways = ways.map(|(name, href)| view! { <li><a href=href>{name}</a></li> });
    view! {
        <div class="split">
            {new_job_link(project)}
            <details class="split-more" data-menu="">
                <summary class="button button-primary">
                    {icon(icon::CHEVRON)} <span class="visually-hidden">"More ways to start"</span>
                </summary>
                <ul class="menu">{ways.into_iter().collect_view()}</ul>
            </details>
        </div>
    }
    .into_any()
}
