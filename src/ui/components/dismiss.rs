//! The button that dismisses a job that needs attention, for everybody, and the one that undoes it.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::archive_and_tags::{DismissJobs, UndismissJobs};
use crate::ui::components::form::post_form;

/// `title`: the job's, for screen readers in a list; empty on its own page.
pub fn dismiss(project: &str, job: &str, title: &str) -> impl IntoView + use<> {
    let of =
        (!title.is_empty()).then(|| view! { <span class="visually-hidden">": " {title.to_owned()}</span> });
    let button = view! {
        <button
            type="submit"
            class="button"
            title="Remove it from “Needs attention”, for everyone"
            data-done="dismissed"
            data-undo=UndismissJobs::PATH
        >
            "Dismiss"
            {of}
        </button>
    };
    post_form("dismiss", DismissJobs::PATH, which(project, job), button)
}

pub fn undismiss(project: &str, job: &str) -> impl IntoView + use<> {
    let button = view! {
        <button type="submit" class="button" data-done="no longer dismissed" data-undo=DismissJobs::PATH>
            "Undo dismissal"
        </button>
    };
    post_form("", UndismissJobs::PATH, which(project, job), button)
}

fn which(project: &str, job: &str) -> Vec<(&'static str, String)> {
    vec![("project", project.to_owned()), ("jobs", job.to_owned())]
}
