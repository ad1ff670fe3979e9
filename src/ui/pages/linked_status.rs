//! The state of a job, and beside it the link to its pull request.

use leptos::either::Either;
use leptos::prelude::*;

use crate::ui::components::badge::still_badge;
use crate::ui::components::job_status::ShownStatus;
use crate::ui::components::pull_request::short_pull_request;
use crate::ui::islands::job_badge::JobStatusBadge;
use model::job::JobBadge;

pub(super) fn job_status(status: &JobBadge) -> impl IntoView + use<> {
    view! { <JobStatusBadge status=ShownStatus::of(status) /> }
}

/// A badge, and beside it the link to the pull request: an empty element if there is none.
pub(super) fn linked_job_status(status: &JobBadge) -> impl IntoView + use<> {
    view! { {job_status(status)} {link(status)} }
}

/// The same in a region that follows the project. The region shows what a person does with a job, so only the states of jobs that change by
/// themselves are polled.
pub(super) fn followed_job_status(status: &JobBadge) -> impl IntoView + use<> {
    let badge = match status.is_moving() {
        true => Either::Left(job_status(status)),
        false => Either::Right(still_badge(&ShownStatus::of(status))),
    };
    view! { {badge} {link(status)} }
}

/// The link to the pull request in a row.
pub(super) fn link(status: &JobBadge) -> impl IntoView + use<> {
    short_pull_request(status.pr_link.as_deref(), status.pr_state, status.pr_link_is_earlier, "job-link")
}
