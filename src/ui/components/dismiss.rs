//! The button that dismisses, for everyone, a job that needs attention, and the one that undoes it.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::post_form;
use api::archive_and_tags::{DismissJobs, UndismissJobs};
use model::job::Job;

pub fn dismiss(project: &str, job: &str) -> impl IntoView + use<> {
    form(project, job.to_owned(), "button", ())
}

/// As [`dismiss`], in a list.
pub fn dismiss_in_list(job: &Job) -> impl IntoView + use<> {
    let name = view! { <span class="visually-hidden">": " {job.title()}</span> };
    form(job.project.as_str(), job.id.to_string(), "quiet", name)
}

/// Dismisses several jobs of a batch.
pub fn dismiss_all(project: &str, jobs: &[&Job], batch: &str) -> impl IntoView + use<> {
    let ids: Vec<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
    let name = view! { <span class="visually-hidden">": " {batch.to_owned()}</span> };
    form(project, ids.join(","), "quiet", name)
}

/// `of`: what the button's name says for screen readers after its words.
fn form<N: IntoView>(project: &str, jobs: String, class: &'static str, of: N) -> impl IntoView + use<N> {
    let button = view! {
        <button type="submit" class=class data-done="dismissed" data-undo=UndismissJobs::PATH>
            "Dismiss for everyone" {of.into_view()}
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
