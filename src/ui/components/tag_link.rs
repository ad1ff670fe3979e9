//! A link from a tag or page of a job to all jobs that have it.

use leptos::prelude::*;

use crate::model::links;

/// `label`: a page if it begins with a slash, else a tag.
pub fn tag_link(project: &str, label: &str) -> AnyView {
    let href = links::with_query(&links::jobs(project), &[("tag", label)]);
    let class = if label.starts_with('/') { "tag tag-page" } else { "tag" };
    view! { <a class=class href=href title=label.to_owned()>{label.to_owned()}</a> }.into_any()
}
