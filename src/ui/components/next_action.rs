//! What to do next about a job that needs attention.

use leptos::prelude::*;

use model::job::{Job, JobState};
use model::links;

/// The link in a list.
pub fn next_action(job: &Job) -> impl IntoView + use<> {
    let (project, id) = (job.project.as_str(), job.id.as_str());
    let page = links::job(project, id);
    let (label, href) = match job.state {
        _ if job.has_unknown_outcome() => ("Resolve", page),
        JobState::Failed | JobState::Rejected | JobState::Cancelled => {
            (again(job), links::new_job_from(project, id))
        }
        _ if job.has_no_changes() => ("Send follow-up", page + "#follow-up"),
        _ => ("View job", page),
    };
    let name = view! { <span class="visually-hidden">": " {job.title()}</span> };
    view! { <a class="button" href=href>{label} {name}</a> }
}

/// The label of the link that starts the same job again.
pub fn again(job: &Job) -> &'static str {
    match job.state {
        // Nothing was sent.
        JobState::Rejected | JobState::Cancelled => "Edit and send again",
        _ => "Run again",
    }
}
