//! The newest jobs, by what a person has to do with them.

use leptos::prelude::*;

use crate::model::job::{Job, JobPage, JobState};
use crate::ui::components::job_row::job_row;
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::pages::jobs::no_jobs_yet;
use crate::ui::state::badges::Badges;

/// How many finished jobs are shown.
const FINISHED: usize = 6;
/// How many jobs that need a person are shown.
const NEEDING: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Running,
    NeedsYou,
    Finished,
}

pub(super) fn groups(project: &str, page: JobPage, may_start: bool) -> AnyView {
    if page.jobs.is_empty() {
        return no_jobs_yet(project, may_start);
    }
    let of = |group: Group| page.jobs.iter().filter(move |job| group_of(job) == group);
    view! {
        {section("Running now", "Nothing runs at the moment.", of(Group::Running), usize::MAX)}
        {section("Needs you", "Nothing waits for you.", of(Group::NeedsYou), NEEDING)}
        {section("Finished lately", "Nothing finished yet.", of(Group::Finished), FINISHED)}
        <p class="more"><a href=links::jobs(project)>"All jobs"</a></p>
    }
    .erase()
}

fn section<'a>(
    heading: &'static str,
    none: &'static str,
    jobs: impl Iterator<Item = &'a Job>,
    most: usize,
) -> AnyView {
    let badges = Badges::get();
    let rows: Vec<_> = jobs.take(most).map(|job| job_row(job, badges.watch(job))).collect();
    let body = match rows.is_empty() {
        true => view! { <p class="none">{none}</p> }.erase(),
        false => view! { <ul class="job-list job-list-short">{rows}</ul> }.erase(),
    };
    view! { <section class="group"><h2>{heading}</h2> {body}</section> }.erase()
}

fn group_of(job: &Job) -> Group {
    let has_request = job.remote.as_ref().is_some_and(|remote| remote.pr_link.is_some());
    match job.state {
        _ if job.is_moving() => Group::Running,
        JobState::Other | JobState::Unknown | JobState::Rejected | JobState::Failed => Group::NeedsYou,
        JobState::Completed if !has_request => Group::NeedsYou,
        _ => Group::Finished,
    }
}
