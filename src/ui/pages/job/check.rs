//! Asking the upstream once more about a job that is followed no more.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::jobs::CheckJob;
use crate::model::job::Job;


/// What can be wrong with the form.
pub(super) const MISTAKE: &str = "This job cannot be asked about. Reload the page.";

/// A plain post: what comes of it is a page.
pub(super) fn check_again(job: &Job) -> AnyView {
    view! {
        <form method="post" action=CheckJob::PATH>
            <input type="hidden" name="project" value=job.project.to_string() />
            <input type="hidden" name="job" value=job.id.to_string() />
            <button type="submit" class="button">"Check again"</button>
        </form>
    }
    .into_any()
}
