//! The overview's groups of jobs.

use leptos::prelude::*;

use crate::model::job::{Job, JobState, JobsOverview};
use crate::model::job_query::NO_CHANGES;
use crate::model::links;
use crate::ui::components::dismiss::dismiss;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::job_row::job_row;
use crate::ui::components::localized::number;
use crate::ui::pages::jobs::no_jobs_yet;

/// What changed since this person last looked at the notifications, as one line that opens; nothing without news. To open it is not to
/// look at them. `unread`: how many changed; `has_own`: whether they are the person's own.
pub(super) fn new(project: &str, jobs: &[Job], unread: u32, has_own: bool) -> Option<AnyView> {
    let count = u64::from(unread).max(jobs.len() as u64);
    let what = match (has_own, count) {
        (true, 1) => " of your jobs finished or needs attention since you last looked",
        (true, _) => " of your jobs finished or need attention since you last looked",
        (false, 1) => " job finished or needs attention since you last looked",
        (false, _) => " jobs finished or need attention since you last looked",
    };
    (!jobs.is_empty()).then(|| {
        let rows = jobs.iter().map(|job| job_row(job, ())).collect_view();
        view! {
            <details class="group since" data-key="since">
                <summary>{icon(icon::BELL)} <span>{number(count)} {what}</span> {icon(icon::CHEVRON)}</summary>
                <ul class="job-list" aria-label="Since you last looked">{rows}</ul>
                <p class="more"><a href=links::notifications(project, false)>"Open the notifications"</a></p>
            </details>
        }
        .into_any()
    })
}

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
        false,
        all(project, total, &jobs.running, ("status", "active")),
    )
}

/// Jobs that need attention; those that only changed nothing are one line. `may_dismiss`: whether this person may dismiss jobs.
pub(super) fn needs_attention(project: &str, jobs: &JobsOverview, may_dismiss: bool) -> AnyView {
    let others = jobs.attention.saturating_sub(jobs.no_changes);
    let all = all(project, others, &jobs.needing, ("needs", "attention"));
    let unchanged = (jobs.no_changes > 0).then(|| {
        let fields = [("status", NO_CHANGES), ("needs", "attention")];
        let href = links::with_query(&links::jobs(project), &fields);
        let jobs_made = if jobs.no_changes == 1 { " job" } else { " jobs" };
        view! { <p class="more"><a href=href>{number(jobs.no_changes)} {jobs_made} " made no changes"</a></p> }
    });
    let more = view! { {all} {unchanged} }.into_any();
    section("Needs attention", "Nothing needs your attention.", &jobs.needing, may_dismiss, more)
}

/// Finished jobs; nothing without any.
pub(super) fn finished(project: &str, jobs: &JobsOverview) -> AnyView {
    if jobs.finished.is_empty() {
        return ().into_any();
    }
    let all = view! { <p class="more"><a href=links::jobs(project)>"All jobs"</a></p> }.into_any();
    section("Recently finished", "", &jobs.finished, false, all)
}

/// The link to all jobs of the filter, if there are more than those shown.
fn all(project: &str, total: u64, shown: &[Job], filter: (&str, &str)) -> AnyView {
    let all = (total > shown.len() as u64).then(|| {
        let href = links::with_query(&links::jobs(project), &[filter]);
        view! { <p class="more"><a href=href>"Show all " {number(total)}</a></p> }
    });
    all.into_any()
}

fn section(
    heading: &'static str,
    none: &'static str,
    jobs: &[Job],
    may_dismiss: bool,
    more: AnyView,
) -> AnyView {
    let body = match jobs.is_empty() {
        true => view! { <p class="none">{none}</p> }.into_any(),
        false => {
            let button =
                |job: &Job| may_dismiss.then(|| dismiss(job.project.as_str(), job.id.as_str(), job.title()));
            let rows = jobs.iter().map(|job| job_row(job, button(job))).collect_view();
            view! { <ul class="job-list" aria-label=heading>{rows}</ul> }.into_any()
        }
    };
    view! { <section class="group"><h2>{heading}</h2> {body} {more}</section> }.into_any()
}
