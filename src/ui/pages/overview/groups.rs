//! Jobs by what a person has to do with them.

use leptos::prelude::*;

use crate::model::job::{Job, JobPage, JobState};
use crate::ui::charts::number::grouped;
use crate::ui::components::job_row::job_row;

use crate::model::links;
use crate::ui::pages::jobs::no_jobs_yet;

/// How many finished jobs are shown.
const FINISHED: usize = 6;
/// How many jobs that run, or that need a person, are shown.
const SHOWN: usize = 8;

/// `page` is of those jobs alone that run; where the project has none at all, the first step.
pub(super) fn running(project: &str, page: &JobPage, may_start: bool) -> AnyView {
    if page.counts.is_empty() {
        return no_jobs_yet(project, may_start);
    }
    let all = all(project, page, ("status", "active"));
    section("Running now", "Nothing runs at the moment.", page.jobs.iter(), SHOWN, all)
}

/// `page` is of those jobs alone that need a person, however old they are.
pub(super) fn needs_you(project: &str, page: &JobPage) -> AnyView {
    let all = all(project, page, ("needs", "attention"));
    section("Needs you", "Nothing waits for you.", page.jobs.iter(), SHOWN, all)
}

/// `page` is of those jobs alone that have a pull request, what changed last first: of them those that came to a good end.
pub(super) fn finished(project: &str, page: &JobPage) -> AnyView {
    if page.jobs.is_empty() {
        return ().into_any();
    }
    let jobs = page.jobs.iter().filter(|job| is_finished(job));
    let all = view! { <p class="more"><a href=links::jobs(project)>"All jobs"</a></p> }.into_any();
    section("Finished lately", "Nothing finished yet.", jobs, FINISHED, all)
}

/// The way to all jobs of the filter, where more of them are than shown.
fn all(project: &str, page: &JobPage, filter: (&str, &str)) -> AnyView {
    let all = (page.total > SHOWN as u64).then(|| {
        let href = links::with_query(&links::jobs(project), &[filter]);
        view! { <p class="more"><a href=href>"Show all " {grouped(page.total)}</a></p> }.into_any()
    });
    all.into_any()
}

fn section<'a>(
    heading: &'static str,
    none: &'static str,
    jobs: impl Iterator<Item = &'a Job>,
    most: usize,
    more: AnyView,
) -> AnyView {
    let rows: Vec<_> = jobs.take(most).map(|job| job_row(job, ())).collect();
    let body = match rows.is_empty() {
        true => view! { <p class="none">{none}</p> }.into_any(),
        false => view! { <ul class="job-list job-list-short">{rows}</ul> }.into_any(),
    };
    view! { <section class="group"><h2>{heading}</h2> {body} {more}</section> }.into_any()
}

fn is_finished(job: &Job) -> bool {
    matches!(job.state, JobState::Completed | JobState::Archived)
}
