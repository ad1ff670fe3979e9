//! The primary action of pages with jobs: a new job, and beside it a menu of other ways to start one.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::components::menu::{MenuButton, menu};
use crate::ui::components::new_job_link::new_job_link;
use model::links;

pub fn ways_to_start(project: &str) -> AnyView {
    let ways = [
        ("Batch", links::new_batch(project, "")),
        ("Import a job", links::import_job(project)),
        ("From a template", links::templates(project)),
    ];
    let ways = ways.map(|(name, href)| view! { <li><a href=href>{name}</a></li> });
    let more = MenuButton {
        class: "button button-primary",
        label: Some("More ways to start"),
        content: icon(icon::CHEVRON).into_any(),
    };
    let ways = view! { <ul>{ways.into_iter().collect_view()}</ul> };
    view! { <div class="split">{new_job_link(project)} {menu("ways-to-start", "split-more", more, ways)}</div> }.into_any()
}
