//! The filter of the list of jobs by their pull requests, and how many jobs have each value.

use crate::dialect::Dialect;
use model::pull_request::{PullRequestFilter, PullRequestState, WaitingFor};

/// The condition on a pull request, aliased `row`. SQLite uses a partial index only if the condition contains that of the index.
pub(crate) fn condition(filter: PullRequestFilter, row: &str) -> String {
    match filter {
        PullRequestFilter::Open
        | PullRequestFilter::Draft
        | PullRequestFilter::Merged
        | PullRequestFilter::Closed => format!("{row}.state = '{}'", filter.as_str()),
        PullRequestFilter::Waiting => {
            format!(
                "{row}.waiting_for <> 'nobody' AND {row}.waiting_for = '{}'",
                WaitingFor::Reviewer.as_str()
            )
        }
        PullRequestFilter::Conflict => format!("{row}.conflict = 1"),
    }
}

/// An expression for the number of jobs of the project `$1` by state, next person and conflict, without those archived in Docket: a list of
/// [`Counted`].
pub(crate) fn counts(dialect: Dialect) -> String {
    dialect.json_column(&dialect.json_rows(
        "c.state, c.waiting_for, c.conflict, c.jobs",
        "(SELECT p.state, p.waiting_for, p.conflict, COUNT(*) AS jobs FROM pull_requests p JOIN listed_jobs l ON l.number = p.number
          WHERE p.project = $1 AND l.archived = 0 GROUP BY p.state, p.waiting_for, p.conflict) c",
    ))
}

/// A number of jobs.
pub(crate) type Counted = (PullRequestState, WaitingFor, i64, u64);

/// The number of jobs of each filter; those without jobs are omitted.
pub(crate) fn by_filter(counted: &[Counted]) -> Vec<(PullRequestFilter, u64)> {
    let is_in = |filter, (state, waiting_for, conflict, _): &Counted| match filter {
        PullRequestFilter::Open => *state == PullRequestState::Open,
        PullRequestFilter::Draft => *state == PullRequestState::Draft,
        PullRequestFilter::Merged => *state == PullRequestState::Merged,
        PullRequestFilter::Closed => *state == PullRequestState::Closed,
        PullRequestFilter::Waiting => *waiting_for == WaitingFor::Reviewer,
        PullRequestFilter::Conflict => *conflict == 1,
    };
    let jobs = |filter| counted.iter().filter(|row| is_in(filter, row)).map(|(.., jobs)| jobs).sum();
    PullRequestFilter::ALL
        .map(|filter| (filter, jobs(filter)))
        .into_iter()
        .filter(|(_, jobs)| *jobs > 0)
        .collect()
}
