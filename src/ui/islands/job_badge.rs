//! The badge of a job's state. [`super::live::Live`] polls the states of all jobs that have one.

use leptos::prelude::*;

use crate::ui::components::badge::badge;
use crate::ui::components::job_status::ShownStatus;
use crate::ui::islands::live::LiveState;

/// `status`: when the page was rendered. Only this; the link to the pull request beside a badge is part of the page's regions.
#[island]
pub fn JobStatusBadge(status: ShownStatus) -> impl IntoView {
    let jobs = LiveState::here().map(|live| live.jobs);
    if let Some(jobs) = jobs {
        jobs.watch(&status);
    }
    let id = status.id.to_string();
    let current = move || jobs.and_then(|jobs| jobs.status(&status.id)).unwrap_or_else(|| status.clone());
    badge(current, Some(id))
}
