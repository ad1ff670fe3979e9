//! The endpoint of open pull requests.

use axum::extract::Path;
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;

use super::errors::ReadErrors;
use super::job_body::PullRequestBody;
use crate::model::api_token::Scope;
use crate::model::pull_request::{ReviewedJob, WaitingFor};
use crate::model::time::Timestamp;
use crate::server::auth::bearer::TokenCaller;
use crate::server::http::problem::Problem;

/// Open pull requests, and those merged in the last 7 days.
#[derive(Serialize, ToSchema)]
pub(super) struct PullRequestList {
    /// By who acts next; at most 100 each, the one that has waited longest first.
    waiting: Vec<WaitingPullRequests>,
    /// At most 50, the last one first.
    merged: Vec<PullRequestOfJob>,
}

#[derive(Serialize, ToSchema)]
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
    /// The first line of the job's prompt.
    title: String,
    author: String,
    /// Since when it waits for the same person.
    waiting_since: Option<Timestamp>,
    pull_request: PullRequestBody,
}

/// The pull requests of a project's jobs. Empty without a connection to a code host.
#[utoipa::path(get, path = "/api/v1/projects/{project}/pull-requests", tag = "Pull requests", params(("project" = String, Path)),
    responses((status = OK, body = PullRequestList, description = "The pull requests."), ReadErrors))]
pub(super) async fn list_pull_requests(
    Extension(caller): Extension<TokenCaller>,
    Path(project): Path<String>,
) -> Result<Json<PullRequestList>, Problem> {
    caller.needs(Scope::JobsRead)?;
    let project = caller.project(&project)?;
    let state = &caller.caller().state;
    let connected = state.code_hosts.are_connected();
    let reviews = state.jobs.reviews(&project, state.settings().review_stale_days(), connected).await?;
    let waiting = reviews.groups.into_iter().map(|group| WaitingPullRequests {
        waiting_for: group.waiting_for,
        total: group.total,
        pull_requests: group.jobs.into_iter().map(Into::into).collect(),
    });
    Ok(Json(PullRequestList {
        waiting: waiting.collect(),
        merged: reviews.merged.into_iter().map(Into::into).collect(),
    }))
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
