//! The overview's groups of jobs.

use leptos::prelude::*;

use crate::ui::components::dismiss::{dismiss_all, dismiss_in_list};
use crate::ui::components::icon::{self, icon};
use crate::ui::components::localized::number;
use crate::ui::components::next_action::next_action;
use crate::ui::components::time::{duration, elapsed};
use crate::ui::pages::job_row::{Entry, batch_link_row, batch_row, folded, job_row, row_end};
use crate::ui::pages::jobs::no_jobs_yet;
use crate::ui::pages::reviews;
use model::job::{Job, JobState};
use model::job_list::JobsOverview;
use model::job_query::NO_CHANGES;
use model::links;

/// The number of recently finished jobs and batches.
const FINISHED_ROWS: usize = 6;

/// The number of jobs and batches of a person, or of all others, that need attention, and of the jobs of one batch.
const ATTENTION_ROWS: usize = 8;

/// Changes since this person last opened the notifications, as one line that opens; empty without changes. Opening it does not
/// mark them as read. `unread`: how many changed; `has_own`: whether they are the person's own.
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

/// Running jobs, with the elapsed and the usual time; the empty state if the project has no jobs at all.
pub(super) fn running(project: &str, jobs: &JobsOverview, may_start: bool) -> AnyView {
    if jobs.counts.is_empty() {
        return no_jobs_yet(project, may_start);
    }
    let total = jobs.counts.get(&JobState::Active).copied().unwrap_or_default();
    let rows = jobs.running.iter().map(|job| {
        let usual = jobs.usual_times.get(&job.id).map(|millis| format!(" · usually {}", duration(*millis)));
        let time = view! { <span class="faint running-time">{elapsed(job.running_since())} {usual}</span> };
        job_row(job, row_end(time))
    });
    let more = all(project, total, jobs.running.len(), "status", "active");
    section("Running now", rows.collect_view(), jobs.running.is_empty(), "No jobs running.", more)
}

/// Jobs that need attention, first those of this person, each with the next action; empty without jobs. `may_act`: whether this
/// person may take the action.
pub(super) fn attention(project: &str, jobs: &JobsOverview, may_act: bool) -> AnyView {
    if jobs.counts.is_empty() {
        return ().into_any();
    }
    let needing = [("Yours", &jobs.needing), ("Your team’s", &jobs.needing_of_others)];
    let (mut lists, mut shown) = (Vec::new(), 0);
    for (whose, needing) in needing.into_iter().filter(|(_, needing)| !needing.is_empty()) {
        let entries: Vec<Entry> = folded(needing, &jobs.batches).into_iter().take(ATTENTION_ROWS).collect();
        shown += entries.iter().map(Entry::jobs).sum::<usize>();
        let rows = entries.into_iter().map(|entry| attention_row(project, entry, may_act)).collect_view();
        lists.push(part(whose, rows));
    }
    if !jobs.stale.is_empty() {
        let stale = jobs.stale.iter().map(|reviewed| reviews::row(project, reviewed, true));
        lists.push(part("Pull requests", stale.collect_view()));
    }
    let all = all(project, jobs.attention, shown, "needs", "attention");
    let unchanged = (jobs.no_changes > 1).then(|| {
        let fields = [("status", NO_CHANGES), ("needs", "attention")];
        let href = links::with_query(&links::jobs(project), &fields);
        view! { <p class="more"><a href=href>{number(jobs.no_changes)} " jobs ended without a pull request"</a></p> }
    });
    let unknown = jobs.counts.get(&JobState::Unknown).copied().unwrap_or_default();
    let undecided = (may_act && unknown > 1).then(|| {
        let href = links::with_query(&links::jobs(project), &[("status", JobState::Unknown.as_str())]);
        view! { <p class="more"><a href=href>"Decide about all " {number(unknown)} " jobs with an unknown outcome"</a></p> }
    });
    let reviews = (!jobs.stale.is_empty())
        .then(|| view! { <p class="more"><a href=links::reviews(project)>"All reviews"</a></p> });
    let none = lists.is_empty().then(|| view! { <p class="none">"Nothing needs your attention."</p> });
    view! {
        <section class="group attention">
            <h2>"Needs attention"</h2>
            {none}
            {lists}
            {all} {undecided} {unchanged} {reviews}
        </section>
    }
    .into_any()
}

/// A part of the section of jobs that need attention.
fn part<R: IntoView + 'static>(name: &'static str, rows: R) -> AnyView {
    view! { <h3 class="hint">{name}</h3> <ul class="job-list" aria-label=name>{rows}</ul> }.into_any()
}

/// A job with its next action, or several jobs of a batch, which open.
fn attention_row(project: &str, entry: Entry, may_act: bool) -> AnyView {
    let row = |job: &Job| {
        let end = may_act.then(|| row_end(view! { {next_action(job)} {dismiss_in_list(job)} }));
        job_row(job, end)
    };
    match entry {
        Entry::Batch(batch, jobs) if jobs.len() > 1 => {
            let rows = jobs.iter().take(ATTENTION_ROWS).map(|job| row(job)).collect_view();
            let dismiss = may_act.then(|| {
                view! { <li class="batch-link">{dismiss_all(project, &jobs, &batch.name)}</li> }
            });
            batch_row(project, batch, None, false, view! { {rows} {dismiss} }).into_any()
        }
        Entry::Batch(_, jobs) => jobs.into_iter().map(row).collect_view().into_any(),
        Entry::Job(job) => row(job).into_any(),
    }
}

/// Finished jobs; those of a batch are one row. Empty without jobs.
pub(super) fn finished(project: &str, jobs: &JobsOverview) -> AnyView {
    if jobs.finished.is_empty() {
        return ().into_any();
    }
    let rows =
        folded(&jobs.finished, &jobs.batches).into_iter().take(FINISHED_ROWS).map(|entry| match entry {
            Entry::Job(job) => job_row(job, ()).into_any(),
            Entry::Batch(batch, jobs) if jobs.len() > 1 => batch_link_row(project, batch).into_any(),
            Entry::Batch(_, jobs) => jobs.into_iter().map(|job| job_row(job, ())).collect_view().into_any(),
        });
    let all = view! { <p class="more"><a href=links::jobs(project)>"All jobs"</a></p> }.into_any();
    section("Recently finished", rows.collect_view(), false, "", all)
}

/// The link to all jobs whose filter `name` has this value, if there are more than the number `shown`.
fn all(project: &str, total: u64, shown: usize, name: &str, value: &str) -> AnyView {
    let all = (total > shown as u64).then(|| {
        let href = links::with_query(&links::jobs(project), &[(name, value)]);
        view! { <p class="more"><a href=href>"Show all " {number(total)}</a></p> }
    });
    all.into_any()
}

fn section<R: IntoView + 'static>(
    heading: &'static str,
    rows: R,
    is_empty: bool,
    none: &'static str,
    more: AnyView,
) -> AnyView {
    let body = match is_empty {
        true => view! { <p class="none">{none}</p> }.into_any(),
        false => view! { <ul class="job-list" aria-label=heading>{rows}</ul> }.into_any(),
    };
    view! { <section class="group"><h2>{heading}</h2> {body} {more}</section> }.into_any()
}
