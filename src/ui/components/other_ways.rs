//! Links to import a job and to create a batch.

use leptos::prelude::*;

use crate::model::links;

pub fn other_ways(project: &str) -> AnyView {
    [("Import", links::import_job(project)), ("Batch", links::new_batch(project, ""))]
        .map(|(name, href)| view! { <a class="button" href=href>{name}</a> })
        .into_iter()
        .collect_view()
        .into_any()
}
