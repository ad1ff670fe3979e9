//! The position of the page in the list, and links to the adjacent pages.

use leptos::prelude::*;

use crate::ui::components::localized::{counted, number};
use crate::ui::components::unmarked::unmarked;
use crate::ui::pages::jobs::query::{self, JobsUrl};
use model::job_list::JobPage;

/// `1–50 of 312 jobs`.
pub(super) fn position(page: &JobPage) -> AnyView {
    let shown = page.jobs.len() as u64;
    let all = counted(page.total, "job", "jobs");
    match shown {
        0 => ().into_any(),
        _ if shown == page.total => all.into_any(),
        _ => view! { {number(page.before + 1)} "–" {number(page.before + shown)} " of " {all} }.into_any(),
    }
}

pub(super) fn pager(project: &str, url: &JobsUrl, page: &JobPage) -> AnyView {
    let (first, back, on) = match url.query.sort.as_str() {
        "oldest" => ("Oldest", "Older", "Newer"),
        "changed" => ("First page", "Previous", "Next"),
        _ => ("Newest", "Newer", "Older"),
    };
    let at = |cursor: &String| query::page_href(project, &url.query, cursor);
    let start = url.is_further_on().then(|| query::href(project, &url.query));
    unmarked(view! {
        <nav class="pager" aria-label="Pages of the list">
            {start.map(|href| view! { <a class="button" href=href>{first}</a> })}
            {page.previous.as_ref().map(at).map(|href| view! { <a class="button" rel="prev" href=href>{back}</a> })}
            {page.next.as_ref().map(at).map(|href| view! { <a class="button" rel="next" href=href>{on}</a> })}
            <a class="button no-js" href="">"Refresh"</a>
        </nav>
    })
    .into_any()
}
