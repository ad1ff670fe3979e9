//! The facts of a job's pull request: who acts next, its checks, reviews, times and changed files.

use leptos::prelude::*;

use crate::ui::components::localized::number;
use crate::ui::components::pull_request::{checks_name, review_name, short_pull_request, waiting_name};
use crate::ui::components::time::{ago, lasting};
use crate::ui::pages::job::fact::fact;
use model::links;
use model::pull_request::files::PagesOfFiles;
use model::pull_request::{CheckFailure, PullRequest, PullRequestState, WaitingFor};
use model::time::Timestamp;

/// The class of a link with a state that is not in a row.
const LINK: &str = "pr-state";

/// Empty without a connection to the code host: the link is above.
pub(super) fn facts(project: &str, request: &PullRequest, pages: &PagesOfFiles) -> AnyView {
    if !request.tracked {
        return ().into_any();
    }
    let link = short_pull_request(Some(&request.url), Some(request.state), false, LINK).into_any();
    let state = match request.state {
        PullRequestState::Unknown => {
            let reason = request.failure.map_or("not checked yet", failure_text);
            view! { {link} <span class="faint">{reason}</span> }.into_any()
        }
        _ => link,
    };
    let is_known = request.checked_at.is_some();
    let known = |value: AnyView| is_known.then_some(value);
    let waiting = is_known && request.waiting_for != WaitingFor::Nobody;
    view! {
        {fact("Pull request", Some(state))}
        {fact("Waiting for", waiting.then(|| waiting_for(request)))}
        {fact("Checks", known(view! { <span>{checks_name(request.checks)}</span> }.into_any()))}
        {fact("Review", known(review(request)))}
        {fact("Opened", request.opened_at.map(|at| ago(at).into_any()))}
        {fact("Merged", request.merged_at.map(|at| ago(at).into_any()))}
        {fact("Closed", request.closed_at.filter(|_| request.merged_at.is_none()).map(|at| ago(at).into_any()))}
        {fact("Changed files", known(files(project, request, pages)).filter(|_| request.files_total > 0))}
        {fact("Last checked", request.checked_at.map(|at| checked(request, at)))}
    }
    .into_any()
}

fn waiting_for(request: &PullRequest) -> AnyView {
    let since = request.waiting_since.map(|since| view! { <span class="faint">{lasting(since)}</span> });
    let conflict = request.conflict.then_some("It has conflicts.");
    view! { <span>{waiting_name(request.waiting_for)}</span> {since} <span class="faint">{conflict}</span> }
        .into_any()
}

fn review(request: &PullRequest) -> AnyView {
    let by = (!request.reviewers.is_empty()).then(|| request.reviewers.join(", "));
    view! { <span>{review_name(request.review)}</span> <bdi class="faint">{by}</bdi> }.into_any()
}

/// The changed files, each with a link to the report of its page.
fn files(project: &str, request: &PullRequest, pages: &PagesOfFiles) -> AnyView {
    let file = |file: &String| match pages.page(file) {
        Some(page) => {
            let href = links::page_report(project, page);
            view! { <li><a href=href title="Page views" dir="auto">{file.clone()}</a></li> }.into_any()
        }
        None => view! { <li dir="auto">{file.clone()}</li> }.into_any(),
    };
    if request.files.is_empty() {
        return view! { <span>{number(u64::from(request.files_total))}</span> <span class="faint">"GitHub or GitLab did not list them."</span> }
            .into_any();
    }
    let more = u64::from(request.files_total).saturating_sub(request.files.len() as u64);
    let more = (more > 0).then(|| view! { <li class="faint">{number(more)} " more"</li> });
    view! { <ul class="changed-files">{request.files.iter().map(file).collect_view()} {more}</ul> }.into_any()
}

/// When the code host last reported it, and why it did not since.
fn checked(request: &PullRequest, at: Timestamp) -> AnyView {
    view! { {ago(at)} <span class="faint">{request.failure.map(failure_text)}</span> }.into_any()
}

const fn failure_text(failure: CheckFailure) -> &'static str {
    match failure {
        CheckFailure::Missing => "GitHub or GitLab does not know it, or the token has no access to it.",
        CheckFailure::Unusable => "The last check failed: GitHub or GitLab did not send a usable response.",
    }
}
