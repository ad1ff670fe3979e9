//! `/p/{project}/reviews`: the open pull requests, grouped by who acts next, the one that has waited longest first. Those merged in the last 7 days are
//! folded below.

use leptos::prelude::*;

use crate::ui::charts::number::{Cut, capitalized, counted_of};
use crate::ui::clock;
use crate::ui::components::empty::empty;
use crate::ui::components::localized::{number, written};
use crate::ui::components::pull_request::{checks_name, review_name, short_pull_request};
use crate::ui::components::time::{ago, lasting};
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::pull_requests::reviews;
use model::links;
use model::pull_request::{PullRequest, ReviewGroup, ReviewedJob, Reviews, WaitingFor};

#[component]
pub fn ReviewsPage() -> impl IntoView {
    let project = request::project();
    page(async move {
        let reviews = reviews(project.clone()).await?;
        let introduction = "Open pull requests of this project’s jobs, by who acts next.";
        Ok(view! {
            {page_head("Reviews", introduction, ())}
            <div data-region="reviews-list" data-every="30">{content(&project, &reviews)}</div>
        }
        .into_any())
    })
}

fn content(project: &str, reviews: &Reviews) -> AnyView {
    if !reviews.connected {
        let step = view! { <a class="button" href=links::help("pull-requests")>"How to connect GitHub or GitLab"</a> };
        return empty(
            "Docket is not connected to GitHub or GitLab",
            "With a read-only connection, this page shows which pull requests wait, and for whom.",
            step,
        )
        .into_any();
    }
    let groups = reviews.groups.iter().map(|group| view_of_group(project, group, reviews.stale_days));
    let none = reviews.groups.is_empty().then(|| {
        let step = view! { <a class="button" href=links::jobs(project)>"View jobs"</a> };
        empty(
            "No open pull requests",
            "When the agent opens a pull request, it is listed here until it is merged or closed.",
            step,
        )
    });
    view! { {none} {groups.collect_view()} {merged(project, reviews)} }.into_any()
}

fn view_of_group(project: &str, group: &ReviewGroup, stale_days: u32) -> AnyView {
    let (heading, hint) = heading(group.waiting_for);
    let is_stale = |job: &ReviewedJob| job.pull_request.is_stale(stale_days, clock::now());
    let rows = group.jobs.iter().map(|job| row(project, job, is_stale(job))).collect_view();
    let more = group.total.saturating_sub(group.jobs.len() as u64);
    let more = (more > 0)
        .then(|| view! { <p class="more faint">{number(more)} " more, which have waited less long"</p> });
    view! {
        <section class="group">
            <h2>{heading} " " <span class="count">{number(group.total)}</span></h2>
            <p class="review-hint">{hint}</p>
            <ul class="job-list reviews">{rows}</ul>
            {more}
        </section>
    }
    .into_any()
}

/// The heading of a group, and what has to be done.
const fn heading(waiting_for: WaitingFor) -> (&'static str, &'static str) {
    match waiting_for {
        WaitingFor::Reviewer => ("Waiting for a reviewer", "Review them on GitHub or GitLab."),
        WaitingFor::Author => (
            "Waiting for the author",
            "Drafts, conflicts, failing checks and requested changes. Send the agent a follow-up.",
        ),
        WaitingFor::Merge => ("Ready to merge", "Approved. Merge them on GitHub or GitLab."),
        WaitingFor::Checks => ("Waiting for checks", "Approved; the checks are running."),
        WaitingFor::Nobody => ("Finished", "Merged or closed."),
    }
}

/// A pull request, with what is known about it and how long it has waited.
pub(super) fn row(project: &str, reviewed: &ReviewedJob, is_stale: bool) -> AnyView {
    let request = &reviewed.pull_request;
    let stale = is_stale.then(|| view! { <span class="stale">"Stale"</span> });
    let waited = request
        .waiting_since
        .map(|since| view! { <span class="review-age">{stale} " " {lasting(since)}</span> });
    row_of(project, reviewed, facts(request), waited.into_any())
}

fn row_of(project: &str, reviewed: &ReviewedJob, facts: String, end: AnyView) -> AnyView {
    let request = &reviewed.pull_request;
    view! {
        <li class="review-row" data-key=reviewed.job.to_string()>
            {short_pull_request(Some(&request.url), Some(request.state), false, "pr-state")}
            <a class="row-target" dir="auto" href=links::job(project, reviewed.job.as_str())>{reviewed.title.clone()}</a>
            <span class="faint review-facts">{facts}</span>
            <span class="faint review-end">{end}</span>
        </li>
    }
    .into_any()
}

/// `Review required (mira) · Checks: passing · 3 files · Conflicts`.
fn facts(request: &PullRequest) -> String {
    let by = if request.reviewers.is_empty() {
        String::new()
    } else {
        format!(" ({})", request.reviewers.join(", "))
    };
    let files = match request.files_total {
        0 => None,
        1 => Some("1 file".to_owned()),
        total => Some(format!("{total} files")),
    };
    let conflict = request.conflict.then(|| "Conflicts".to_owned());
    let facts = [
        Some(format!("{}{by}", review_name(request.review))),
        Some(format!("Checks: {}", checks_name(request.checks).to_lowercase())),
        files,
        conflict,
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn merged(project: &str, Reviews { merged: jobs, merged_total, .. }: &Reviews) -> AnyView {
    if jobs.is_empty() {
        return ().into_any();
    }
    let rows = jobs.iter().map(|job| {
        let merged = job.pull_request.merged_at.map(|at| view! { "merged " {ago(at)} });
        row_of(project, job, format!("by {}", job.author), merged.into_any())
    });
    let count = counted_of(Cut::Newest, jobs.len(), *merged_total, "pull request", "pull requests");
    let count = capitalized(&count);
    view! {
        <details class="group merged-group" data-key="merged">
            <summary>
                {written(count)} " merged in the last 7 days"
            </summary>
            <ul class="job-list reviews">{rows.collect_view()}</ul>
        </details>
    }
    .into_any()
}
