//! The overview's groups of jobs.

use leptos::prelude::*;

use crate::model::job::{Job, JobState, JobsOverview};
use crate::model::links;
use crate::ui::charts::number::grouped;
use crate::ui::components::job_row::job_row;
use crate::ui::pages::jobs::no_jobs_yet;

/// Running jobs; the empty state if the project has no jobs at all.
pub(super) fn running(project: &str, jobs: &JobsOverview, may_start: bool) -> AnyView {
    if jobs.counts.is_empty() {
        return no_jobs_yet(project, may_start);
    }
    let total = jobs.counts.get(&JobState::Active).copied().unwrap_or_default();
    section(
        "Running now",
        "No jobs running.",
        &jobs.running,
        all(project, total, &jobs.running, ("status", "active")),
    )
}

pub(super) fn needs_attention(project: &str, jobs: &JobsOverview) -> AnyView {
    let all = all(project, jobs.attention, &jobs.needing, ("needs", "attention"));
    section("Needs attention", "Nothing needs your attention.", &jobs.needing, all)
}

/// Finished jobs; nothing without any.
pub(super) fn finished(project: &str, jobs: &JobsOverview) -> AnyView {
    if jobs.finished.is_empty() {
        return ().into_any();
    }
    let all = view! { <p class="more"><a href=links::jobs(project)>"All jobs"</a></p> }.into_any();
    section("Recently finished", "", &jobs.finished, all)
}

/// The link to all jobs of the filter, if there are more than those shown.
fn all(project: &str, total: u64, shown: &[Job], filter: (&str, &str)) -> AnyView {
    let all = (total > shown.len() as u64).then(|| {
        let href = links::with_query(&links::jobs(project), &[filter]);
        view! { <p class="more"><a href=href>"Show all " {grouped(total)}</a></p> }
    });
    all.into_any()
}

fn section(heading: &'static str, none: &'static str, jobs: &[Job], more: AnyView) -> AnyView {
    let body = match jobs.is_empty() {
        true => view! { <p class="none">{none}</p> }.into_any(),
        false => {
            let rows = jobs.iter().map(|job| job_row(job, ())).collect_view();
            view! { <ul class="job-list job-list-short">{rows}</ul> }.into_any()
        }
    };
    view! { <section class="group"><h2>{heading}</h2> {body} {more}</section> }.into_any()
}
