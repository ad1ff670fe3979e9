//! The button that dismisses, for everyone, a job that needs attention, and the one that undoes it.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::post_form;
use crate::ui::components::icon::{self, icon};
use api::archive_and_tags::{DismissJobs, UndismissJobs};
use model::job::Job;

pub fn dismiss(project: &str, job: &str) -> impl IntoView + use<> {
    form(project, job, "button", "Dismiss")
}

/// As [`dismiss`], as an icon in a list.
pub fn dismiss_icon(job: &Job) -> impl IntoView + use<> {
    let content = view! {
        {icon(icon::CLOSE)}
        <span class="visually-hidden">"Dismiss: " {job.title()}</span>
    };
    form(job.project.as_str(), job.id.as_str(), "button button-icon", content)
}

fn form<C: IntoView>(project: &str, job: &str, class: &'static str, content: C) -> impl IntoView + use<C> {
    let button = view! {
        <button
            type="submit"
            class=class
            title="Dismiss, for everyone: it needs no attention"
            data-done="dismissed"
            data-undo=UndismissJobs::PATH
        >
            {content.into_view()}
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
