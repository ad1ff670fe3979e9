//! What lists of jobs have: a page of the list, its filters and batches, the overview, and the notifications.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::api_token::ExpiringToken;
use crate::batch::Progress;
use crate::id::{BatchId, JobId};
use crate::job::{Job, JobState};
use crate::pull_request::{PullRequestFilter, ReviewedJob};
use crate::time::Timestamp;
use crate::upstream::PlatformNotice;

/// One page of the list of jobs, in the requested order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobPage {
    pub jobs: Vec<Job>,
    /// The `cursor` of the next page.
    pub next: Option<String>,
    /// The `cursor` of the previous page.
    pub previous: Option<String>,
    /// The number of jobs before this page.
    pub before: u64,
    /// The number of jobs on all pages, without those created after the first page was requested.
    pub total: u64,
    /// Jobs per state under the other filters, ignoring the state filter; states without jobs are omitted.
    pub counts: BTreeMap<JobState, u64>,
    /// How many of the counted jobs need attention.
    pub attention: u64,
    /// How many of the counted jobs were completed without changes.
    #[serde(default)]
    pub no_changes: u64,
    /// Grows with every change of the project's jobs.
    pub revision: i64,
    /// By the id of a job, an excerpt with the match of a search, where the beginning of its title has no match.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub excerpts: BTreeMap<String, String>,
    /// The batches with several jobs on this page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<BatchSummary>,
}

/// A page of the list, with the values to filter by, which no endpoint returns.
#[derive(Debug, Clone)]
pub struct FilteredJobs {
    pub page: JobPage,
    pub facets: Arc<Facets>,
    /// How many jobs match a search and are archived in Docket, if the page has none of them.
    pub archived_matches: u64,
}

/// The most frequent values of a filter, the most frequent first, and how many values there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FacetValues {
    pub first: Vec<(String, u64)>,
    pub total: u64,
}

/// The values of each filter of the list. Each has the number of its jobs that are not archived in
/// Docket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    pub people: FacetValues,
    pub pages: FacetValues,
    pub tags: FacetValues,
    pub with_pull_request: u64,
    pub without_pull_request: u64,
    /// By the values of the filter; those without jobs are omitted.
    pub pull_requests: Vec<(PullRequestFilter, u64)>,
    pub archived: u64,
}

/// A batch, where a list folds its jobs into one row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchSummary {
    pub id: BatchId,
    /// As [`Batch::name`](crate::batch::Batch::name).
    pub name: String,
    /// The jobs that a retry in the batch replaces. `progress` does not count them.
    pub retried: u64,
    pub progress: Progress,
}

/// The jobs section of a project's overview.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobsOverview {
    /// Jobs that ended or need attention since this person last opened the notifications, the last change first.
    #[serde(default)]
    pub new: Vec<Job>,
    /// The newest active jobs.
    pub running: Vec<Job>,
    /// The usual times of these, as [`Job::usual_millis`].
    pub usual_times: Arc<BTreeMap<JobId, i64>>,
    /// This person's jobs that need attention, newest first.
    pub needing: Vec<Job>,
    /// Those of others.
    #[serde(default)]
    pub needing_of_others: Vec<Job>,
    /// Open pull requests that have waited too long, the one that has waited longest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<ReviewedJob>,
    /// Finished jobs with a pull request, last changed first.
    pub finished: Vec<Job>,
    /// The batches with several jobs in one of these lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<BatchSummary>,
    /// Jobs per state that are not archived in Docket; states without jobs are omitted.
    pub counts: BTreeMap<JobState, u64>,
    /// How many of the counted jobs need attention.
    pub attention: u64,
    /// How many of these were only completed without changes.
    pub no_changes: u64,
    /// Grows with every change of the project's jobs.
    pub revision: i64,
}

/// The last jobs whose state cannot change without a person, the last change first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notifications {
    /// The jobs that this person had not seen.
    pub new: Vec<Job>,
    pub earlier: Vec<Job>,
    /// How many older jobs were not seen either.
    pub older: u32,
    /// How many jobs were examined, by their last change: `new`, `earlier`, and those that are still running.
    #[serde(default)]
    pub examined: u64,
    /// How many jobs there are.
    #[serde(default)]
    pub total: u64,
    /// This person's API tokens that expire soon, the next one first.
    pub tokens: Vec<ExpiringToken>,
    /// What administrators are told about the platform; empty for others.
    #[serde(default)]
    pub platform: Vec<PlatformNotice>,
    /// When this person last opened the notifications before.
    pub looked_at: Option<Timestamp>,
}
