//! SQL for the time that jobs take: from acceptance to their first result.

use super::states::reported_results;
use model::job::DeliveryState;

/// The columns `began` and `ended` of the job `j`.
pub(crate) fn began_and_ended() -> String {
    let (accepted, ends) = (DeliveryState::Accepted.as_str(), reported_results());
    format!(
        "(SELECT MIN(e.at) FROM job_events e
             WHERE e.job_id = j.id AND e.position = 0 AND e.state = '{accepted}') AS began,
         (SELECT MIN(e.at) FROM job_events e WHERE e.job_id = j.id AND e.state IN ({ends})) AS ended"
    )
}

/// The table `name`, for a `WITH` after the table `runs` with the columns `kind`, `began` and `ended`: the `median` time for each `kind`, in
/// milliseconds. A kind has no row if none of its runs has ended.
pub(crate) fn medians(runs: &str, name: &str) -> String {
    format!(
        "times_of_{name} AS (
             SELECT kind, ended - began AS took, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY ended - began) AS position,
                 COUNT(*) OVER (PARTITION BY kind) AS total
             FROM {runs} WHERE ended >= began
         ), {name} AS (
             SELECT kind, CAST(SUM(took) AS BIGINT) / COUNT(*) AS median FROM times_of_{name}
             WHERE position IN ((total + 1) / 2, (total + 2) / 2) GROUP BY kind
         )"
    )
}
