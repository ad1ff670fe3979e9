//! Polling the platform once for a job that Docket stopped tracking.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::post_form;
use api::jobs::CheckJob;
use model::job::Job;

pub(super) fn check_again(job: &Job) -> AnyView {
    let hidden = vec![("project", job.project.to_string()), ("job", job.id.to_string())];
    let button = view! { <button type="submit" class="button" data-done="Checked">"Check again"</button> };
    post_form("", CheckJob::PATH, hidden, button).into_any()
}
