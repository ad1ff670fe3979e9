//! The endpoint of open pull requests.

use std::sync::Arc;

use axum::Extension;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::errors::SearchErrors;
use super::job_body::PullRequestBody;
use super::long_list::{LongBody, written};
use crate::auth::bearer::TokenCaller;
use crate::request::problem::Problem;
use model::api_token::Scope;
use model::error::AppError;
use model::pull_request::{ReviewedJob, Reviews, WaitingFor};
use model::time::Timestamp;

/// Open pull requests, and those merged in the last 7 days.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes responses")]
pub(super) struct PullRequestList {
    /// By who acts next; at most 100 each, the one that has waited longest first.
    waiting: Vec<WaitingPullRequests>,
    /// At most 50, the last one first.
    merged: Vec<PullRequestOfJob>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "describes responses")]
struct WaitingPullRequests {
    #[schema(inline)]
    waiting_for: WaitingFor,
    /// How many there are.
    total: u64,
    pull_requests: Vec<PullRequestOfJob>,
}

#[derive(Serialize, ToSchema)]
struct PullRequestOfJob {
    /// The id of its job.
    job: String,
    /// The text of the first line of the job's prompt, without the marks of Markdown.
    title: String,
    author: String,
    /// Since when it waits for the same person.
    waiting_since: Option<Timestamp>,
    pull_request: PullRequestBody,
}

/// The pull requests of a project's jobs. Empty without a connection to a code host.
#[utoipa::path(get, path = "/api/v1/projects/{project}/pull-requests", tag = "Pull requests", security(("token" = ["jobs:read"])), params(("project" = String, Path)),
    responses((status = OK, body = PullRequestList, description = "The pull requests."), SearchErrors))]
pub(super) async fn list_pull_requests(
    Extension(caller): Extension<TokenCaller>,
    Path(project): Path<String>,
) -> Result<Response, Problem> {
    caller.needs(Scope::JobsRead)?;
    let project = caller.project(&project)?;
    let state = &caller.state();
    let permit = Arc::new(caller.caller().query_permit().await?);
    let connected = state.code_hosts.are_connected();
    let reviews = state.jobs.reviews(&project, state.settings().review_stale_days(), connected).await?;
    LongBody::of(pieces(reviews)).under(permit).respond(StatusCode::OK, &caller).await
}

/// The JSON of a [`PullRequestList`]: each pull request is written when it is sent.
fn pieces(reviews: Reviews) -> impl Iterator<Item = Result<Vec<u8>, AppError>> {
    let text = |text: String| std::iter::once(Ok::<_, AppError>(text.into_bytes()));
    let groups = reviews.groups.into_iter().enumerate().flat_map(move |(index, group)| {
        let comma = if index == 0 { "" } else { "," };
        let (waiting_for, total) = (group.waiting_for.as_str(), group.total);
        let start = format!(r#"{comma}{{"waiting_for":"{waiting_for}","total":{total},"pull_requests":["#);
        text(start).chain(list(group.jobs)).chain(text("]}".to_owned()))
    });
    text(r#"{"waiting":["#.to_owned())
        .chain(groups)
        .chain(text(r#"],"merged":["#.to_owned()))
        .chain(list(reviews.merged))
        .chain(text("]}".to_owned()))
}

/// The items of a list.
fn list(jobs: Vec<ReviewedJob>) -> impl Iterator<Item = Result<Vec<u8>, AppError>> {
    jobs.into_iter().enumerate().map(|(index, job)| {
        let mut piece = if index == 0 { Vec::new() } else { b",".to_vec() };
        piece.extend(written(&PullRequestOfJob::from(job))?);
        Ok(piece)
    })
}

impl From<ReviewedJob> for PullRequestOfJob {
    fn from(ReviewedJob { job, title, author, pull_request }: ReviewedJob) -> Self {
        Self {
            job: job.to_string(),
            title,
            author,
            waiting_since: pull_request.waiting_since,
            pull_request: pull_request.into(),
        }
    }
}
