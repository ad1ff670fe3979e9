//! A link from a tag or page of a job to all jobs that have it.

use leptos::prelude::*;

use model::links;

/// `label`: a page if it begins with a slash, else a tag.
pub fn tag_link(project: &str, label: &str) -> AnyView {
    tag_link_that_fits(project, label, 0)
}

/// `fits`: how many characters are never truncated, so that the link needs no title.
pub fn tag_link_that_fits(project: &str, label: &str, fits: usize) -> AnyView {
    let href = links::with_query(&links::jobs(project), &[("tag", label)]);
    let class = if label.starts_with('/') { "tag tag-page" } else { "tag" };
    let title = (label.chars().count() > fits).then(|| label.to_owned());
    view! { <a class=class href=href title=title>{label.to_owned()}</a> }.into_any()
}
