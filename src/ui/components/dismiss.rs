//! The button that dismisses, for everyone, a job that needs attention, and the one that undoes it.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::post_form;
use api::archive_and_tags::{DismissJobs, UndismissJobs};
use model::job::Job;

const DISMISS: &str = "Dismiss for everyone";

pub fn dismiss(project: &str, job: &str) -> impl IntoView + use<> {
    form(project, job.to_owned(), "button", None)
}

/// As [`dismiss`], in a list.
pub fn dismiss_in_list(job: &Job) -> impl IntoView + use<> {
    form(job.project.as_str(), job.id.to_string(), "quiet", Some(&job.title()))
}

/// Dismisses several jobs of a batch.
pub fn dismiss_all(project: &str, jobs: &[&Job], batch: &str) -> impl IntoView + use<> {
    let ids: Vec<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
    form(project, ids.join(","), "quiet", Some(batch))
}

/// `what`: the title that the button's name has for screen readers after its words.
fn form(project: &str, jobs: String, class: &'static str, what: Option<&str>) -> impl IntoView + use<> {
    let name = what.map(|what| format!("{DISMISS}: {what}"));
    let button = view! {
        <button type="submit" class=class aria-label=name data-done="dismissed" data-undo=UndismissJobs::PATH>
            {DISMISS}
        </button>
    };
    post_form("dismiss", DismissJobs::PATH, which(project, jobs), button)
}

pub fn undismiss(project: &str, job: &str) -> impl IntoView + use<> {
    let button = view! {
        <button type="submit" class="button" data-done="no longer dismissed" data-undo=DismissJobs::PATH>
            "Undo dismissal"
        </button>
    };
    post_form("", UndismissJobs::PATH, which(project, job.to_owned()), button)
}

fn which(project: &str, jobs: String) -> Vec<(&'static str, String)> {
    vec![("project", project.to_owned()), ("jobs", jobs)]
}
